"""A function's inputs: made once by the project's own `make`, saved, loaded afresh before each call."""

from __future__ import annotations

import ast
import importlib.util
import os
import pickle
import sys

from .calls import set_path
from .program import NotRun, fresh_main, put_first_on_path


def make_all(root: str, workload: dict, inputs_dir: str | None, sets: int) -> None:
    """Makes and saves the sets `make(seed, scale)`, `make(seed + 1, scale)`, …."""
    if inputs_dir is None:
        raise NotRun("the job names no folder for inputs")
    make = find_make(root, workload["inputs"])
    scale = scale_value(workload["scale"])
    for number in range(sets):
        made = make(workload["seed"] + number, scale)
        if not _is_call(made):
            raise NotRun(f"{workload['inputs']} must return (args, kwargs), a tuple and a dict")
        args, kwargs = made
        save(inputs_dir, number, (tuple(args), kwargs))


def _is_call(made: object) -> bool:
    return (
        isinstance(made, tuple)
        and len(made) == 2
        and isinstance(made[0], (tuple, list))
        and isinstance(made[1], dict)
        and all(isinstance(key, str) for key in made[1])
    )


def scale_value(text: object) -> object:
    """A scale as Python means it: `10` is a number, `"large"` and `large` are text."""
    if not isinstance(text, str):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def find_make(root: str, target: str):
    """Loads `file.py:make` from the project."""
    path, _, name = target.rpartition(":")
    file = os.path.join(root, path)
    if not path or not os.path.isfile(file):
        raise NotRun(f"{target} does not name inputs as file.py:function")
    sys.argv[:] = [file]
    put_first_on_path(os.path.dirname(os.path.realpath(file)))
    put_first_on_path(root)
    fresh_main(None)
    stem = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(stem, file)
    if spec is None or spec.loader is None:
        raise NotRun(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    spec.loader.exec_module(module)
    make = getattr(module, name, None)
    if not callable(make):
        raise NotRun(f"{path} has no function {name}")
    return make


class _Pickler(pickle.Pickler):
    """Keeps NumPy arrays out of the pickle, in `.npy` files, which every NumPy reads."""

    def __init__(self, stream, folder: str) -> None:
        super().__init__(stream, protocol=4)
        self._folder = folder
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []

    def persistent_id(self, obj: object) -> int | None:
        numpy = sys.modules.get("numpy")
        if numpy is None or type(obj) is not numpy.ndarray or obj.dtype.hasobject:
            return None
        number = self._numbers.get(id(obj))
        if number is None:
            number = self._numbers[id(obj)] = len(self._kept)
            self._kept.append(obj)
            numpy.save(os.path.join(self._folder, f"{number:05}.npy"), obj, allow_pickle=False)
        return number


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` wrote: an array that was passed twice is one array again."""

    def __init__(self, stream, folder: str) -> None:
        super().__init__(stream)
        self._folder = folder
        self._arrays: dict[int, object] = {}

    def persistent_load(self, pid: int) -> object:
        if pid not in self._arrays:
            import numpy

            file = os.path.join(self._folder, f"{int(pid):05}.npy")
            self._arrays[pid] = numpy.load(file, allow_pickle=False)
        return self._arrays[pid]


def save(inputs_dir: str, number: int, call: tuple) -> None:
    """Saves one set. What can't be saved is refused by name."""
    path = set_path(inputs_dir, number)
    folder = path.removesuffix(".pkl") + ".arrays"
    os.makedirs(folder, exist_ok=True)
    try:
        with open(path, "wb") as stream:
            _Pickler(stream, folder).dump(call)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise NotRun(f"the inputs can't be saved: {error}") from error


def load(inputs_dir: str, number: int) -> tuple[tuple, dict]:
    """Loads one set into fresh memory."""
    path = set_path(inputs_dir, number)
    folder = path.removesuffix(".pkl") + ".arrays"
    try:
        with open(path, "rb") as stream:
            args, kwargs = _Unpickler(stream, folder).load()
    except (OSError, ValueError, pickle.UnpicklingError, ImportError, AttributeError, EOFError) as error:
        raise NotRun(f"the saved inputs can't be loaded: {type(error).__name__}: {error}") from error
    return _accelerated(args), _accelerated(kwargs)


def _accelerated(value):
    """Frames as the accelerator's own kind where the program switched it on: a pickle holds plain pandas."""
    accelerator = sys.modules.get("cudf.pandas")
    wrap = getattr(accelerator, "as_proxy_object", None)
    if wrap is None or not getattr(accelerator, "LOADED", False):
        return value
    if type(value) in (list, tuple):
        return type(value)(_accelerated(item) for item in value)
    if type(value) is dict:
        return {key: _accelerated(item) for key, item in value.items()}
    if type(value).__module__.startswith("pandas."):
        try:
            return wrap(value)
        except Exception:  # a kind the accelerator doesn't know stays as pandas made it
            return value
    return value

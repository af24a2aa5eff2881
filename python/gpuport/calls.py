"""Calls of a function workload: fresh inputs, marks around each call, results kept as they were right after it."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass

from .marks import Marks, synchronize
from .program import NotRun, find_function

# A generator is run to its end inside the call: its work is the function's work. Nobody returns more than this.
YIELDED_LIMIT = 1_000_000


@dataclass
class Results:
    """What the calls left behind."""

    # Holds what was captured after each call, because a later call may overwrite an earlier one's buffers.
    capture: object | None = None


def prepare(job, marks: Marks, results: Results, outcome) -> Callable[[], None]:
    """What imports the function and calls it as often as the job says."""
    from . import inputs

    if job.inputs_dir is None:
        raise NotRun("a function workload needs inputs")
    capturing = job.capture_dir is not None and job.mode in ("capture", "time")

    def start() -> None:
        if capturing:
            from .capture import Capture

            results.capture = Capture(job.capture_dir, job.root)
        function = find_function(job.root, job.workload["target"])
        for index in range(job.warmup + job.runs):
            chosen = index % max(job.input_sets, 1)
            args, kwargs = inputs.load(job.inputs_dir, chosen)
            number = index - job.warmup if index >= job.warmup else None
            _call(job, marks, function, (args, kwargs), number, (index, chosen), results.capture)

    return start


def _call(job, marks, function, inputs, number, place, capture) -> None:
    """One call; `number` counts the marked ones. Whatever is asked of the device is done before a mark is made."""
    args, kwargs = inputs
    on_device = job.arrays == "device"
    synchronize()
    if number is not None:
        marks.mark("call-begin", number)
    if on_device:
        args, kwargs = to_device(args), to_device(kwargs)
    try:
        returned = function(*args, **kwargs)
        if isinstance(returned, types.GeneratorType):
            returned = Yielded(take(returned))
        wait_for(returned)
        if on_device:
            returned = to_host(returned)
            if returned is None:
                # A function that returns nothing leaves its results in its arguments.
                args, kwargs = to_host(args), to_host(kwargs)
    finally:
        synchronize()
        if number is not None:
            marks.mark("call-end", number)
    if capture is not None:
        capture.call(place, returned, args, kwargs)


class Yielded(list):
    """What a generator yielded."""


def take(generator) -> list:
    """The generator's values, up to the limit."""
    values = []
    for value in generator:
        values.append(value)
        if len(values) >= YIELDED_LIMIT:
            break
    return values


def wait_for(returned: object) -> None:
    """Waits for results that a library computes behind the program's back, on a CPU too."""
    jax = sys.modules.get("jax")
    wait = getattr(jax, "block_until_ready", None)
    if wait is not None:
        wait(returned)


def to_device(value):
    """The value with its NumPy arrays on the device."""
    cupy, numpy = sys.modules.get("cupy"), sys.modules.get("numpy")
    if cupy is None or numpy is None:
        return value
    return _mapped(value, lambda array: cupy.asarray(array) if _numeric(array, numpy) else array)


def _numeric(array, numpy) -> bool:
    return isinstance(array, numpy.ndarray) and array.dtype.kind in "biufc"


def to_host(value):
    """The value with its CuPy arrays as NumPy arrays."""
    cupy = sys.modules.get("cupy")
    if cupy is None:
        return value
    return _mapped(value, lambda array: cupy.asnumpy(array) if isinstance(array, cupy.ndarray) else array)


def _mapped(value, change: Callable):
    """The value with `change` done to what is no plain container."""
    if type(value) in (list, tuple, Yielded):
        return type(value)(_mapped(item, change) for item in value)
    if type(value) is dict:
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(item, change) for item in value))
    return change(value)


def set_path(inputs_dir: str, number: int) -> str:
    """Where an input set is kept."""
    return os.path.join(inputs_dir, f"set-{number:03}.pkl")

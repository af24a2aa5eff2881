"""Running a script, a module or a function as the interpreter itself would."""

from __future__ import annotations

import builtins
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field


class NotRun(Exception):
    """The workload can't be run at all; says why."""


@dataclass
class Ending:
    """How a program ended."""

    end: str = "returned"
    status: int = 0
    exception: BaseException | None = None
    signal: int | None = None
    # Names and values of the main module, or nothing for a function.
    namespace: dict[str, object] = field(default_factory=dict)


def fresh_main(file: str | None) -> types.ModuleType:
    """A new `__main__` with what the interpreter gives one."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    if file is not None:
        module.__file__ = file
        module.__cached__ = None
    # The worker's own main module stays alive: its functions are still running.
    main.keep = sys.modules["__main__"]  # type: ignore[attr-defined]
    sys.modules["__main__"] = module
    return module


def put_first_on_path(folder: str) -> None:
    """Does to `sys.path` what the interpreter does for the program's folder."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)


def prepare_script(root: str, path: str, arguments: list[str]) -> Callable[[], types.ModuleType]:
    """What runs `python PATH ARGUMENTS…`."""
    from importlib.machinery import SourceFileLoader

    file = os.path.join(root, path)
    try:
        with open(file, "rb") as stream:
            source = stream.read()
    except OSError as error:
        raise NotRun(f"cannot read {path}: {error.strerror}") from error
    sys.argv[:] = [path, *arguments]
    put_first_on_path(os.path.dirname(os.path.realpath(file)))

    def start() -> types.ModuleType:
        module = fresh_main(file)
        module.__loader__ = SourceFileLoader("__main__", file)
        code = compile(source, file, "exec", dont_inherit=True)
        main(code, module)
        return module

    return start


def prepare_module(root: str, name: str, arguments: list[str]) -> Callable[[], types.ModuleType]:
    """What runs `python -m NAME ARGUMENTS…`."""
    import importlib.util

    sys.argv[:] = ["-m", *arguments]
    put_first_on_path(root)

    def start() -> types.ModuleType:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(name + ".__main__")
        if spec is None or spec.loader is None or not hasattr(spec.loader, "get_code"):
            raise NotRun(f"no module {name} to run")
        code = spec.loader.get_code(spec.name)
        if code is None:
            raise NotRun(f"{name} has no code to run")
        sys.argv[0] = spec.origin or name
        module = fresh_main(spec.origin)
        module.__spec__ = spec
        module.__package__ = spec.parent
        module.__loader__ = spec.loader
        module.__cached__ = spec.cached
        main(code, module)
        return module

    return start


def main(code: types.CodeType, module: types.ModuleType) -> None:
    """Executes the program. A frame of its own, so that tracebacks can be cut here."""
    exec(code, module.__dict__)


def find_function(root: str, target: str) -> Callable[..., object]:
    """Imports `package.module:function` from the project."""
    import importlib

    name, _, qualified = target.partition(":")
    if not name or not qualified:
        raise NotRun(f"{target} does not name a function as package.module:function")
    sys.argv[:] = [""]
    put_first_on_path(root)
    fresh_main(None)
    found: object = importlib.import_module(name)
    for part in qualified.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise NotRun(f"{name} has no {qualified}") from None
    if not callable(found):
        raise NotRun(f"{target} is not callable")
    return found


def run(start: Callable[[], types.ModuleType | None]) -> Ending:
    """Runs a program to its end, whatever the end is, and shows an exception as the interpreter would."""
    ending = Ending()
    try:
        module = start()
        if module is not None:
            ending.namespace = module.__dict__
    except NotRun as error:
        return Ending(end="not-run", status=1, exception=error)
    except SystemExit as error:
        ending.end, ending.exception = "exited", error
        ending.status = exit_status(error)
    except BaseException as error:
        ending.end, ending.exception, ending.status = "raised", error, 1
        if isinstance(error, KeyboardInterrupt):
            import signal

            ending.signal = signal.SIGINT
        show(error)
    current = sys.modules.get("__main__")
    if not ending.namespace and current is not getattr(main, "keep", current):
        ending.namespace = getattr(current, "__dict__", {})
    join_threads()
    return ending


def exit_status(error: SystemExit) -> int:
    """The status that the interpreter makes of a `SystemExit`; another value than a number goes to stderr."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        print(code, file=sys.stderr)
    except (OSError, ValueError):
        pass
    return 1


def show(error: BaseException) -> None:
    """Prints the exception by the program's own hook, without the worker's frames."""
    error.__traceback__ = own_traceback(error.__traceback__)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException:  # a hook of the program's that fails must not take the outcome along
        sys.__excepthook__(type(error), error, error.__traceback__)


def own_traceback(traceback):
    """The traceback from the program's first frame on."""
    folder = os.path.dirname(os.path.abspath(__file__)) + os.sep
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(folder):
        traceback = traceback.tb_next
    return traceback


def join_threads() -> None:
    """Waits for the program's threads, which the interpreter does as its first step of shutting down."""
    threading = sys.modules.get("threading")
    if threading is None:
        return
    busy = any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    if not busy:
        return
    shutdown = getattr(threading, "_shutdown", None)
    try:
        if shutdown is not None:
            shutdown()
    except BaseException as error:
        show(error)

"""What the worker reports at the end: the outcome file."""

from __future__ import annotations

import json
import os
import sys

# Top-level modules whose versions are told where they are loaded, beside the job's own libraries.
REPORTED = (
    "numpy",
    "scipy",
    "pandas",
    "sklearn",
    "networkx",
    "skimage",
    "pyarrow",
    "numba",
    "cupy",
    "cudf",
    "cuml",
    "torch",
    "jax",
    "tensorflow",
)
# What decides how many threads the numeric libraries use, most specific first.
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


class Outcome:
    """Collects what is to be told; written once, whole."""

    def __init__(self, job) -> None:
        self._job = job
        self.notes: list[str] = []
        self.not_compared: list[dict[str, str]] = []
        self.activity: dict | None = None
        self.accelerators: dict[str, dict[str, dict]] = {}
        self.device: str | None = None
        self.covered: list[dict] = []

    def write(self, ending) -> None:
        """Writes the file beside its place and renames it, so that half a file is never read."""
        data = {
            "schema": "gpuport/outcome/1",
            "end": ending.end,
            "exception": raised(ending.exception, self._job.root) if ending.end != "exited" else None,
            "modules": loaded_modules(self._job.root, self._job.changed_files),
            "versions": versions(self._job.libraries),
            "threads": threads(),
            "activity": self.activity,
            "accelerators": self.accelerators,
            "device": self.device,
            "covered": self.covered,
            "not_compared": self.not_compared,
            "notes": self.notes,
        }
        text = json.dumps(data, ensure_ascii=True, allow_nan=False, default=str)
        temporary = self._job.outcome_path + ".part"
        try:
            with open(temporary, "w", encoding="ascii") as stream:
                stream.write(text)
            os.replace(temporary, self._job.outcome_path)
        except OSError as error:
            # Without an outcome the judge knows that the run can't be used; the reason goes where people look.
            os.write(2, f"gpuport: cannot write the outcome: {error}\n".encode())


def qualified(cls: type) -> str:
    """A type's qualified name."""
    return f"{cls.__module__}.{cls.__qualname__}"


def raised(error: BaseException | None, root: str) -> dict | None:
    """An exception as plain data. Its text is asked for with care: it may be the program's own code."""
    if error is None:
        return None
    try:
        message = str(error)
    except Exception:
        message = "(the exception's text could not be made)"
    module = error.name if isinstance(error, ImportError) and isinstance(error.name, str) else None
    return {
        "type_name": qualified(type(error)),
        "bases": [qualified(base) for base in type(error).__mro__[1:-1]],
        "message": clean(message[:4000]),
        "module": module,
        "place": innermost_place(error, root),
    }


def clean(text: str) -> str:
    """The text without lone surrogates, which no UTF-8 file can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def innermost_place(error: BaseException, root: str) -> list | None:
    """The innermost line of the traceback that is inside the project."""
    real_root = os.path.realpath(root) + os.sep
    place = None
    traceback = error.__traceback__
    while traceback is not None:
        file = os.path.realpath(traceback.tb_frame.f_code.co_filename)
        if file.startswith(real_root) and traceback.tb_lineno is not None:
            place = [file[len(real_root) :], traceback.tb_lineno]
        traceback = traceback.tb_next
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and error.lineno:
        file = os.path.realpath(error.filename)
        if file.startswith(real_root):
            place = [file[len(real_root) :], error.lineno]
    return place


def loaded_modules(root: str, changed_files: list[dict]) -> list[dict]:
    """For each changed file, the module that a program sees under its name, and the file it really came from."""
    by_file: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            real = os.path.realpath(file)
            by_name[name] = real
            by_file.setdefault(real, name)
    found = []
    for changed in changed_files:
        path = changed["path"]
        real = os.path.realpath(os.path.join(root, path))
        name = by_file.get(real) or next((n for n in dotted_names(path) if n in by_name), None)
        if name is not None:
            found.append({"path": path, "name": name, "file": by_name[name]})
    return found


def dotted_names(path: str) -> list[str]:
    """The names a file may be imported by, longest first: `src/pkg/mod.py` is `src.pkg.mod`, `pkg.mod`, `mod`."""
    parts = path.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    return [".".join(parts[start:]) for start in range(len(parts))]


def versions(libraries: list[str]) -> dict[str, str]:
    """Versions of Python and of the libraries that are loaded."""
    found = {"python": ".".join(str(part) for part in sys.version_info[:3])}
    for name in (*REPORTED, *libraries):
        top = name.partition(".")[0]
        version = getattr(sys.modules.get(top), "__version__", None)
        if isinstance(version, str):
            found[top] = version
    return found


def threads() -> int | None:
    """The threads that numeric libraries may use: what the environment says, else the processors of this process."""
    for variable in THREAD_VARIABLES:
        value = os.environ.get(variable, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count()

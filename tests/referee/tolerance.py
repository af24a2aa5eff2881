"""How far results may be apart: defaults by precision, and what a TOML file says of one program."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pip carries the library that became tomllib
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

# Sums in another order differ by some units in the last place for each doubling of the length; iterations
# carry that on. These leave room for it and none for arithmetic in the next lower precision.
DEFAULT_RTOL = {"float64": 1e-7, "float32": 1e-4, "float16": 1e-2}
COMPARISONS = ("values", "bytes", "exists", "image-size", "ignore")


class ToleranceError(Exception):
    """The tolerance file has something that isn't understood."""


@dataclass(frozen=True)
class Tolerance:
    """How one output is compared."""

    rtol: float | None = None
    """Relative to the original's element; None: by precision."""
    atol: float = 0.0
    """Absolute, beside what the array's own scale allows."""
    integer_rtol: float = 0.0
    """For whole numbers; 0: exactly."""
    compare: str = "values"
    """One of COMPARISONS."""
    dtype: str | None = None
    """Element type of a raw binary file."""
    dtypes: bool = True
    """Whether element types must be equal."""
    sort_by: tuple[str, ...] = ()
    """Columns of a table whose order of rows is free."""
    ignore: tuple[str, ...] = ()
    """Regular expressions of text lines that are left out."""
    lines: tuple[tuple[str, Tolerance], ...] = ()
    """For text lines of the original that a regular expression fits."""

    def for_line(self, line: str) -> Tolerance:
        """The first expression that fits the line decides."""
        return next((tolerance for pattern, tolerance in self.lines if re.search(pattern, line)), self)

    def rtol_for(self, precision: str) -> float:
        """The relative tolerance for an element type such as float32 or complex64."""
        if self.rtol is not None:
            return self.rtol
        real = {"complex128": "float64", "complex64": "float32", "longdouble": "float64"}.get(precision, precision)
        return DEFAULT_RTOL.get(real, DEFAULT_RTOL["float64"])


@dataclass(frozen=True)
class Tolerances:
    """Tolerances of a whole program: for standard output, and for files by name."""

    stdout: Tolerance = field(default_factory=Tolerance)
    files: tuple[tuple[str, Tolerance], ...] = ()
    rest: Tolerance = field(default_factory=Tolerance)

    def for_file(self, path: str) -> Tolerance:
        """The first pattern that fits the path decides."""
        return next((tolerance for pattern, tolerance in self.files if fnmatch.fnmatch(path, pattern)), self.rest)


def read(path: Path, item: str) -> Tolerances:
    """What the file says of the item; defaults where it says nothing."""
    with open(path, "rb") as file:
        try:
            table = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise ToleranceError(f"{path}: {error}") from error
    if item not in table:
        return Tolerances()
    return parse(table[item], f"{path}: {item}")


def parse(table: dict[str, Any], where: str) -> Tolerances:
    """`stdout`, `files` by pattern, and keys of a tolerance for all that isn't named."""
    own = {key: value for key, value in table.items() if key not in ("stdout", "files")}
    rest = _tolerance(own, Tolerance(), where)
    stdout = _tolerance(table.get("stdout", {}), rest, f"{where}.stdout")
    files = tuple(
        (pattern, _tolerance(value, rest, f"{where}.files.{pattern}"))
        for pattern, value in table.get("files", {}).items()
    )
    return Tolerances(stdout, files, rest)


def _tolerance(table: dict[str, Any], base: Tolerance, where: str) -> Tolerance:
    known = {entry.name for entry in fields(Tolerance)}
    values = {key.replace("-", "_"): value for key, value in table.items()}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ToleranceError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    if values.get("compare", "values") not in COMPARISONS:
        raise ToleranceError(f"{where}: compare is one of {', '.join(COMPARISONS)}")
    for key in ("ignore", "sort_by"):
        if key in values:
            values[key] = tuple(values[key])
    lines = values.pop("lines", {})
    tolerance = replace(base, **values)
    parsed = tuple(
        (pattern, _tolerance(value, tolerance, f"{where}.lines.{pattern}")) for pattern, value in lines.items()
    )
    return replace(tolerance, lines=parsed or base.lines)

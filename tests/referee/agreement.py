"""Whether two results agree, by NumPy's and pandas' own testing functions."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
from tolerance import Tolerance

TABLE_SUFFIXES = {".parquet", ".feather"}
# Elements that a sum left near zero carry the rounding of its terms: a share of the tolerance, at the array's scale.
SCALE_FLOOR = 0.01
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\b(?:nan|inf)\b", re.IGNORECASE)
WHOLE = re.compile(r"[-+]?\d+\Z")


class Undecided(Exception):
    """The two can't be compared."""


def arrays(before: np.ndarray, after: np.ndarray, tolerance: Tolerance) -> None:
    """Same type and shape; whole numbers, text and truth values equal; floats close. Raises AssertionError."""
    before, after = np.asarray(before), np.asarray(after)
    if tolerance.dtypes:
        np.testing.assert_equal(str(after.dtype), str(before.dtype), "element type")
    np.testing.assert_equal(after.shape, before.shape, "shape")
    if before.dtype.names:
        for name in before.dtype.names:
            arrays(before[name], after[name], tolerance)
    elif before.dtype.kind in "fc":
        rtol = tolerance.rtol_for(before.dtype.name)
        atol = max(tolerance.atol, SCALE_FLOOR * rtol * _scale(before))
        np.testing.assert_allclose(after, before, rtol=rtol, atol=atol, equal_nan=True)
    elif before.dtype.kind in "iu" and tolerance.integer_rtol > 0.0:
        np.testing.assert_allclose(after, before, rtol=tolerance.integer_rtol, atol=0.0)
    else:
        np.testing.assert_array_equal(after, before)


def _scale(array: np.ndarray) -> float:
    magnitude = np.abs(array[np.isfinite(array)])
    return float(magnitude.max()) if magnitude.size else 0.0


def text(before: str, after: str, tolerance: Tolerance) -> None:
    """Words equal, whole numbers equal, other numbers close; spaces don't count. Raises AssertionError."""
    before, after = (_without(value, tolerance.ignore) for value in (before, after))
    words = [["".join(part.split()) for part in NUMBER.split(value)] for value in (before, after)]
    old = [(number, tolerance.for_line(line)) for line in before.splitlines() for number in NUMBER.findall(line)]
    new = NUMBER.findall(after)
    if words[0] != words[1]:
        np.testing.assert_equal(_first_difference(after, before), "", "text")
        np.testing.assert_equal(words[1], words[0], "text")
    for count, ((number, of_line), other) in enumerate(zip(old, new, strict=True), start=1):
        _number(number, other, of_line, f"number {count} of the text")


def _number(old: str, new: str, tolerance: Tolerance, where: str) -> None:
    old_whole, new_whole = WHOLE.match(old) is not None, WHOLE.match(new) is not None
    np.testing.assert_equal(new_whole, old_whole, f"{where}: {old} became {new}")
    if old_whole and tolerance.integer_rtol == 0.0:
        np.testing.assert_equal(int(new), int(old), where)
        return
    rtol = tolerance.integer_rtol if old_whole else tolerance.rtol_for("float64")
    atol = max(tolerance.atol, 0.0 if old_whole else _last_place(old))
    np.testing.assert_allclose(float(new), float(old), rtol=rtol, atol=atol, err_msg=where)


def _last_place(number: str) -> float:
    """One unit of the last printed digit: equal values may be rounded to either side."""
    mantissa, _, exponent = number.lower().partition("e")
    if not mantissa[-1].isdigit() and not mantissa.endswith("."):
        return 0.0
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) * (1.0 + 1e-9)


def _without(value: str, patterns: tuple[str, ...]) -> str:
    lines = value.splitlines()
    return "\n".join(line for line in lines if not any(re.search(pattern, line) for pattern in patterns))


def _first_difference(after: str, before: str) -> str:
    new, old = after.splitlines(), before.splitlines()
    for number in range(max(len(new), len(old))):
        pair = [lines[number] if number < len(lines) else "(no line)" for lines in (old, new)]
        shapes = ["".join(NUMBER.sub("#", line).split()) for line in pair]
        if shapes[0] != shapes[1]:
            return f"line {number + 1}: {pair[0]!r} became {pair[1]!r}"
    return ""


def data(before: Any, after: Any, tolerance: Tolerance, where: str = "$") -> None:
    """JSON values: same keys and types, numbers as in text but with all their digits. Raises AssertionError."""
    np.testing.assert_equal(type(after).__name__, type(before).__name__, where)
    if isinstance(before, dict):
        np.testing.assert_equal(sorted(after), sorted(before), f"{where}: keys")
        for key in before:
            data(before[key], after[key], tolerance, f"{where}.{key}")
    elif isinstance(before, list) and before and all(isinstance(value, float) for value in before + after):
        arrays(np.array(before), np.array(after), tolerance)
    elif isinstance(before, list):
        np.testing.assert_equal(len(after), len(before), f"{where}: length")
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            data(old, new, tolerance, f"{where}[{number}]")
    elif isinstance(before, float):
        rtol = tolerance.rtol_for("float64")
        np.testing.assert_allclose(after, before, rtol=rtol, atol=tolerance.atol, err_msg=where)
    elif isinstance(before, int) and not isinstance(before, bool) and tolerance.integer_rtol > 0.0:
        np.testing.assert_allclose(after, before, rtol=tolerance.integer_rtol, err_msg=where)
    else:
        np.testing.assert_equal(after, before, where)


def tables(before: Path, after: Path, tolerance: Tolerance) -> None:
    """Data frames in Parquet or Feather files. Raises AssertionError."""
    import pandas as pd

    read = pd.read_parquet if before.suffix == ".parquet" else pd.read_feather
    frames = [read(path) for path in (before, after)]
    if tolerance.sort_by:
        frames = [frame.sort_values(list(tolerance.sort_by)).reset_index(drop=True) for frame in frames]
    pd.testing.assert_frame_equal(
        frames[1],
        frames[0],
        check_dtype=tolerance.dtypes,
        check_exact=False,
        rtol=tolerance.rtol_for("float64"),
        atol=tolerance.atol,
    )
    # With a tolerance given, pandas applies it to whole numbers and row labels as well.
    exact = [name for name in frames[0].columns if pd.api.types.is_integer_dtype(frames[0][name])]
    if tolerance.integer_rtol == 0.0:
        pd.testing.assert_frame_equal(
            frames[1][exact], frames[0][exact], check_dtype=tolerance.dtypes, check_exact=True
        )


def files(before: Path, after: Path, tolerance: Tolerance) -> None:
    """Two files, by what their name says they hold. Raises AssertionError, or Undecided."""
    if tolerance.compare in ("exists", "ignore"):
        return
    if tolerance.compare == "image-size":
        np.testing.assert_equal(_image_size(after), _image_size(before), "width and height")
        return
    old, new = before.read_bytes(), after.read_bytes()
    if old == new:
        return
    if tolerance.compare == "bytes":
        np.testing.assert_array_equal(np.frombuffer(new, np.uint8), np.frombuffer(old, np.uint8), "bytes")
        raise AssertionError("bytes differ")
    _values(before, after, tolerance)


def _values(before: Path, after: Path, tolerance: Tolerance) -> None:
    if tolerance.dtype is not None:
        arrays(np.fromfile(before, tolerance.dtype), np.fromfile(after, tolerance.dtype), tolerance)
    elif before.suffix == ".npy":
        arrays(_load(before), _load(after), tolerance)
    elif before.suffix == ".npz":
        _archives(before, after, tolerance)
    elif before.suffix == ".json":
        data(*(json.loads(path.read_text(encoding="utf-8")) for path in (before, after)), tolerance)
    elif before.suffix in TABLE_SUFFIXES:
        tables(before, after, tolerance)
    else:
        try:
            pair = [path.read_text(encoding="utf-8") for path in (before, after)]
        except UnicodeDecodeError as error:
            raise Undecided("binary files differ, and the tolerances don't say what they hold") from error
        text(pair[0], pair[1], tolerance)


def _load(path: Path) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except ValueError as error:
        raise Undecided(str(error)) from error


def _archives(before: Path, after: Path, tolerance: Tolerance) -> None:
    with np.load(before) as old, np.load(after) as new:
        np.testing.assert_equal(sorted(new.files), sorted(old.files), "names in the archive")
        for name in old.files:
            arrays(old[name], new[name], tolerance)


def _image_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    if head[:8] != b"\x89PNG\r\n\x1a\n":
        raise Undecided("image-size is for PNG files")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def describe(error: BaseException) -> str:
    """The failure of a testing function on few lines."""
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(line.strip() for line in lines[:8]) or type(error).__name__

"""Frames, series, indexes and their columns for the capture, by whichever library holds them.

Kinds are told by class names, so that pandas, its accelerator's stand-ins and cuDF all come out alike.
"""

from __future__ import annotations

import sys

from . import capture_arrays
from .nodes import composite, part

# Scalars of pandas whose text is their value.
VALUES = {
    "Timestamp",
    "Timedelta",
    "Period",
    "Interval",
    "NaTType",
    "NAType",
    "BaseOffset",
    "ExtensionDtype",
    "IntervalClosedType",
}


def frame_value(capture, value: object, path: str, depth: int) -> dict | None:
    """The node of a value of pandas or cuDF."""
    names = {cls.__name__ for cls in type(value).__mro__}
    host, device = on_host(value)
    if "DataFrame" in names:
        return frame(capture, host, path, depth, device)
    if "Series" in names:
        return series(capture, host, path, depth, device)
    if "Index" in names:
        return index(capture, host, path, depth, device)
    if "ExtensionArray" in names or "Categorical" in names:
        return column(capture, host, path, depth)
    if names & VALUES:
        return {"type": "value", "class": f"pandas.{type(value).__name__}", "text": repr(host)}
    return None


def on_host(value):
    """The value as plain pandas holds it, and the library that held it on a device where the program sees that."""
    if hasattr(type(value), "as_cpu_object"):
        return value.as_cpu_object(), None
    if type(value).__module__.partition(".")[0] == "cudf" and hasattr(value, "to_pandas"):
        return value.to_pandas(), "cudf"
    return value, None


def frame(capture, value, path: str, depth: int, device: str | None) -> dict:
    """A frame: its column labels, its index, its columns in order."""
    parts = [
        part(".columns", index(capture, value.columns, f"{path}.columns", depth + 1)),
        part(".index", index(capture, value.index, f"{path}.index", depth + 1)),
    ]
    seen: dict[str, int] = {}
    for position, label in enumerate(value.columns):
        at = f"[{label!r}]"
        seen[at] = seen.get(at, 0) + 1
        if seen[at] > 1:
            at += f"#{seen[at]}"
        parts.append(part(at, column(capture, value.iloc[:, position], f"{path}{at}", depth + 1)))
    return composite("pandas.DataFrame", {}, parts, device)


def series(capture, value, path: str, depth: int, device: str | None) -> dict:
    """A series: its index and its values."""
    parts = [
        part(".index", index(capture, value.index, f"{path}.index", depth + 1)),
        part("", column(capture, value, path, depth + 1)),
    ]
    return composite("pandas.Series", {"name": repr(value.name)}, parts, device)


def index(capture, value, path: str, depth: int, device: str | None = None) -> dict:
    """An index, level by level. How a library stores equal labels is its own affair."""
    levels = getattr(value, "nlevels", 1)
    if levels == 1:
        parts = [part("", column(capture, value, path, depth + 1))]
    else:
        parts = [
            part(f".level[{n}]", column(capture, value.get_level_values(n), f"{path}.level[{n}]", depth + 1))
            for n in range(levels)
        ]
    return composite("pandas.Index", {"names": repr(list(value.names))}, parts, device)


def column(capture, data, path: str, depth: int) -> dict:
    """The values of a series, an index level or an extension array."""
    import numpy as np

    array = getattr(data, "array", data)
    dtype = data.dtype
    if isinstance(dtype, np.dtype):
        values = np.asarray(array)
        if dtype.kind == "O":
            return object_column(capture, values, path, depth)
        return capture_arrays.array_node(capture, values, path, depth)
    kind = type(dtype).__name__
    special = KINDS.get(kind)
    if special is not None:
        return special(capture, array, str(dtype), path, depth)
    if kind == "StringDtype" or str(dtype).startswith(("string", "large_string")):
        return labelled("str", text_column(capture, array, path, depth))
    return nullable(capture, array, dtype, path, depth)


def labelled(dtype: str, node: dict) -> dict:
    """A column whose dtype NumPy doesn't know."""
    return composite("pandas.array", {"dtype": dtype}, [part("", node)])


def object_column(capture, values, path: str, depth: int) -> dict:
    """An object column: texts where it holds nothing else, else element by element."""
    node = arrow_text(capture, values)
    if node is None:
        items = values.tolist()
        if all(item is None or type(item) is str for item in items):
            node = capture_arrays.texts(capture, items, (len(items),))
    if node is None:
        return capture_arrays.objects(capture, values, path, depth)
    return composite("numpy.ndarray", {"dtype": "object"}, [part("", node)])


def text_column(capture, array, path: str, depth: int) -> dict:
    """A column of texts with missing ones."""
    node = arrow_text(capture, array)
    if node is not None:
        return node
    missing = array.isna()
    items = [None if gone else str(item) for item, gone in zip(array, missing, strict=True)]
    return capture_arrays.texts(capture, items, (len(items),))


def arrow_text(capture, values) -> dict | None:
    """A long text column by way of Arrow's buffers, where the program has pyarrow loaded; a loop would take minutes."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or len(values) < 1000:
        return None
    try:
        arrow = pyarrow.array(values, type=pyarrow.large_string(), from_pandas=True)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, TypeError):
        return None
    if isinstance(arrow, pyarrow.ChunkedArray):
        arrow = arrow.combine_chunks()
    if arrow.type != pyarrow.large_string():
        return None
    return arrow_buffers(capture, arrow)


def arrow_buffers(capture, arrow) -> dict:
    """A text node from one Arrow array."""
    import numpy as np

    count = len(arrow)
    buffers = arrow.buffers()
    offsets = np.frombuffer(buffers[1], np.int64)[arrow.offset : arrow.offset + count + 1]
    begin, end = int(offsets[0]), int(offsets[-1])
    name, file = capture.new_file("bin", end - begin)
    with open(file, "wb") as stream:
        if buffers[2] is not None:
            stream.write(memoryview(buffers[2])[begin:end])
    missing = None
    if arrow.null_count:
        mask = np.asarray(arrow.is_null().to_numpy(zero_copy_only=False))
        missing = capture_arrays.raw_array(capture, mask.tobytes(), "|b1", (count,))
    return {
        "type": "text",
        "shape": [count],
        "bytes": name,
        "offsets": capture_arrays.raw_array(capture, (offsets - begin).astype("<i8").tobytes(), "<i8", (count + 1,)),
        "missing": missing,
    }


def categories(capture, array, dtype: str, path: str, depth: int) -> dict:
    """A categorical column: codes and categories."""
    parts = [
        part(".codes", capture_arrays.array_node(capture, codes(array), f"{path}.codes", depth + 1)),
        part(".categories", column(capture, array.categories, f"{path}.categories", depth + 1)),
    ]
    return composite("pandas.Categorical", {"ordered": array.ordered}, parts)


def codes(array):
    """Codes of one width: which one a library picks depends on the number of categories alone."""
    import numpy as np

    return np.asarray(array.codes, dtype=np.int64)


def zoned(capture, array, dtype: str, path: str, depth: int) -> dict:
    """Times with a zone, as times in UTC."""
    import numpy as np

    return labelled(dtype, capture_arrays.array_node(capture, np.asarray(array.tz_convert(None)), path, depth + 1))


def periods(capture, array, dtype: str, path: str, depth: int) -> dict:
    """Periods, by ordinal."""
    import numpy as np

    return labelled(dtype, capture_arrays.array_node(capture, np.asarray(array.asi8), path, depth + 1))


def intervals(capture, array, dtype: str, path: str, depth: int) -> dict:
    """Intervals, by their ends."""
    parts = [
        part(".left", column(capture, array.left, f"{path}.left", depth + 1)),
        part(".right", column(capture, array.right, f"{path}.right", depth + 1)),
    ]
    return composite("pandas.IntervalArray", {"dtype": dtype}, parts)


def dense(capture, array, dtype: str, path: str, depth: int) -> dict:
    """A sparse column, written out."""
    import numpy as np

    return labelled(dtype, capture_arrays.array_node(capture, np.asarray(array), path, depth + 1))


KINDS = {
    "CategoricalDtype": categories,
    "DatetimeTZDtype": zoned,
    "PeriodDtype": periods,
    "IntervalDtype": intervals,
    "SparseDtype": dense,
}


def nullable(capture, array, dtype, path: str, depth: int) -> dict:
    """A column of numbers or truths with missing ones: values, with zeros for the missing, and their mask."""
    import numpy as np

    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if isinstance(numpy_dtype, np.dtype) and numpy_dtype.kind in "biuf":
        missing = np.asarray(array.isna())
        values = array.to_numpy(dtype=numpy_dtype, na_value=numpy_dtype.type(0))
        parts = [
            part("", capture_arrays.array_node(capture, values, path, depth + 1)),
            part(".missing", capture_arrays.array_node(capture, missing, f"{path}.missing", depth + 1)),
        ]
        return composite("pandas.array", {"dtype": str(dtype)}, parts)
    values = np.asarray(array, dtype=object)
    return labelled(str(dtype), capture_arrays.objects(capture, values, path, depth + 1))

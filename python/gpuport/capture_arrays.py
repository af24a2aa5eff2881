"""Arrays, sparse matrices and texts for the capture. Device arrays are copied to the host and marked."""

from __future__ import annotations

import sys

from .nodes import INLINE_BYTES, INLINE_TEXT, composite, part
from .outcome import clean

# Sequences shorter than this stay readable in the manifest.
PACK_FROM = 32
# Arrays of Python objects larger than this are not compared.
OBJECTS_LIMIT = 100_000
INT64 = range(-(2**63), 2**63)


def packed(capture, items: list) -> dict | None:
    """One array or text for a long list of one plain Python type."""
    if len(items) < PACK_FROM:
        return None
    kinds = set(map(type, items))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind is str:
        return texts(capture, items, (len(items),))
    if kind not in (float, int, bool):
        return None
    import array

    if kind is int and not (min(items) in INT64 and max(items) in INT64):
        return None
    code, dtype = {float: ("d", "<f8"), int: ("q", "<i8"), bool: ("b", "|b1")}[kind]
    values = array.array(code, items)
    if sys.byteorder == "big":
        values.byteswap()
    return raw_array(capture, values.tobytes(), dtype, (len(items),))


def raw_array(capture, data: bytes, dtype: str, shape: tuple[int, ...]) -> dict:
    """An array node from little-endian bytes, written without NumPy."""
    node = {"type": "array", "class": "list", "dtype": dtype, "shape": list(shape)}
    if len(data) <= INLINE_BYTES:
        return {**node, "data": data.hex()}
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    name, path = capture.new_file("npy", len(data) + 128)
    with open(path, "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin-1"))
        stream.write(data)
    return {**node, "file": name}


def texts(capture, items, shape: tuple[int, ...]) -> dict:
    """Many texts: short vectors in the manifest, long ones as offsets and bytes. `None` is a missing text."""
    items = [None if item is None else clean(str(item)) for item in items]
    node = {"type": "text", "shape": list(shape)}
    if sum(len(item) for item in items if item is not None) + 8 * len(items) <= INLINE_TEXT:
        return {**node, "items": items}
    import array

    offsets, missing, pieces, total = array.array("q", [0]), bytearray(), [], 0
    for item in items:
        encoded = b"" if item is None else item.encode()
        total += len(encoded)
        offsets.append(total)
        missing.append(item is None)
        pieces.append(encoded)
    if sys.byteorder == "big":
        offsets.byteswap()
    name, path = capture.new_file("bin", total)
    with open(path, "wb") as stream:
        stream.writelines(pieces)
    return {
        **node,
        "bytes": name,
        "offsets": raw_array(capture, offsets.tobytes(), "<i8", (len(items) + 1,)),
        "missing": raw_array(capture, bytes(missing), "|b1", (len(items),)) if any(missing) else None,
    }


def numpy_value(capture, value, path: str, depth: int, device: str | None = None) -> dict:
    """The node of a NumPy scalar or array."""
    import numpy as np

    if isinstance(value, np.generic):
        node = array_node(capture, np.asarray(value), path, depth)
        return {**node, "class": "numpy scalar"} if node["type"] == "array" else node
    if isinstance(value, np.ma.MaskedArray):
        return masked(capture, value, path, depth)
    node = array_node(capture, np.asarray(value), path, depth, device)
    if isinstance(value, np.matrix) and node["type"] == "array":
        node["class"] = "numpy.matrix"
    return node


def masked(capture, value, path: str, depth: int) -> dict:
    """A masked array: values under the mask mean nothing, so zeros stand for them."""
    import numpy as np

    mask = np.ma.getmaskarray(value)
    data = np.array(value.data, copy=True)
    if not data.dtype.fields:
        data[mask] = np.zeros((), data.dtype)
    parts = [
        part("", array_node(capture, data, path, depth + 1)),
        part(".mask", array_node(capture, mask, f"{path}.mask", depth + 1)),
    ]
    return composite("numpy.ma.MaskedArray", {}, parts)


def array_node(capture, array, path: str, depth: int, device: str | None = None) -> dict:
    """The node of an array on the host; `device` says which library held it on a device."""
    import numpy as np

    dtype = array.dtype
    if dtype.fields:
        parts = [
            part(f"[{name!r}]", array_node(capture, array[name], f"{path}[{name!r}]", depth + 1))
            for name in dtype.names
        ]
        return composite("numpy.ndarray", {"shape": array.shape, "fields": dtype.names}, parts, device)
    if dtype.kind == "O":
        return objects(capture, array, path, depth)
    if dtype.kind in "UT":
        node = texts(capture, array.ravel().tolist(), array.shape)
        return composite("numpy.ndarray", {"dtype": "str", "shape": array.shape}, [part("", node)])
    if dtype.kind == "S":
        node = texts(capture, [item.hex() for item in array.ravel().tolist()], array.shape)
        return composite("numpy.ndarray", {"dtype": "bytes", "shape": array.shape}, [part("", node)])
    label, array = plain(array)
    node = {"type": "array", "class": "numpy.ndarray", "dtype": label, "shape": list(array.shape)}
    if device is not None:
        node["device"] = device
    return store(capture, node, np.asarray(array, order="C"))


def plain(array):
    """The dtype as named in the report, and the array as a type that the judge can read."""
    import numpy as np

    dtype = array.dtype
    label = dtype.str
    if dtype.kind in "mM":
        return label, np.asarray(array, order="C").view("i8")
    if dtype.kind == "V":
        # bfloat16 and its like, from ml_dtypes; each fits into a float32.
        return dtype.name, array.astype(np.float32)
    if dtype.kind == "f" and dtype.itemsize > 8:
        return dtype.name, array.astype(np.float64)
    if dtype.kind == "c" and dtype.itemsize > 16:
        return dtype.name, array.astype(np.complex128)
    if label.startswith(">"):
        return label, array.astype(dtype.newbyteorder("<"))
    return label, array


def store(capture, node: dict, array) -> dict:
    """Puts the array's bytes into the manifest or into a file."""
    import numpy as np

    if array.nbytes <= INLINE_BYTES:
        return {**node, "data": array.tobytes().hex(), "stored": array.dtype.str}
    name, path = capture.new_file("npy", array.nbytes + 128)
    np.save(path, array, allow_pickle=False)
    return {**node, "file": name}


def objects(capture, array, path: str, depth: int) -> dict:
    """An array of Python objects, element by element."""
    if array.size > OBJECTS_LIMIT:
        return capture.opaque(array, path, f"it holds {array.size} Python objects")
    items = array.ravel().tolist()
    node = capture.sequence(items, path, depth + 1)
    return composite("numpy.ndarray", {"dtype": "object", "shape": array.shape}, [part("", node)])


def sparse(capture, value, path: str, depth: int, device: str | None) -> dict:
    """A sparse matrix or array in its canonical form: sorted indices, duplicates summed."""
    layout = value.format
    matrix = value.copy() if layout in ("csr", "csc") else value.tocoo(copy=True)
    matrix.sum_duplicates()
    names = ("data", "indices", "indptr") if layout in ("csr", "csc") else ("data", "row", "col")
    arrays = {name: getattr(matrix, name) for name in names if hasattr(matrix, name)}
    if "row" in arrays:
        import numpy as np

        order = np.lexsort((arrays["col"], arrays["row"]))
        arrays = {name: array[order] for name, array in arrays.items()}
    parts = []
    for name, array in arrays.items():
        if name != "data":
            # Which integer type holds an index is the library's choice, by the number of entries.
            array = array.astype("int64")
        parts.append(part(f".{name}", array_node(capture, array, f"{path}.{name}", depth + 1)))
    kind = "array" if type(value).__name__.endswith("_array") else "matrix"
    return composite(f"scipy.sparse.{layout}_{kind}", {"shape": tuple(value.shape)}, parts, device)

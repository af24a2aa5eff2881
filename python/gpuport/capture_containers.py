"""Python's own scalars and containers for the capture."""

from __future__ import annotations

import sys
import types

from . import capture_arrays
from .nodes import INLINE_BYTES, INLINE_TEXT, class_name, composite, in_order, part
from .outcome import clean


def scalar(capture, value: object) -> dict | None:
    """The node of Python's own scalars, exact types only."""
    cls = type(value)
    if value is None:
        return {"type": "none"}
    if cls is bool:
        return {"type": "bool", "value": value}
    if cls is int:
        return {"type": "int", "value": int_text(value)}
    if cls is float:
        return {"type": "float", "value": repr(value)}
    if cls is complex:
        return {"type": "complex", "re": repr(value.real), "im": repr(value.imag)}
    if cls is str:
        return text(capture, value)
    if cls in (bytes, bytearray):
        return binary(capture, bytes(value), cls.__name__)
    return None


def int_text(value: int) -> str:
    """Decimal, or hexadecimal where Python refuses to convert long numbers."""
    return str(value) if value.bit_length() < 4096 else hex(value)


def text(capture, value: str) -> dict:
    """A text, in the manifest or in a file."""
    value = clean(value)
    if len(value) <= INLINE_TEXT:
        return {"type": "str", "value": value}
    encoded = value.encode()
    name, path = capture.new_file("txt", len(encoded))
    with open(path, "wb") as stream:
        stream.write(encoded)
    return {"type": "str", "file": name}


def binary(capture, value: bytes, cls: str) -> dict:
    """Bytes, in the manifest or in a file."""
    if len(value) <= INLINE_BYTES:
        return {"type": "bytes", "class": cls, "data": value.hex()}
    name, path = capture.new_file("bin", len(value))
    with open(path, "wb") as stream:
        stream.write(value)
    return {"type": "bytes", "class": cls, "file": name}


def container(capture, value: object, path: str, depth: int) -> dict | None:
    """The node of lists, tuples, sets and dicts, and of classes made from them."""
    if isinstance(value, (list, tuple)):
        names = getattr(type(value), "_fields", None)
        if isinstance(value, tuple) and isinstance(names, tuple):
            parts = [
                part(f".{name}", capture.value(item, f"{path}.{name}", depth + 1))
                for name, item in zip(names, value, strict=False)
            ]
            return composite(class_name(type(value)), {}, parts)
        return sequence(capture, list(value), sequence_class(value), path, depth)
    if isinstance(value, (set, frozenset)):
        return sequence(capture, in_order(value), class_name(type(value)), path, depth)
    if isinstance(value, dict):
        return mapping(capture, value, path, depth)
    deque = getattr(sys.modules.get("collections"), "deque", None)
    if deque is not None and isinstance(value, deque):
        return sequence(capture, list(value), "collections.deque", path, depth)
    if isinstance(value, (types.MappingProxyType,)):
        return mapping(capture, dict(value), path, depth)
    if type(value).__name__ in ("dict_keys", "dict_values", "dict_items"):
        return sequence(capture, list(value), type(value).__name__, path, depth)
    return None


def sequence_class(value: object) -> str:
    """What a generator yielded is named as such; everything else by its class."""
    return "generator" if type(value).__name__ == "Yielded" else class_name(type(value))


def sequence(capture, items: list, cls: str, path: str, depth: int) -> dict:
    """A sequence; long ones of one plain type are kept as arrays."""
    packed = capture_arrays.packed(capture, items)
    if packed is not None:
        return {"type": "packed", "class": cls, "values": packed}
    nodes = [capture.value(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(items)]
    return {"type": "sequence", "class": cls, "items": nodes}


def mapping(capture, value: dict, path: str, depth: int) -> dict:
    """A dict and its like, in its own order."""
    items = []
    for key, item in list(value.items()):
        name = repr(key) if isinstance(key, (str, int, float, bool, tuple)) else class_name(type(key))
        items.append([capture.value(key, f"{path} key", depth + 1), capture.value(item, f"{path}[{name}]", depth + 1)])
    return {"type": "mapping", "class": class_name(type(value)), "items": items}

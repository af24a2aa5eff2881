"""Writing what a program left behind as plain data: a typed tree in `manifest.json`, and arrays beside it.

The tree has few node types, so that the judge needs to know no library: scalars, sequences, mappings, arrays, texts,
and composites (a frame, a model, a graph …), which are a class, facts that must be equal, and named parts.
Nothing here raises because of a value: what can't be captured becomes an `opaque` node that says why.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import types

from . import capture_arrays, capture_objects
from .outcome import clean

FORMAT = "gpuport/capture/1"
# Nodes nest at most this deep: each takes up to three levels of JSON, and the judge's parser stops at 128.
DEPTH_LIMIT = 32
# More nodes than this are no data but a database; the manifest would outgrow memory.
NODE_LIMIT = 1_000_000
# Bytes of arrays and texts, if the disk has room for twice as much.
BYTES_LIMIT = 64 << 30
# A text longer than this goes into a file of its own.
INLINE_TEXT = 4096
# Arrays of up to this many bytes are kept in the manifest: a file each would cost more than they hold.
INLINE_BYTES = 1024


class Capture:
    """One capture: its folder, the tree so far, and what could not be captured."""

    def __init__(self, folder: str, root: str) -> None:
        self.folder = folder
        self.root = os.path.realpath(root)
        self.not_compared: list[dict[str, str]] = []
        self.roots: dict[str, object] = {}
        self._calls: list[dict] = []
        self._files = 0
        self._nodes = 0
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []
        self._bytes_left = BYTES_LIMIT
        try:
            self._bytes_left = min(BYTES_LIMIT, shutil.disk_usage(folder).free // 2)
        except OSError:
            pass

    def globals(self, namespace: dict[str, object]) -> None:
        """Captures the main module's names; modules, functions, classes and private names aside."""
        parts = []
        for name, value in list(namespace.items()):
            if not isinstance(name, str) or name.startswith("_") or is_symbol(value):
                continue
            parts.append(part(f".{clean(name)}", self.value(value, f"globals.{name}")))
        self.roots["globals"] = composite("namespace", {}, parts)

    def call(self, inputs_set: int, returned: object, args: tuple, kwargs: dict) -> None:
        """Captures a call's result and its arguments as the call left them. Aliases are looked for within a call."""
        self._numbers.clear()
        self._kept.clear()
        parts = [part(f"[{i}]", self.value(value, f"arguments[{i}]")) for i, value in enumerate(args)]
        for name, value in kwargs.items():
            parts.append(part(f".{clean(name)}", self.value(value, f"arguments.{name}")))
        self._calls.append(
            {
                "set": inputs_set,
                "return": self.value(returned, "return"),
                "arguments": composite("arguments", {}, parts),
            }
        )

    def write(self) -> None:
        """Writes the manifest, whole or not at all."""
        if self._calls:
            self.roots["calls"] = self._calls
        text = json.dumps(
            {"format": FORMAT, **self.roots}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        path = os.path.join(self.folder, "manifest.json")
        with open(path + ".part", "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(path + ".part", path)

    def value(self, value: object, path: str, depth: int = 0) -> dict:
        """The node of a value. `path` is how the report names the value."""
        self._nodes += 1
        if depth > DEPTH_LIMIT:
            return self.opaque(value, path, "it is nested too deeply")
        if self._nodes > NODE_LIMIT:
            return self.opaque(value, path, "the program left too many values")
        try:
            node = scalar(self, value)
            if node is not None:
                return node
            number = self._numbers.get(id(value))
            if number is not None:
                return {"type": "ref", "to": number}
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
            node = container(self, value, path, depth)
            if node is None:
                node = capture_objects.library_value(self, value, path, depth)
            node["id"] = number
            return node
        except TooMuch as error:
            return self.opaque(value, path, str(error))
        except Exception as error:
            return self.opaque(value, path, f"capturing it raised {type(error).__name__}")

    def opaque(self, value: object, path: str, why: str) -> dict:
        """A value that is listed as not compared."""
        name = class_name(type(value))
        if len(self.not_compared) < 1000:
            self.not_compared.append({"what": clean(path), "why": clean(f"{why} ({name})")})
        return {"type": "opaque", "class": name, "why": clean(why)}

    def new_file(self, extension: str, size: int) -> tuple[str, str]:
        """Name and path of a new file for `size` bytes."""
        self._bytes_left -= size
        if self._bytes_left < 0:
            self._bytes_left += size
            raise TooMuch("there is no room for it")
        self._files += 1
        name = f"{self._files:06}.{extension}"
        return name, os.path.join(self.folder, name)


class TooMuch(Exception):
    """A value that is beyond a limit of capturing."""


def class_name(cls: type) -> str:
    """A class's name with its module, `builtins` aside."""
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", cls.__name__)
    return clean(name if module in ("builtins", None) else f"{module}.{name}")


def part(at: str, value: dict, optional: bool = False) -> dict:
    """A named part of a composite; `at` is appended to the composite's path."""
    node = {"at": at, "value": value}
    if optional:
        node["optional"] = True
    return node


def composite(cls: str, facts: dict[str, object], parts: list[dict], device: str | None = None) -> dict:
    """A value made of parts; `facts` must be equal as text."""
    node = {
        "type": "composite",
        "class": cls,
        "facts": {key: clean(str(fact)) for key, fact in facts.items()},
        "parts": parts,
    }
    if device is not None:
        node["device"] = device
    return node


def is_symbol(value: object) -> bool:
    """Modules, functions and classes: what a program is made of, not what it computed."""
    kinds = (
        type,
        types.ModuleType,
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodType,
        types.MethodWrapperType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
    )
    if isinstance(value, kinds):
        return True
    return type(value).__module__.partition(".")[0] in ("numpy", "cupy", "cupyx", "numba", "typing") and (
        type(value).__name__
        in ("ufunc", "_ArrayFunctionDispatcher", "vectorize", "CPUDispatcher", "ElementwiseKernel")
        or type(value).__name__.endswith(("Kernel", "Dispatcher", "TypeVar", "Alias"))
    )


def scalar(capture: Capture, value: object) -> dict | None:
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


def text(capture: Capture, value: str) -> dict:
    """A text, in the manifest or in a file."""
    value = clean(value)
    if len(value) <= INLINE_TEXT:
        return {"type": "str", "value": value}
    encoded = value.encode()
    name, path = capture.new_file("txt", len(encoded))
    with open(path, "wb") as stream:
        stream.write(encoded)
    return {"type": "str", "file": name}


def binary(capture: Capture, value: bytes, cls: str) -> dict:
    """Bytes, in the manifest or in a file."""
    if len(value) <= INLINE_BYTES:
        return {"type": "bytes", "class": cls, "data": value.hex()}
    name, path = capture.new_file("bin", len(value))
    with open(path, "wb") as stream:
        stream.write(value)
    return {"type": "bytes", "class": cls, "file": name}


def container(capture: Capture, value: object, path: str, depth: int) -> dict | None:
    """The node of lists, tuples, sets and dicts, and of classes made from them."""
    if isinstance(value, (list, tuple)):
        names = getattr(type(value), "_fields", None)
        if isinstance(value, tuple) and isinstance(names, tuple):
            parts = [
                part(f".{name}", capture.value(item, f"{path}.{name}", depth + 1))
                for name, item in zip(names, value)
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


def in_order(values) -> list:
    """A set's elements in an order that depends on the elements alone."""
    try:
        return sorted(values)
    except Exception:
        return sorted(values, key=lambda item: (class_name(type(item)), repr(item)))


def sequence(capture: Capture, items: list, cls: str, path: str, depth: int) -> dict:
    """A sequence; long ones of one plain type are kept as arrays."""
    packed = capture_arrays.packed(capture, items)
    if packed is not None:
        return {"type": "packed", "class": cls, "values": packed}
    nodes = [capture.value(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(items)]
    return {"type": "sequence", "class": cls, "items": nodes}


def mapping(capture: Capture, value: dict, path: str, depth: int) -> dict:
    """A dict and its like, in its own order."""
    items = []
    for key, item in list(value.items()):
        name = repr(key) if isinstance(key, (str, int, float, bool, tuple)) else class_name(type(key))
        items.append([capture.value(key, f"{path} key", depth + 1), capture.value(item, f"{path}[{name}]", depth + 1)])
    return {"type": "mapping", "class": class_name(type(value)), "items": items}

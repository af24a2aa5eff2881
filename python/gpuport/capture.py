"""Writing what a program left behind as plain data: a typed tree in `manifest.json`, and arrays beside it.

The tree has few node types, so that the judge needs to know no library: scalars, sequences, mappings, arrays, texts,
and composites (a frame, a model, a graph …), which are a class, facts that must be equal, and named parts.
Nothing here raises because of a value: what can't be captured becomes an `opaque` node that says why.
"""

from __future__ import annotations

import json
import os
import shutil

from . import capture_containers, capture_objects
from .nodes import TooMuch, class_name, composite, is_symbol, part
from .outcome import clean

FORMAT = "gpuport/capture/1"
# Nodes nest at most this deep: each takes up to three levels of JSON, and the judge's parser stops at 128.
DEPTH_LIMIT = 32
# More nodes than this are no data but a database; the manifest would outgrow memory.
NODE_LIMIT = 1_000_000
# Bytes of arrays and texts, if the disk has room for twice as much.
BYTES_LIMIT = 64 << 30


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

    def call(self, place: tuple[int, int], returned: object, args: tuple, kwargs: dict) -> None:
        """Captures the result of a call and its arguments as it left them; `place` is its index and its input set.

        Aliases are looked for within a call.
        """
        self._numbers.clear()
        self._kept.clear()
        parts = [part(f"[{i}]", self.value(value, f"arguments[{i}]")) for i, value in enumerate(args)]
        for name, value in kwargs.items():
            parts.append(part(f".{clean(name)}", self.value(value, f"arguments.{name}")))
        self._calls.append(
            {
                "index": place[0],
                "set": place[1],
                "return": self.value(returned, "return"),
                "arguments": composite("arguments", {}, parts),
            }
        )

    def write(self) -> None:
        """Writes the manifest, whole or not at all."""
        if self._calls:
            self.roots["calls"] = self._calls
        text = json.dumps({"format": FORMAT, **self.roots}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
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
            node = capture_containers.scalar(self, value)
            if node is not None:
                return node
            number = self._numbers.get(id(value))
            if number is not None:
                return {"type": "ref", "to": number}
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
            node = capture_containers.container(self, value, path, depth)
            if node is None:
                node = capture_objects.library_value(self, value, path, depth)
            node["id"] = number
            return node
        except TooMuch as error:
            return self.opaque(value, path, str(error))
        except Exception as error:
            return self.opaque(value, path, f"capturing it raised {type(error).__name__}")

    def sequence(self, items: list, path: str, depth: int) -> dict:
        """The node of a plain list."""
        return capture_containers.sequence(self, items, "list", path, depth)

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

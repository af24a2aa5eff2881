"""What the capture makes of values. Libraries that this Python lacks are skipped."""

from __future__ import annotations

import collections
import datetime
import importlib
import json
import os
import re
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

from gpuport import capture, capture_frames, nodes


def library(name: str):
    """The library, or a skipped test."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


class CaptureCase(unittest.TestCase):
    """A capture in a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.capture = capture.Capture(self.folder, self.folder)

    def node(self, value: object) -> dict:
        """The value's node, which must be plain JSON."""
        node = self.capture.value(value, "x")
        json.dumps(node, allow_nan=False)
        return node


class CaptureTest(CaptureCase):
    def test_scalars_keep_every_bit(self) -> None:
        for value, expected in [
            (None, {"type": "none"}),
            (True, {"type": "bool", "value": True}),
            (10**30, {"type": "int", "value": str(10**30)}),
            (0.1, {"type": "float", "value": "0.1"}),
            (float("nan"), {"type": "float", "value": "nan"}),
            (float("-inf"), {"type": "float", "value": "-inf"}),
            (1 - 2j, {"type": "complex", "re": "1.0", "im": "-2.0"}),
            ("é", {"type": "str", "value": "é"}),
            ("\ud800", {"type": "str", "value": "\\ud800"}),
            (b"\x00\xff", {"type": "bytes", "class": "bytes", "data": "00ff"}),
        ]:
            with self.subTest(value=value):
                self.assertEqual(self.node(value), expected)
        self.assertTrue(self.node(1 << 20_000)["value"].startswith("0x1"))

    def test_long_texts_and_lists_go_into_files(self) -> None:
        self.assertEqual(self.node("x" * 5000), {"type": "str", "file": "000001.txt"})
        self.assertEqual(Path(self.folder, "000001.txt").read_text(), "x" * 5000)
        packed = self.node([i / 3 for i in range(1000)])
        self.assertEqual((packed["type"], packed["values"]["shape"]), ("packed", [1000]))
        numpy = library("numpy")
        read = numpy.load(Path(self.folder, packed["values"]["file"]))
        self.assertEqual(read.tolist(), [i / 3 for i in range(1000)])

    def test_lists_of_mixed_types_are_not_packed(self) -> None:
        for items in ([1] * 40 + [1.0], [1] * 40 + [True], [1] * 40 + [1 << 70], [None] * 40, [1] * 3):
            with self.subTest(items=items[-1]):
                self.assertEqual(self.node(items)["type"], "sequence")

    def test_a_value_that_holds_itself_ends(self) -> None:
        values: list = [1]
        values.append({"again": values})
        node = self.node(values)
        self.assertEqual(node["items"][1]["items"][0][1], {"type": "ref", "to": node["id"]})

    def test_sets_have_one_order(self) -> None:
        self.assertEqual(self.node({3, 1, 2})["items"], self.node({2, 3, 1})["items"])
        self.assertEqual(len(self.node({1, "a", None})["items"]), 3)

    def test_records_are_taken_by_field(self) -> None:
        point = collections.namedtuple("point", "x y")
        self.assertEqual([p["at"] for p in self.node(point(1, 2))["parts"]], [".x", ".y"])
        self.assertEqual(self.node(types.SimpleNamespace(a=1))["parts"][0]["at"], ".a")

    def test_values_known_by_their_text(self) -> None:
        for value, expected in [
            (Path("a/b"), "a/b"),
            (re.compile("a+"), "re.compile('a+')"),
            (datetime.date(2020, 1, 2), "datetime.date(2020, 1, 2)"),
            (range(3), "range(0, 3)"),
        ]:
            with self.subTest(value=value):
                self.assertEqual(self.node(value)["text"], expected)

    def test_what_fails_is_listed_and_never_raised(self) -> None:
        class Hostile:
            def __getattribute__(self, name: str):
                raise RuntimeError("no")

        class HostileDict(dict):
            def items(self):
                raise MemoryError

        deep: list = []
        for _ in range(100):
            deep = [deep]
        for value in (Hostile(), HostileDict(a=1), deep, iter([]), open(os.devnull)):  # noqa: SIM115
            with self.subTest(value=type(value).__name__):
                before = len(self.capture.not_compared)
                self.node(value)
                self.assertEqual(len(self.capture.not_compared), before + 1)
                getattr(value, "close", lambda: None)() if not isinstance(value, Hostile) else None

    def test_room_is_bounded(self) -> None:
        self.capture._bytes_left = 100
        self.assertEqual(self.node("x" * 5000)["type"], "opaque")
        self.assertIn("no room", self.capture.not_compared[-1]["why"])

    def test_globals_leave_out_what_a_program_is_made_of(self) -> None:
        namespace = {"x": 1, "_y": 2, "__z": 3, "f": len, "g": lambda: 0, "C": int, "m": os, 5: 6}
        self.capture.globals(namespace)
        self.assertEqual([p["at"] for p in self.capture.roots["globals"]["parts"]], [".x"])

    def test_aliases_are_looked_for_within_a_call(self) -> None:
        shared = [1]
        self.capture.call((0, 0), shared, (shared,), {})
        self.capture.call((1, 1), shared, (), {})
        self.capture.write()
        calls = json.loads(Path(self.folder, "manifest.json").read_text())["calls"]
        self.assertEqual(calls[0]["return"], {"type": "ref", "to": 0})
        self.assertEqual((calls[1]["index"], calls[1]["set"], calls[1]["return"]["type"]), (1, 1, "sequence"))


class LibraryTest(CaptureCase):
    def test_arrays(self) -> None:
        np = library("numpy")
        for value, dtype in [
            (np.zeros(3), "<f8"),
            (np.array(1.5), "<f8"),
            (np.zeros(2, ">i4"), ">i4"),
            (np.array(["2020"], "M8[ns]"), "<M8[ns]"),
            (np.zeros(2, "c8"), "<c8"),
            (np.zeros(2, "?"), "|b1"),
        ]:
            with self.subTest(dtype=dtype):
                self.assertEqual(self.node(value)["dtype"], dtype)
        self.assertEqual(self.node(np.float32(1))["class"], "numpy scalar")
        self.assertEqual(self.node(np.zeros((0, 3)))["shape"], [0, 3])
        self.assertEqual(self.node(np.zeros(200_000, object))["type"], "opaque")

    def test_big_arrays_are_in_c_order(self) -> None:
        np = library("numpy")
        value = np.asfortranarray(np.arange(1000.0).reshape(10, 100))
        read = np.load(Path(self.folder, self.node(value)["file"]))
        self.assertTrue(read.flags.c_contiguous and (read == value).all())

    def test_stand_ins_of_an_accelerator_are_taken_as_pandas_holds_them(self) -> None:
        pd = library("pandas")
        inner = pd.DataFrame({"a": [1, 2]})

        class DataFrame:
            """As the accelerator makes them: the name and module of the class it stands for."""

            __module__ = "pandas"

            def as_cpu_object(self):
                return inner

        class Frame:
            """As a device library makes them."""

            def to_pandas(self):
                return inner

        Frame.__module__ = "cudf.core"
        Frame.__name__ = "DataFrame"
        plain = self.node(inner)
        for stand_in, device in ((DataFrame(), None), (Frame(), "cudf")):
            node = self.node(stand_in)
            self.assertEqual((node["class"], node["parts"]), (plain["class"], plain["parts"]))
            self.assertEqual(node.get("device"), device)

    def test_device_arrays_are_copied_and_marked(self) -> None:
        np = library("numpy")

        ndarray = type("ndarray", (), {"__cuda_array_interface__": {}, "__module__": "cupy"})
        fake = types.SimpleNamespace(asnumpy=lambda _: np.ones(2))
        with unittest.mock.patch.dict("sys.modules", {"cupy": fake}):
            node = self.node(ndarray())
        self.assertEqual((node["device"], node["class"], node["dtype"]), ("cupy", "numpy.ndarray", "<f8"))

    def test_text_columns_by_either_way_are_the_same(self) -> None:
        pd = library("pandas")
        library("pyarrow")
        values = pd.Series([f"row {i}" if i % 7 else None for i in range(1500)])
        by_arrow = capture_frames.text_column(self.capture, values.array, "x", 0)
        with unittest.mock.patch.object(capture_frames, "arrow_text", lambda *_: None):
            by_loop = capture_frames.text_column(self.capture, values.array, "x", 0)
        self.assertEqual(self.contents(by_arrow), self.contents(by_loop))

    def contents(self, node: dict) -> list[bytes]:
        """The bytes of all files and inline parts of a text node."""

        def array(part: dict | None) -> bytes:
            if part is None:
                return b""
            return Path(self.folder, part["file"]).read_bytes() if "file" in part else bytes.fromhex(part["data"])

        return [Path(self.folder, node["bytes"]).read_bytes(), array(node["offsets"]), array(node["missing"])]

    def test_estimators_have_the_name_of_what_they_stand_for(self) -> None:
        class Ridge:
            """A stand-in: its attributes are those of the estimator behind it."""

            _cpu = types.SimpleNamespace(coef_=[1.0])

            def get_params(self, deep=True):
                return {"alpha": 1.0, "n_jobs": 4}

            def __getattr__(self, name: str):
                return getattr(self._cpu, name)

        Ridge.__module__ = "sklearn.linear_model"
        Ridge.__qualname__ = "Ridge"
        node = self.node(Ridge())
        self.assertEqual((node["class"], [p["at"] for p in node["parts"]]), ("Ridge", [".alpha", ".coef_"]))


class NodesTest(unittest.TestCase):
    def test_symbols(self) -> None:
        for value in (len, int, os, [].append, unittest.TestCase.run):
            self.assertTrue(nodes.is_symbol(value), value)
        for value in (1, "len", [len], types.SimpleNamespace()):
            self.assertFalse(nodes.is_symbol(value), value)


if __name__ == "__main__":
    unittest.main()

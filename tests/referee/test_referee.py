"""The referee finds planted wrong results, and lets right ones pass."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import agreement
import numpy as np
import pandas as pd
import referee
from tolerance import Tolerance, ToleranceError, parse

PROGRAM = """
import json
import numpy as np

x = np.sqrt(np.arange(1.0, 10_001.0))
columns = x.reshape(100, 100)
weights = columns.sum(axis=0)
np.save("weights.npy", weights)
np.savetxt("weights.csv", weights, fmt="%.10f")
json.dump({"total": float(weights.sum()), "rows": len(columns), "first": weights[:3].tolist()}, open("out.json", "w"))
print("total", weights.sum(), "of", len(x), "largest", int(weights.argmax()))
print("took 0.5 s")
"""

# What each replacement plants, and whether the result is still right.
PLANTED = [
    ("the program itself", "", "", "agree"),
    ("sum in another order", "weights = columns.sum(axis=0)", "weights = columns[::-1].sum(axis=0)", "agree"),
    ("another layout of the same text", '"total", weights', '"total  ", weights', "agree"),
    ("another spelling of the time", "took 0.5 s", "took 0.7 s", "agree"),
    ("mean for sum", "columns.sum(axis=0)", "columns.mean(axis=0)", "wrong"),
    ("another axis", "columns.sum(axis=0)", "columns.sum(axis=1)", "wrong"),
    ("float32", "np.sqrt(np.arange(1.0, 10_001.0))", "np.sqrt(np.arange(1.0, 10_001.0, dtype=np.float32))", "wrong"),
    ("float32 sums of float64", "columns.sum(axis=0)", "columns.astype('f4').sum(axis=0).astype('f8')", "wrong"),
    ("last row left out", "columns.sum(axis=0)", "columns[:-1].sum(axis=0)", "wrong"),
    ("last element left out", 'np.save("weights.npy", weights)', 'np.save("weights.npy", weights[:-1])', "wrong"),
    ("order reversed", 'np.save("weights.npy", weights)', 'np.save("weights.npy", weights[::-1])', "wrong"),
    ("one NaN", 'np.save("w', 'weights[7] = np.nan; np.save("w', "wrong"),
    ("one element off", 'np.save("w', 'weights[99] *= 1 + 1e-6; np.save("w', "wrong"),
    ("a missing file", 'np.save("weights.npy", weights)', "pass", "wrong"),
    ("a surplus file", 'np.save("weights.npy", weights)', 'np.save("weights.npy", weights); open("x", "w")', "wrong"),
    ("a missing line", 'print("total"', '_ = ("total"', "wrong"),
    ("a whole number off by one", "int(weights.argmax())", "int(weights.argmax()) - 1", "wrong"),
    ("a float for a whole number", '"rows": len(columns)', '"rows": float(len(columns))', "wrong"),
    ("a missing key", '"rows": len(columns), ', "", "wrong"),
    ("a failure", "weights = columns.sum(axis=0)", "raise ValueError", "wrong"),
    ("another exit status", 'print("took', 'raise SystemExit(3); print("took', "wrong"),
]


class Whole(unittest.TestCase):
    """Both programs run, and everything is compared."""

    def verdict(self, before: str, after: str, *options: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            trees = [Path(folder, name) for name in ("before", "after")]
            for tree, program in zip(trees, (before, after), strict=True):
                tree.mkdir()
                (tree / "main.py").write_text(program)
            tolerances = Path(folder, "tolerances.toml")
            tolerances.write_text('[program]\nstdout = {ignore = ["^took"]}\n')
            out = Path(folder, "report.json")
            arguments = [*map(str, trees), "--run", "main.py", "--tolerances", str(tolerances), "--item", "program"]
            with contextlib.redirect_stdout(io.StringIO()):
                status = referee.main([*arguments, "--json", str(out), *options])
            verdict = json.loads(out.read_text())["verdict"]
            self.assertEqual(status, {"agree": 0, "wrong": 1, "undecided": 2}[verdict])
            return verdict

    def test_planted(self) -> None:
        for what, old, new, expected in PLANTED:
            with self.subTest(what):
                self.assertIn(old, PROGRAM)
                self.assertEqual(self.verdict(PROGRAM, PROGRAM.replace(old, new, 1)), expected)

    def test_a_failing_original_decides_nothing(self) -> None:
        self.assertEqual(self.verdict("raise ValueError", PROGRAM), "undecided")

    def test_a_hanging_port_is_wrong(self) -> None:
        hanging = "import time; time.sleep(60)"
        self.assertEqual(self.verdict("print(1)", hanging, "--timeout", "2"), "wrong")

    def test_a_removed_file_is_noticed(self) -> None:
        self.assertEqual(self.verdict("print(1)", "import os; os.remove('main.py'); print(1)"), "wrong")


class Files(unittest.TestCase):
    """Pairs of files that agree or don't."""

    def agree(self, name: str, before: bytes, after: bytes, tolerance: Tolerance) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            pair = Path(folder, "a-" + name), Path(folder, "b-" + name)
            for path, content in zip(pair, (before, after), strict=True):
                path.write_bytes(content)
            try:
                agreement.files(*pair, tolerance)
            except AssertionError:
                return False
            return True

    def frame(self, **columns: object) -> bytes:
        buffer = io.BytesIO()
        pd.DataFrame(columns).to_parquet(buffer)
        return buffer.getvalue()

    def array(self, value: np.ndarray) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, value)
        return buffer.getvalue()

    def test_tables(self) -> None:
        days = pd.to_datetime(["2025-01-01", "2025-01-02", None])
        base = {"n": [10**12, 2, 3], "x": [1.0, np.nan, 3.0], "s": ["a", None, "c"], "d": days}
        changed = {
            "equal": (base, True),
            "a sum in another order": (base | {"x": [1.0 + 1e-12, np.nan, 3.0]}, True),
            "a whole number off by one": (base | {"n": [10**12 + 1, 2, 3]}, False),
            "another type": (base | {"n": np.array([10**12, 2, 3], np.float64)}, False),
            "a value for a null": (base | {"x": [1.0, 0.0, 3.0]}, False),
            "another text": (base | {"s": ["a", "", "c"]}, False),
            "another second": (base | {"d": days + pd.Timedelta(1, "s")}, False),
            "rows permuted": ({key: list(value)[::-1] for key, value in base.items()}, False),
            "columns permuted": (dict(reversed(base.items())), False),
            "last row left out": ({key: value[:-1] for key, value in base.items()}, False),
        }
        for what, (columns, expected) in changed.items():
            with self.subTest(what):
                found = self.agree("t.parquet", self.frame(**base), self.frame(**columns), Tolerance())
                self.assertEqual(found, expected)

    def test_rows_in_free_order(self) -> None:
        pair = self.frame(k=[2, 1], x=[0.5, 0.25]), self.frame(k=[1, 2], x=[0.25, 0.5])
        self.assertFalse(self.agree("t.parquet", *pair, Tolerance()))
        self.assertTrue(self.agree("t.parquet", *pair, Tolerance(sort_by=("k",))))

    def test_arrays(self) -> None:
        base = np.linspace(-1.0, 1.0, 1001)
        cases = [
            ("rounding near zero", base, base + 1e-16, Tolerance(), True),
            ("a wrong element near zero", base, np.where(np.abs(base) < 1e-9, 1e-6, base), Tolerance(), False),
            ("float32 for float64", base, base.astype(np.float32), Tolerance(), False),
            ("a looser tolerance", base, base * 1.001, Tolerance(rtol=0.01), True),
            ("whole numbers", np.arange(5), np.array([0, 1, 2, 3, 5]), Tolerance(), False),
            ("whole numbers within 20 %", np.arange(5), np.array([0, 1, 2, 3, 4]), Tolerance(integer_rtol=0.2), True),
            ("another shape", base, base.reshape(7, 143), Tolerance(), False),
            ("truth values", base > 0.0, base >= 0.0, Tolerance(), False),
            ("complex numbers", base * 1j, base * -1j, Tolerance(), False),
            ("infinities", np.array([np.inf]), np.array([-np.inf]), Tolerance(), False),
        ]
        for what, before, after, tolerance, expected in cases:
            with self.subTest(what):
                found = self.agree("x.npy", self.array(before), self.array(after), tolerance)
                self.assertEqual(found, expected)

    def test_raw_binary_files_need_a_type(self) -> None:
        before, after = np.ones(64, np.float32).tobytes(), np.full(64, 1.0 + 1e-6, np.float32).tobytes()
        self.assertTrue(self.agree("x.dat", before, after, Tolerance(dtype="float32")))
        self.assertFalse(self.agree("x.dat", before, after, Tolerance(dtype="float32", rtol=1e-8)))
        with self.assertRaises(agreement.Undecided):
            self.agree("x.dat", before, after, Tolerance())

    def test_images_by_size(self) -> None:
        header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
        small, large = header + bytes([0, 0, 0, 4, 0, 0, 0, 4, 1]), header + bytes([0, 0, 0, 4, 0, 0, 0, 8, 1])
        tolerance = Tolerance(compare="image-size")
        self.assertTrue(self.agree("x.png", small, small + b"!", tolerance))
        self.assertFalse(self.agree("x.png", small, large, tolerance))

    def test_text(self) -> None:
        cases = [
            ("x 1.2346 y", "x 1.2345 y", True),
            ("x 1.2347 y", "x 1.2345 y", False),
            ("1.00e-05", "1.01e-05", True),
            ("1.00e-05", "1.02e-05", False),
            ("[ 1.  2.]", "[1. 2.]", True),
            ("nan", "1.0", False),
            ("nan", "nan", True),
            ("inf", "-inf", False),
            ("5 rows", "6 rows", False),
            ("5 rows", "5.0 rows", False),
            ("a b", "b a", False),
            ("1.0 2.0", "1.0", False),
        ]
        for before, after, expected in cases:
            with self.subTest(before=before, after=after):
                self.assertEqual(self.agree("x.txt", before.encode(), after.encode(), Tolerance()), expected)

    def test_text_line_by_line(self) -> None:
        tolerances = parse({"stdout": {"lines": {"^loss": {"atol": 0.05}, "^area": {"integer-rtol": 0.01}}}}, "here")
        base = "loss 0.339\nshare 0.500\narea 1000\ncount 10\n"
        cases = [
            ("0.339", "0.370", True),
            ("0.339", "0.400", False),
            ("0.500", "0.510", False),
            ("1000", "1005", True),
            ("1000", "1020", False),
            ("count 10", "count 11", False),
        ]
        for old, new, expected in cases:
            with self.subTest(old=old, new=new):
                pair = base.encode(), base.replace(old, new).encode()
                self.assertEqual(self.agree("x.txt", *pair, tolerances.stdout), expected)


class ToleranceFiles(unittest.TestCase):
    """Reading of the TOML file."""

    def test_nearest_setting_wins(self) -> None:
        tolerances = parse({"rtol": 1e-3, "stdout": {"atol": 0.5}, "files": {"*.npy": {"rtol": 0.1}}}, "here")
        self.assertEqual(tolerances.stdout, Tolerance(rtol=1e-3, atol=0.5))
        self.assertEqual(tolerances.for_file("out/x.npy"), Tolerance(rtol=0.1))
        self.assertEqual(tolerances.for_file("x.csv"), Tolerance(rtol=1e-3))

    def test_mistakes_are_errors(self) -> None:
        for table in ({"rtl": 1.0}, {"stdout": {"compare": "loosely"}}, {"files": {"*": {"x": 1}}}):
            with self.subTest(table=table), self.assertRaises(ToleranceError):
                parse(table, "here")


if __name__ == "__main__":
    unittest.main()

"""gpu-check against a stand-in for gpuport that misbehaves on request."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from . import check, items, machine, main, table
from .items import Item, Size
from .results import Results, ResultsError

PROGRAM = """
import sys
from pathlib import Path
values = [float(number) for number in Path("data.txt").read_text().split()]
Path("total.txt").write_text(f"{sum(values):.6f}\\n")
print("total", sum(values))
"""
DATA = "import sys; open('data.txt', 'w').write(' '.join(str(0.5 * n) for n in range(int(sys.argv[1]))))"

STAND_IN = """#!{python}
import json, os, subprocess, sys, time
from pathlib import Path
if "--version" in sys.argv:
    sys.exit(print("gpuport 0.0.0"))
python = sys.argv[sys.argv.index("--python") + 1]
probe = [python, "-c", "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES', 'all'))"]
hidden = subprocess.run(probe, capture_output=True, text=True).stdout.strip() == ""
behaviour = os.environ["STAND_IN"]
if behaviour == "panic":
    print("thread 'main' panicked at src/main.rs:1:1", file=sys.stderr)
    sys.exit(101)
if behaviour == "hang":
    time.sleep(60)
if behaviour == "usage":
    sys.exit(2)
if behaviour == "unable":
    sys.exit(3)
if behaviour == "chatter":
    sys.exit(print("no JSON"))
accepts = behaviour in ("right", "slow", "idle", "wrong") and not hidden or behaviour == "gullible"
if accepts or behaviour == "careless":
    text = Path("main.py").read_text()
    port = "sum(values) + 1" if behaviour == "wrong" else "sum(values[::-1])"
    Path("main.py").write_text(text.replace("sum(values)", port))
verdict = "accepted" if accepts else "rejected"
change = {{"id": "c", "verdict": verdict, "findings": [] if accepts else [{{"code": "GP502", "message": "slower"}}]}}
unit = {{
    "verdict": verdict,
    "changes": [change],
    "limited_by": None if accepts else "problem-size",
    "timing": {{"speedup": 4.0, "speedup_low": 0.9 if behaviour == "slow" else 3.5, "speedup_high": 4.5,
               "before_seconds": 4.0, "after_seconds": 1.0}},
    "gpu": {{"kernels": 0, "fallbacks": []}} if behaviour == "idle" else
           {{"kernels": 12, "bytes_to_device": 8000000, "fallbacks": []}},
}}
tree = "applied" if accepts or behaviour == "boastful" else "untouched"
print(json.dumps({{"schema": "gpuport/report/1", "tree": tree, "units": [unit]}}))
sys.exit(0 if accepts else 1)
"""


class WithStandIn(unittest.TestCase):
    """A folder with a program, and the stand-in."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        source = self.folder / "source"
        source.mkdir()
        (source / "main.py").write_text(PROGRAM)
        (source / "make.py").write_text(DATA)
        self.gpuport = self.folder / "gpuport"
        self.gpuport.write_text(STAND_IN.format(python=sys.executable))
        self.gpuport.chmod(0o755)
        size = Size(data=("make.py 100",))
        self.item = Item("program", source, "main.py", ("accepted",), True, size, size)
        self.context = check.Context(
            gpuport=self.gpuport,
            python=sys.executable,
            legacy=None,
            work=self.folder / "work",
            out=self.folder / "out",
            options=(),
            timeout=20.0,
            hidden=True,
            gpu=True,
            keep=False,
        )
        self.context.work.mkdir()

    def check(self, behaviour: str, **changes: object) -> dict:
        context = replace(self.context, timeout=2.0) if behaviour == "hang" else self.context
        with mock.patch.dict("os.environ", {"STAND_IN": behaviour}):
            return check.check(replace(self.item, **changes), context, float("inf"))


class Assessment(WithStandIn):
    """What is found out about each behaviour."""

    def test_a_right_port(self) -> None:
        result = self.check("right")
        self.assertEqual((result["outcome"], result["assessment"]), ("accepted", "as expected"))
        self.assertEqual((result["changed"], result["referee"]["verdict"]), (["main.py"], "agree"))
        self.assertEqual([hidden["outcome"] for hidden in result["hidden"].values()], ["rejected", "rejected"])
        self.assertIn("values[::-1]", (self.context.out / "patches" / "program.diff").read_text())

    def test_misbehaviour_is_found(self) -> None:
        expected = {
            "wrong": "the referee finds the results wrong",
            "careless": "the tree changed without an accepted patch",
            "boastful": "nothing was written",
            "gullible": "the device was hidden from programs",
            "idle": "without GPU activity",
            "slow": "without being faster",
            "panic": "ended with crash",
            "hang": "ended with timeout",
            "usage": "ended with usage error",
            "chatter": "ended with no report",
            "reject": "accepted was expected, found rejected",
        }
        for behaviour, problem in expected.items():
            with self.subTest(behaviour):
                result = self.check(behaviour)
                self.assertEqual(result["assessment"], "wrong")
                self.assertIn(problem, "; ".join(result["problems"]))

    def test_what_is_expected_decides(self) -> None:
        cases = [
            ("reject", {"expect": ("kept",)}, "as expected"),
            ("reject", {"expect": ("kept",), "limited": True}, "as expected"),
            ("reject", {"strict": False}, "missed"),
            ("right", {"expect": ("kept",)}, "wrong"),
            ("right", {"expect": ("partial", "kept")}, "as expected"),
            ("unable", {}, "undecided"),
        ]
        for behaviour, changes, expected in cases:
            with self.subTest(behaviour, **changes):
                self.assertEqual(self.check(behaviour, **changes)["assessment"], expected)

    def test_without_a_gpu_nothing_may_be_accepted(self) -> None:
        self.context = replace(self.context, gpu=False)
        self.assertEqual(self.check("right")["assessment"], "wrong")
        self.assertEqual(self.check("reject")["assessment"], "undecided")

    def test_a_budget_that_ends_leaves_no_result(self) -> None:
        with mock.patch.dict("os.environ", {"STAND_IN": "hang"}), self.assertRaises(check.OutOfTimeError):
            check.check(self.item, self.context, check.time.monotonic())


class CommandLine(WithStandIn):
    """Runs, resumed runs, merged runs."""

    def run_main(self, *arguments: str, behaviour: str = "right", driver: str = "1.0") -> tuple[int, str]:
        gpu = {"name": "A", "memory": "1 MiB", "driver": driver}
        second = replace(self.item, name="second")
        words = ["--gpuport", str(self.gpuport), "--python", sys.executable, "--out", str(self.context.out), *arguments]
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict("os.environ", {"STAND_IN": behaviour}),
            mock.patch.object(items, "examples", lambda size: [self.item, second]),
            mock.patch.object(machine, "gpus", lambda: [gpu]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            status = main.main(words)
        return status, out.getvalue() + err.getvalue()

    def results(self) -> dict:
        return json.loads((self.context.out / "gpu-check.json").read_text())

    def test_all_right(self) -> None:
        status, output = self.run_main()
        self.assertEqual(status, main.DONE, output)
        self.assertIn("2 as expected. 2 accepted, 0 of them not confirmed", output)
        self.assertIn("| program | accepted | 4.00 (3.50 to 4.50) |", (self.context.out / "gpu-check.md").read_text())

    def test_a_failure_shows_in_the_status(self) -> None:
        status, output = self.run_main("--only", "program", behaviour="wrong")
        self.assertEqual(status, main.FAILED)
        self.assertIn("WRONG program", output)

    def test_pieces_come_together(self) -> None:
        self.assertEqual(self.run_main("--only", "program")[0], main.DONE)
        status, output = self.run_main("--resume", behaviour="right")
        self.assertEqual(status, main.DONE)
        self.assertIn("program: has a result", output)
        self.assertNotIn("second: has a result", output)
        self.assertEqual([entry["item"] for entry in self.results()["results"]], ["program", "second"])
        self.assertEqual(len(self.results()["environments"]), 1)

    def test_another_driver_is_another_machine(self) -> None:
        self.run_main("--only", "program")
        _, output = self.run_main("--resume", "--only", "program", driver="2.0")
        self.assertNotIn("has a result", output)
        self.assertEqual(len(self.results()["environments"]), 2)

    def test_another_source_is_another_item(self) -> None:
        self.run_main("--only", "program")
        (self.item.source / "main.py").write_text(PROGRAM + "\n")
        self.assertNotIn("has a result", self.run_main("--resume", "--only", "program")[1])

    def test_a_budget_of_nothing_is_incomplete(self) -> None:
        status, output = self.run_main("--budget", "0")
        self.assertEqual(status, main.INCOMPLETE)
        self.assertIn("the budget is used up", output)

    def test_missing_libraries_are_named(self) -> None:
        self.item = replace(self.item, needs=("no_such_module",))
        status, output = self.run_main("--only", "program")
        self.assertEqual(status, main.INCOMPLETE)
        self.assertEqual(self.results()["results"][0]["messages"], ["needs no_such_module"])
        self.assertIn("skipped", output)

    def test_mistakes_are_usage_errors(self) -> None:
        for arguments in (["--only", "nothing"], ["--python", "/nowhere"], ["--cases", str(self.item.source)]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.run_main(*arguments)[0], main.USAGE)


class Files(unittest.TestCase):
    """Results on disk, and the lists in the project."""

    def test_the_later_result_wins(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("a.json", "b.json")]
            for path, outcome, at in zip(paths, ("kept", "accepted"), ("2026-01-01", "2026-01-02"), strict=True):
                entry = {"environment": "e", "item": "i", "digest": "d", "outcome": outcome, "at": at}
                Results(path).add(entry, {"cores": 2})
            for first, second in (paths, reversed(paths)):
                merged = Results(Path(folder, "new.json"))
                merged.merge(first)
                merged.merge(second)
                found = merged.find("e", "i", "d")
                self.assertEqual(found and found["outcome"], "accepted")
                self.assertIsNone(merged.find("e", "i", "other"))

    def test_other_files_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for number, content in enumerate(("", "[]", '{"schema": "x"}')):
                path = Path(folder, f"{number}.json")
                path.write_text(content)
                with self.subTest(content), self.assertRaises(ResultsError):
                    Results(path)

    def test_every_example_is_described_at_every_size(self) -> None:
        folders = {path.name for path in items.EXAMPLES.iterdir() if path.is_dir()}
        for size in items.SIZES:
            found = items.examples(size)
            self.assertEqual({item.name for item in found}, folders)
            for item in found:
                self.assertTrue((item.source / item.entry).is_file(), item.entry)
                for command in item.size.data:
                    self.assertTrue((item.source / command.split()[0]).is_file(), command)

    def test_a_table_of_nothing(self) -> None:
        self.assertIn("item", table.text([]))
        self.assertIn("0 items", table.totals([]))


if __name__ == "__main__":
    unittest.main()

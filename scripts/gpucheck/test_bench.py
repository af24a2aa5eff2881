"""bench-rewrite and cases against stand-ins for gpuport that plan badly on request."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import bench, plan

STAND_IN = """#!{python}
import difflib, json, os, random, sys
from pathlib import Path
if "--version" in sys.argv or "parse" in sys.argv:
    sys.exit(print("gpuport 0.0.0"))
behaviour = os.environ["STAND_IN"]
if behaviour == "panic":
    print("thread 'main' panicked at src/main.rs:1:1", file=sys.stderr)
    sys.exit(101)
new = {{"broken": "new(", "restless": "old + 1"}}.get(behaviour, "new")
if behaviour == "moody":
    new += str(random.random())[2:]
out = b""
for path in sorted(Path(".").rglob("*.py")):
    before = path.read_bytes()
    after = before.replace(b"old", new.encode())
    if behaviour == "wasteful" and before != after:
        lines = before.splitlines(True)
        start = "@@ -1,%d +1,%d @@" % (len(lines), len(lines))
        hunk = [b"-" + line for line in lines] + [b"+" + line.replace(b"old", b"new") for line in lines]
        out += f"--- a/{{path}}\\n+++ b/{{path}}\\n{{start}}\\n".encode() + b"".join(hunk)
        continue
    sides = [text.splitlines(True) for text in (before, after)]
    names = f"a/{{path}}".encode(), f"b/{{path}}".encode()
    out += b"".join(difflib.diff_bytes(difflib.unified_diff, *sides, *names))
if behaviour == "offset":
    out = out.replace(b" b = 2", b" b = 3")
if behaviour == "writing":
    Path("lib.py").write_text("")
if "json" in sys.argv:
    changes = [{{"id": "c", "verdict": "unverified"}}] if out and behaviour != "silent" else []
    out = json.dumps({{"tree": "untouched", "units": [{{"verdict": "unverified", "changes": changes}}]}}).encode()
sys.stdout.buffer.write(out)
"""
SOURCE = "a = 1\nb = 2\nc = old\nd = 4\n"


class WithStandIn(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.gpuport = self.folder / "gpuport"
        self.gpuport.write_text(STAND_IN.format(python=sys.executable))
        self.gpuport.chmod(0o755)

    def output(self, main: object, behaviour: str, *arguments: str) -> tuple[int, str]:
        out = io.StringIO()
        with (
            mock.patch.dict("os.environ", {"STAND_IN": behaviour}),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            status = main(["--gpuport", str(self.gpuport), *arguments])
        return status, out.getvalue()


class Bench(WithStandIn):
    """Each kind of unsound candidate is found."""

    def setUp(self) -> None:
        super().setUp()
        tree = self.folder / "lib-1.0"
        tree.mkdir()
        (tree / "lib.py").write_text(SOURCE)
        (tree / "python2.py").write_text("print 'old'\n")
        self.archives = self.folder / "archives"
        self.archives.mkdir()
        with tarfile.open(self.archives / "lib-1.0.tar.gz", "w:gz") as tar:
            tar.add(tree, "lib-1.0")

    def test_behaviours(self) -> None:
        expected = {
            "panic": "status 101",
            "broken": "lib.py doesn't parse",
            "restless": "the second run changes 2 files",
            "moody": "two runs gave two diffs",
            "wasteful": "a line is rewritten as it was: a = 1",
            "offset": "git apply: error",
        }
        for behaviour, problem in expected.items():
            with self.subTest(behaviour):
                status, output = self.output(bench.main, behaviour, str(self.archives), "--no-cost")
                self.assertEqual(status, 1)
                self.assertIn(problem, output)

    def test_sound_and_measured(self) -> None:
        out = self.folder / "out"
        status, output = self.output(bench.main, "good", str(self.archives), "--out", str(out))
        self.assertEqual(status, 0, output)
        self.assertIn("| lib-1.0 | 2 | 0.0 | 2 | 0 |", output)
        table = json.loads((out / "rewrite.json").read_text())
        self.assertEqual(set(table["cost"]), {"1", "all"})
        self.assertGreater(table["cost"]["1"]["peak_mb"], 1.0)

    def test_mistakes_are_usage_errors(self) -> None:
        self.assertEqual(self.output(bench.main, "good", str(self.folder))[0], 2)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(bench.main(["--gpuport", "/nowhere"]), 2)


class Cases(WithStandIn):
    """What planning makes of a case."""

    def setUp(self) -> None:
        super().setUp()
        self.cases = self.folder / "cases"
        case = self.cases / "001-sample"
        case.mkdir(parents=True)
        (case / "case.toml").write_text('expect = "port"\nalso_ok = ["keep"]\n')
        (case / "main.py").write_text(SOURCE)
        (case / "lib.py").write_text("x = 1\n")

    def test_behaviours(self) -> None:
        expected = {
            "panic": "status 101",
            "broken": "the candidate doesn't parse",
            "offset": "git apply: error",
            "writing": "the tree changed",
            "silent": "the report and the diff disagree",
        }
        for behaviour, problem in expected.items():
            with self.subTest(behaviour):
                status, output = self.output(plan.main, behaviour, "--cases", str(self.cases))
                self.assertEqual(status, 1)
                self.assertIn(problem, output)

    def test_a_sound_candidate(self) -> None:
        status, output = self.output(plan.main, "good", "--cases", str(self.cases))
        self.assertEqual(status, 0, output)
        self.assertIn("accepted/kept          1 changes in 1 files", output)


if __name__ == "__main__":
    unittest.main()

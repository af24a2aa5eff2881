#!/usr/bin/env python3
"""Is a ported program wrong? Runs both trees and compares what they print and write.

An independent opinion: it shares no code with gpuport, and leaves every comparison to the testing functions of
NumPy and pandas.

exit status: 0 the results agree, 1 the port is wrong, 2 that could not be decided
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import agreement
import rerun
from tolerance import ToleranceError, Tolerances, read


class Report:
    """Problems found so far, and what could not be compared."""

    def __init__(self) -> None:
        self.wrong: list[dict[str, str]] = []
        self.undecided: list[dict[str, str]] = []
        self.compared: list[str] = []

    def check(self, what: str, comparison: Callable[[], None]) -> None:
        """Notes how one comparison went."""
        self.compared.append(what)
        try:
            comparison()
        except AssertionError as error:
            self.wrong.append({"what": what, "message": agreement.describe(error)})
        except agreement.Undecided as error:
            self.undecided.append({"what": what, "message": str(error)})
        except Exception as error:
            self.wrong.append({"what": what, "message": f"can't be read: {type(error).__name__}: {error}"})

    @property
    def verdict(self) -> str:
        """agree, wrong or undecided."""
        return "wrong" if self.wrong else "undecided" if self.undecided else "agree"

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "verdict": self.verdict,
            "wrong": self.wrong,
            "undecided": self.undecided,
            "compared": self.compared,
        }


def judge(before: rerun.Run, after: rerun.Run, tolerances: Tolerances) -> Report:
    """Compares two runs."""
    report = Report()
    if before.status != 0:
        report.undecided.append({"what": "original", "message": before.end})
        return report
    if after.status != 0:
        report.wrong.append({"what": "port", "message": after.end})
        return report
    report.check("stdout", lambda: agreement.text(before.stdout, after.stdout, tolerances.stdout))
    _judge_files(before, after, tolerances, report)
    return report


def _judge_files(before: rerun.Run, after: rerun.Run, tolerances: Tolerances, report: Report) -> None:
    def counts(path: str) -> bool:
        return tolerances.for_file(path).compare != "ignore"

    for path in sorted(filter(counts, before.written - after.written)):
        report.wrong.append({"what": path, "message": "is not written"})
    for path in sorted(filter(counts, after.written - before.written)):
        report.wrong.append({"what": path, "message": "is written, and wasn't before"})
    for path in sorted(filter(counts, before.removed ^ after.removed)):
        report.wrong.append({"what": path, "message": "is removed on one side only"})
    for path in sorted(filter(counts, before.written & after.written)):
        pair = before.folder / path, after.folder / path
        report.check(path, lambda pair=pair, path=path: agreement.files(*pair, tolerances.for_file(path)))


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="tree of the original")
    parser.add_argument("after", type=Path, help="tree of the port")
    parser.add_argument("--run", required=True, help='script or notebook with its arguments, as "main.py --n 100"')
    parser.add_argument("--before-python", default=sys.executable)
    parser.add_argument("--after-python", default=sys.executable)
    parser.add_argument("--tolerances", type=Path, help="TOML file")
    parser.add_argument("--item", default="default", help="table of the TOML file")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for both runs")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds for one run")
    parser.add_argument("--json", type=Path, help="write the report there")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    args = parse_arguments(arguments)
    try:
        tolerances = read(args.tolerances, args.item) if args.tolerances else Tolerances()
    except (OSError, ToleranceError) as error:
        print(f"referee: {error}", file=sys.stderr)
        return 2
    variables = dict(pair.split("=", 1) for pair in args.env)
    words = shlex.split(args.run)
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        sides = (args.before, args.before_python), (args.after, args.after_python)
        try:
            runs = [rerun.run(tree, python, words, variables, args.timeout, Path(scratch)) for tree, python in sides]
        except OSError as error:
            print(f"referee: {error}", file=sys.stderr)
            return 2
        report = judge(runs[0], runs[1], tolerances)
    if args.json:
        args.json.write_text(json.dumps(report.as_dict(), indent=2) + "\n", encoding="utf-8")
    for problem in report.wrong + report.undecided:
        print(f"{problem['what']}: {problem['message']}")
    print(f"{report.verdict}: {len(report.compared)} outputs compared")
    return {"agree": 0, "wrong": 1, "undecided": 2}[report.verdict]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

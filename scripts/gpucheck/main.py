"""The command line of gpu-check."""

from __future__ import annotations

import argparse
import datetime
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from . import check, items, machine, table, workspace
from .items import Item
from .results import Results, ResultsError

DONE, FAILED, USAGE, INCOMPLETE = 0, 1, 2, 3
DESCRIPTION = """Run the example programs, and a folder of cases, through `gpuport apply` on this machine.

Each program is copied into a repository of its own. What is checked: the verdict is the expected one; the tree changed
if and only if a patch was accepted; an independent referee finds the port's results right; a port that ran on the CPU,
the device hidden from it, is not accepted. Results go to OUT/gpu-check.json after every item, and to OUT/gpu-check.md.
"""
EPILOG = """exit status: 0 all as expected, 1 something is wrong, 2 bad usage, 3 not everything could be run
(the budget ended, or libraries are missing): run again with --resume"""


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Options and their defaults."""
    parser = argparse.ArgumentParser(
        prog="gpu-check",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--gpuport", type=Path, required=True, help="the binary")
    parser.add_argument("--python", required=True, help="interpreter that has the libraries")
    parser.add_argument("--legacy-python", help="interpreter with NumPy 1, for legacy-stats")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these items; beginnings suffice")
    parser.add_argument("--cases", type=Path, help="folder of cases; they are run after the examples")
    parser.add_argument("--no-examples", action="store_true", help="only the cases")
    parser.add_argument("--size", choices=items.SIZES, default="gpu", help="of the examples (default: gpu)")
    parser.add_argument("--out", type=Path, default=Path("gpu-check"), help="folder for results (default: gpu-check)")
    parser.add_argument("--work", type=Path, help="folder for data and trees (default: a temporary one)")
    parser.add_argument("--merge", nargs="+", type=Path, default=[], help="results files of earlier runs")
    parser.add_argument("--resume", action="store_true", help="leave out what has a result here")
    parser.add_argument("--budget", type=float, default=float("inf"), metavar="SECONDS", help="stop after this long")
    parser.add_argument("--timeout", type=float, default=1200.0, metavar="SECONDS", help="limit of one apply")
    parser.add_argument("--option", action="append", default=[], metavar="WORDS", help="for apply: --option='--runs 3'")
    parser.add_argument("--no-hidden", action="store_true", help="leave out the check with the device hidden")
    parser.add_argument("--keep", action="store_true", help="keep the trees under WORK")
    parser.add_argument("--list", action="store_true", help="list the items and end")
    return parser.parse_args(arguments)


def chosen(args: argparse.Namespace) -> list[Item]:
    """The items that the command line asks for; raises ValueError or OSError."""
    found = [] if args.no_examples else items.examples(args.size)
    if args.cases:
        cases = items.cases(args.cases)
        if not cases:
            raise ValueError(f"{args.cases} holds no case.toml in a folder below it")
        found += cases
    return items.Selection(args.only).pick(found)


def interpreter(name: str) -> str:
    """Its full path, links kept: a virtual environment is told from its base by the link; raises ValueError."""
    found = shutil.which(name)
    if found is None:
        raise ValueError(f"{name} is no program; --python and --legacy-python take a path or a name")
    return str(Path(found).absolute())


def main(arguments: list[str]) -> int:
    """Runs the command and returns its exit status."""
    args = parse_arguments(arguments)
    try:
        todo = chosen(args)
        if args.list:
            for item in todo:
                print(f"{item.name:34s} {'/'.join(item.expect):18s} {item.workload}")
            return DONE
        gpuport = args.gpuport.resolve(strict=True)
        python, legacy = interpreter(args.python), args.legacy_python and interpreter(args.legacy_python)
        results = Results(args.out / "gpu-check.json")
        for path in args.merge:
            results.merge(path)
        environment = machine.describe(gpuport, python, legacy)
    except (OSError, ValueError, ResultsError) as error:
        print(f"gpu-check: {error}", file=sys.stderr)
        return USAGE
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as scratch:
        work = (args.work or Path(scratch)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        context = check.Context(
            gpuport=gpuport,
            python=python,
            legacy=legacy,
            work=work,
            out=args.out.resolve(),
            options=tuple(word for words in args.option for word in shlex.split(words)),
            timeout=args.timeout,
            hidden=not args.no_hidden,
            gpu=bool(environment["gpus"]),
            keep=args.keep,
        )
        complete = run_all(todo, context, results, environment, args)
    return conclude(todo, results, environment, args, arguments, complete)


def run_all(
    todo: list[Item], context: check.Context, results: Results, environment: dict[str, Any], args: argparse.Namespace
) -> bool:
    """Runs what has no result yet; says whether the budget was enough."""
    identity = machine.identity(environment)
    deadline = time.monotonic() + args.budget
    for item in todo:
        if args.resume and results.find(identity, item.name, item.digest):
            print(f"{item.name}: has a result", file=sys.stderr)
            continue
        if time.monotonic() >= deadline:
            print("gpu-check: the budget is used up", file=sys.stderr)
            return False
        print(f"{item.name}: {item.workload}", file=sys.stderr, flush=True)
        try:
            entry = run_one(item, context, deadline)
        except check.OutOfTimeError:
            print(f"gpu-check: the budget ended during {item.name}", file=sys.stderr)
            return False
        entry["environment"] = identity
        entry["at"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        results.add(entry, environment)
        print(f"{item.name}: {entry['outcome']}, {entry['assessment']}", file=sys.stderr, flush=True)
    return True


def run_one(item: Item, context: check.Context, deadline: float) -> dict[str, Any]:
    """One item's result, also where it can't be run here."""
    python = context.python
    lacking = machine.missing(python, item.needs if context.gpu or item.device == "cpu" else ())
    if item.legacy and not context.legacy:
        lacking.append("--legacy-python")
    if lacking:
        return skipped(item, f"needs {', '.join(lacking)}")
    try:
        return check.check(item, context, deadline)
    except workspace.PreparationError as error:
        return skipped(item, str(error))


def skipped(item: Item, why: str) -> dict[str, Any]:
    """A result that says why there is none."""
    return {
        "item": item.name,
        "digest": item.digest,
        "expect": list(item.expect),
        "outcome": "skipped",
        "messages": [why],
        "assessment": "undecided",
        "problems": [],
    }


def conclude(
    todo: list[Item],
    results: Results,
    environment: dict[str, Any],
    args: argparse.Namespace,
    arguments: list[str],
    complete: bool,
) -> int:
    """Prints the table, writes the page, and says how it went."""
    of_machine = results.of(machine.identity(environment))
    names = {item.name for item in todo}
    entries = [entry for entry in of_machine if entry["item"] in names]
    command = shlex.join(["scripts/gpu-check", *arguments])
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "gpu-check.md").write_text(table.markdown(environment, of_machine, command), encoding="utf-8")
    print(table.text(entries))
    print(table.totals(entries))
    for entry in entries:
        for problem in entry["problems"]:
            print(f"WRONG {entry['item']}: {problem}")
    if any(entry["assessment"] == "wrong" for entry in entries):
        return FAILED
    if not complete or any(entry["outcome"] == "skipped" for entry in entries):
        return INCOMPLETE
    return DONE

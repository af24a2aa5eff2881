"""Cases through planning alone: what `apply --dry-run --verify never` makes of each, and whether its patch is sound."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from . import items, tool, workspace
from .items import Item

DESCRIPTION = """Plan every case of a folder without running it, and print what was found beside what the case expects.

A candidate is no verdict: whether it is right and faster is for `apply` on a GPU machine. What fails here is a panic, a
patch that git doesn't take, a candidate that doesn't parse, or a tree that changed.
"""


def main(arguments: list[str]) -> int:
    """Runs the command and returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="cases", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=Path, required=True, help="folder whose subfolders hold a case.toml")
    parser.add_argument("--gpuport", type=Path, default=items.ROOT / "target" / "debug" / "gpuport")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--json", type=Path, help="write the table there as well")
    args = parser.parse_args(arguments)
    try:
        gpuport = args.gpuport.resolve(strict=True)
        todo = items.Selection(args.only).pick(items.cases(args.cases))
    except (OSError, ValueError) as error:
        print(f"cases: {error}", file=sys.stderr)
        return 2
    rows = []
    print(f"{'case':34s} {'expected':22s} {'found':26s} reasons")
    with tempfile.TemporaryDirectory(prefix="cases-") as work:
        for item in todo:
            rows.append(plan(item, gpuport, Path(work)))
            _print(rows[-1])
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    bad = [row for row in rows if row["problems"]]
    with_changes = sum(bool(row["changes"]) for row in rows)
    print(f"{len(rows)} cases: {with_changes} with a candidate, {len(bad)} with problems")
    return 1 if bad else 0


def _print(row: dict) -> None:
    found = f"{len(row['changes'])} changes in {len(row['files'])} files" if row["changes"] else "left alone"
    print(f"{row['case']:34s} {'/'.join(row['expect']):22s} {found:26s} {' '.join(row['codes'])}")
    for problem in row["problems"]:
        print(f"    {problem}")


def plan(item: Item, gpuport: Path, work: Path) -> dict:
    """One case: the report, the patch, and what is wrong with it."""
    original = workspace.prepare(item, item.small, sys.executable, work / "prepared")
    tree = work / "tree"
    vcs = workspace.copy(original, tree)
    before = workspace.digests(tree)
    words = [str(gpuport), "apply", item.entry, "--dry-run", "--verify", "never"] + ([] if vcs else ["--allow-no-vcs"])
    diff = tool.call(words, tree, {}, 120.0)
    done = tool.call([*words, "--format", "json"], tree, {}, 120.0)
    found = tool.report(done.stdout)
    problems = []
    for one in (diff, done):
        if one.status not in (0, 1):
            problems.append(f"status {one.status}: {one.stderr.decode('utf-8', 'replace').strip()[-300:]}")
    if workspace.difference(before, workspace.digests(tree)):
        problems.append("the tree changed")
    if bool(diff.stdout.strip()) != bool(found.changes):
        problems.append("the report and the diff disagree on whether there are changes")
    files = _take(diff.stdout, tree, problems) if diff.stdout.strip() else []
    return {
        "case": item.name,
        "expect": list(item.expect),
        "changes": [change.get("id") for change in found.changes],
        "files": files,
        "codes": found.codes,
        "problems": problems,
    }


def _take(diff: bytes, tree: Path, problems: list[str]) -> list[str]:
    """Applies the patch by git and parses what it changed."""
    done = subprocess.run(["git", "apply", "-"], input=diff, cwd=tree, capture_output=True)
    if done.returncode != 0:
        problems.append(f"git apply: {done.stderr.decode('utf-8', 'replace').strip()}")
        return []
    names = subprocess.run(["git", "diff", "--name-only", "-z"], cwd=tree, capture_output=True, text=True).stdout
    files = [name for name in names.split("\0") if name]
    for name in files:
        text = (tree / name).read_bytes()
        try:
            json.loads(text) if name.endswith(".ipynb") else compile(text, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            problems.append(f"the candidate doesn't parse: {error}")
    return files

"""Rewriting of whole libraries: is every candidate sound, and what does it cost beside parsing alone?"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import items, machine

DESCRIPTION = """Plan ports of whole libraries and check what comes out; measure the cost beside parsing alone.

Checked of each library: no panic; every changed file still parses; the second run on the first one's output has
nothing to change; no line is taken out and put back as it was; the diff is the same twice. Source archives come from
the package index (with unearth, in an environment of its own), unless FOLDER has them.
"""
LIBRARIES = ("scikit-learn==1.9.1", "scipy==1.17.1", "pandas==3.1.1", "networkx==3.6.1", "scikit-image==0.26.0")
DEFAULT_CACHE = items.ROOT / ".cache" / "sdists"
REPEATS = 3


@dataclass(frozen=True)
class Measured:
    """One finished process."""

    status: int
    seconds: float
    peak_mb: float
    stdout: bytes
    stderr: bytes


def measure(command: list[str], folder: Path) -> Measured:
    """Runs a command; the peak is its own, as the kernel counted it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Measured(process.returncode, seconds, usage.ru_maxrss / 1024.0, out.read(), err.read())


def fetch(cache: Path) -> list[Path]:
    """The libraries' source archives, downloaded where they are missing."""
    cache.mkdir(parents=True, exist_ok=True)
    if not archives(cache):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            python = f"{folder}/bin/python"
            subprocess.run([python, "-m", "pip", "install", "-q", "unearth"], check=True)
            for library in LIBRARIES:
                print(f"fetching {library}", file=sys.stderr)
                words = [python, "-m", "unearth", "--no-binary", "--download", str(cache), library]
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return archives(cache)


def archives(folder: Path) -> list[Path]:
    """Source archives in a folder."""
    return sorted(folder.glob("*.tar.gz"))


def unpack(archive: Path, into: Path) -> Path:
    """The archive's Python files under a folder of their own."""
    name = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as tar:
        members = [member for member in tar if member.isfile() and member.name.endswith(".py")]
        tar.extractall(into, members=members, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    root = next(into.iterdir())
    return root.rename(into.parent / name)


def check(gpuport: Path, tree: Path, scratch: Path) -> dict[str, Any]:
    """All checks on one library, and how many files and lines its candidate changes."""
    command = [str(gpuport), "apply", ".", "--dry-run", "--verify", "never", "--allow-no-vcs"]
    first, second = measure(command, tree), measure(command, tree)
    problems = []
    for run in (first, second):
        if run.status not in (0, 1) or b"panicked" in run.stderr:
            problems.append(f"status {run.status}: {run.stderr.decode('utf-8', 'replace')[-400:]}")
    if first.stdout != second.stdout:
        problems.append("two runs gave two diffs")
    port = scratch / f"{tree.name}-port"
    shutil.copytree(tree, port)
    changed = apply(first.stdout, port, problems) if first.stdout.strip() else []
    problems += [f"{name} doesn't parse: {error}" for name, error in unparsable(port, tree, changed)]
    problems += kept_lines(first.stdout)
    again = measure(command, port)
    if again.stdout.strip():
        problems.append(f"the second run changes {again.stdout.count(b'+++ ')} files of the first one's output")
    shutil.rmtree(port)
    return {"changed_files": len(changed), "diff_bytes": len(first.stdout), "problems": problems}


def apply(diff: bytes, folder: Path, problems: list[str]) -> list[str]:
    """Applies the patch by git, which takes nothing but an exact fit; returns the changed files."""
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    done = subprocess.run(["git", "apply", "-"], input=diff, cwd=folder, capture_output=True)
    if done.returncode != 0:
        problems.append(f"git apply: {done.stderr.decode('utf-8', 'replace')[:400]}")
        return []
    listed = subprocess.run(["git", "diff", "--name-only", "-z"], cwd=folder, capture_output=True, check=True)
    return [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]


def unparsable(port: Path, tree: Path, names: list[str]) -> list[tuple[str, str]]:
    """Changed files that no longer parse, of those that did."""
    found = []
    for name in names:
        with contextlib.suppress(SyntaxError, ValueError):
            compile((tree / name).read_bytes(), name, "exec", dont_inherit=True)
            try:
                compile((port / name).read_bytes(), name, "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as error:
                found.append((name, str(error)))
    return found


def kept_lines(diff: bytes) -> list[str]:
    """Runs of removed and added lines of equal length that hold an equal pair: a line rewritten as it was."""
    problems = []
    removed: list[bytes] = []
    added: list[bytes] = []
    for line in [*diff.split(b"\n"), b" "]:
        if line.startswith((b"--- ", b"+++ ", b"\\")):
            continue
        if line.startswith(b"-"):
            removed.append(line[1:])
        elif line.startswith(b"+"):
            added.append(line[1:])
        else:
            if len(removed) == len(added):
                same = [old for old, new in zip(removed, added, strict=True) if old == new]
                problems += [f"a line is rewritten as it was: {line.decode('utf-8', 'replace')}" for line in same]
            removed, added = [], []
    return problems


def cost(gpuport: Path, folder: Path, jobs: int | None) -> dict[str, float]:
    """Medians of parsing and of rewriting everything, after one run that warms the page cache."""
    threads = [] if jobs is None else ["--jobs", str(jobs)]
    apply_words = [str(gpuport), "apply", ".", "--dry-run", "--verify", "never", "--allow-no-vcs", *threads]
    parse_words = [str(gpuport), "dev", "parse", ".", *threads]
    measure(parse_words, folder)
    parses = [measure(parse_words, folder) for _ in range(REPEATS)]
    rewrites = [measure(apply_words, folder) for _ in range(REPEATS)]
    for run in parses:
        if run.status != 0:
            raise RuntimeError(
                f"dev parse ended with status {run.status}: {run.stderr.decode('utf-8', 'replace')[-400:]}"
            )
    return {
        "parse_seconds": statistics.median(run.seconds for run in parses),
        "rewrite_seconds": statistics.median(run.seconds for run in rewrites),
        "peak_mb": max(run.peak_mb for run in rewrites),
    }


def report(rows: list[dict[str, Any]], costs: dict[str, dict[str, float]], files: int, size: int) -> str:
    """Both tables, as Markdown that also reads well on a terminal."""
    lines = ["| library | files | MB | changed files | problems |", "|---|---|---|---|---|"]
    for row in rows:
        counts = f"{row['files']} | {row['bytes'] / 1e6:.1f} | {row['changed_files']} | {len(row['problems'])}"
        lines.append(f"| {row['library']} | {counts} |")
    lines += ["", f"All {files} files, {size / 1e6:.1f} MB, medians of {REPEATS} runs:", ""]
    lines += [
        "| threads | parsing, s | rewriting, s | ratio | files/s | MB/s | peak MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for threads, cost_ in costs.items():
        parse, rewrite = cost_["parse_seconds"], cost_["rewrite_seconds"]
        rates = f"{files / rewrite:.0f} | {size / 1e6 / rewrite:.1f} | {cost_['peak_mb']:.0f}"
        lines.append(f"| {threads} | {parse:.2f} | {rewrite:.2f} | {rewrite / parse:.2f} | {rates} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Runs the command and returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="bench-rewrite", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="folder of source archives")
    parser.add_argument("--gpuport", type=Path, default=items.ROOT / "target" / "release" / "gpuport")
    parser.add_argument("--out", type=Path, help="folder for rewrite.json and rewrite.md")
    parser.add_argument("--no-cost", action="store_true", help="only the checks")
    args = parser.parse_args(arguments)
    try:
        gpuport = args.gpuport.resolve(strict=True)
    except OSError as error:
        print(f"bench-rewrite: {error}; build it with cargo build --release", file=sys.stderr)
        return 2
    found = archives(args.folder) if args.folder else fetch(DEFAULT_CACHE)
    if not found:
        print(f"bench-rewrite: {args.folder} holds no .tar.gz", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="bench-rewrite-") as scratch:
        rows, costs = run(gpuport, found, Path(scratch), not args.no_cost)
    files, size = sum(row["files"] for row in rows), sum(row["bytes"] for row in rows)
    page = report(rows, costs, files, size)
    print(page, end="")
    for row in rows:
        for problem in row["problems"]:
            print(f"WRONG {row['library']}: {problem}")
    if args.out:
        write(args.out, gpuport, rows, costs, page)
    return 1 if any(row["problems"] for row in rows) else 0


def run(gpuport: Path, found: list[Path], scratch: Path, with_cost: bool) -> tuple[list[dict], dict[str, dict]]:
    """Checks library by library, then the cost of all together."""
    corpus = scratch / "corpus"
    corpus.mkdir()
    rows = []
    for archive in found:
        tree = unpack(archive, Path(tempfile.mkdtemp(dir=corpus)))
        sources = list(tree.rglob("*.py"))
        print(f"{tree.name}: {len(sources)} files", file=sys.stderr)
        size = sum(path.stat().st_size for path in sources)
        rows.append({"library": tree.name, "files": len(sources), "bytes": size} | check(gpuport, tree, scratch))
    for empty in (path for path in corpus.iterdir() if not any(path.iterdir())):
        empty.rmdir()
    return rows, {"1": cost(gpuport, corpus, 1), "all": cost(gpuport, corpus, None)} if with_cost else {}


def write(folder: Path, gpuport: Path, rows: list[dict], costs: dict[str, dict], page: str) -> None:
    """The tables with the machine they were made on."""
    folder.mkdir(parents=True, exist_ok=True)
    where = {"cpu": machine.processor(), "cores": os.cpu_count(), "gpuport": machine.version(gpuport)}
    table = {"schema": "gpuport/bench-rewrite/1", **where, "libraries": rows, "cost": costs}
    (folder / "rewrite.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    head = f"# Rewriting whole libraries\n\n{where['cpu']}, {where['cores']} cores; {where['gpuport']}.\n\n"
    (folder / "rewrite.md").write_text(head + page, encoding="utf-8")

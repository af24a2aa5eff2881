"""One item: apply, look at the tree, ask the referee, hide the device."""

from __future__ import annotations

import difflib
import json
import shlex
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import items, tool, workspace
from .items import Item, Size

REFEREE = items.ROOT / "tests" / "referee" / "referee.py"
TOLERANCES = items.ROOT / "tests" / "referee" / "tolerances.toml"
# Copying, starting up, and gpuport's own work beside the runs it times.
GRACE_SECONDS = 60.0
# Any of these figures of the report, above 0, says that the device was used.
SIGNS_OF_ACTIVITY = ("kernels", "busy_seconds", "bytes_to_device", "peak_bytes")


@dataclass(frozen=True)
class Context:
    """What is the same for all items."""

    gpuport: Path
    python: str
    legacy: str | None
    work: Path
    out: Path
    options: tuple[str, ...]
    timeout: float
    hidden: bool
    gpu: bool
    keep: bool


class OutOfTimeError(Exception):
    """The budget ended before the item did."""


def check(item: Item, context: Context, deadline: float) -> dict[str, Any]:
    """Everything about one item; raises OutOfTimeError where the deadline (monotonic seconds) was what stopped it."""
    original = workspace.prepare(item, item.size, context.python, context.work / "prepared")
    tree = context.work / "trees" / item.name
    done, found, changed = _apply(item, item.size, original, tree, context, _limit(context, deadline))
    if done.status is None and time.monotonic() >= deadline:
        raise OutOfTimeError
    result = _summary(item, done, found, changed)
    _keep_output(item.name, done, context.out)
    if result["applied"]:
        _keep_patch(item.name, original, tree, changed, context.out)
        result["referee"] = _referee(item, item.size, original, tree, context, deadline)
    if result["applied"] and context.hidden and item.device == "cuda":
        result["hidden"] = _hidden(item, context, deadline)
    result["assessment"], result["problems"] = assess(item, result, context.gpu)
    if not context.keep:
        shutil.rmtree(tree, ignore_errors=True)
    return result


def _limit(context: Context, deadline: float) -> float:
    return max(1.0, min(context.timeout, deadline - time.monotonic()))


def command(item: Item, size: Size, context: Context, vcs: bool) -> list[str]:
    """The gpuport command for an item at a size."""
    words = [str(context.gpuport), "apply", item.entry, "--format", "json", "--python", context.python]
    if size.arguments and not size.configured:
        words += ["--workload", items.workload(item.entry, size)]
    for name in item.passes:
        words += ["--pass", name]
    if item.legacy and context.legacy:
        words += ["--before-python", context.legacy]
    if not vcs:
        words.append("--allow-no-vcs")
    return [*words, *size.options, *context.options]


def _apply(
    item: Item, size: Size, original: Path, tree: Path, context: Context, timeout: float
) -> tuple[tool.Call, tool.Report, list[str]]:
    vcs = workspace.copy(original, tree)
    before = workspace.digests(tree)
    done = tool.call(command(item, size, context, vcs), tree, dict(size.variables), timeout)
    return done, tool.report(done.stdout), workspace.difference(before, workspace.digests(tree))


def _summary(item: Item, done: tool.Call, found: tool.Report, changed: list[str]) -> dict[str, Any]:
    return {
        "item": item.name,
        "digest": item.digest,
        "expect": list(item.expect),
        "command": shlex.join(done.command),
        "variables": dict(item.size.variables),
        "data": list(item.size.data),
        "status": done.status,
        "seconds": round(done.seconds, 2),
        "outcome": tool.outcome(done, found),
        "applied": found.applied or bool(changed),
        "reported_applied": found.applied,
        "changed": changed,
        "timing": found.first("timing"),
        "gpu": found.first("gpu"),
        "limited_by": found.limited_by,
        "codes": found.codes,
        "messages": found.messages[:20],
        "changes": [{"id": c.get("id"), "verdict": c.get("verdict")} for c in found.changes],
        "run": found.raw.get("run"),
        "patch_sha256": found.raw.get("patch_sha256"),
    }


def _keep_output(name: str, done: tool.Call, out: Path) -> None:
    folder = out / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_bytes(done.stdout)
    (folder / f"{name}.log").write_bytes(done.stderr)


def _keep_patch(name: str, original: Path, tree: Path, changed: list[str], out: Path) -> None:
    """What was written, as a diff beside the reports."""
    text = b""
    for path in changed:
        sides = [
            (folder / path).read_bytes().splitlines(True) if (folder / path).exists() else []
            for folder in (original, tree)
        ]
        names = f"a/{path}".encode(), f"b/{path}".encode()
        text += b"".join(difflib.diff_bytes(difflib.unified_diff, *sides, *names))
    (out / "patches").mkdir(parents=True, exist_ok=True)
    (out / "patches" / f"{name}.diff").write_bytes(text)


def _referee(item: Item, size: Size, original: Path, tree: Path, context: Context, deadline: float) -> dict[str, Any]:
    report = context.work / f"{item.name}.referee.json"
    report.unlink(missing_ok=True)
    words = [context.python, str(REFEREE), str(original), str(tree), "--after-python", context.python]
    words += ["--before-python", context.legacy if item.legacy and context.legacy else context.python]
    words += ["--run", f"{item.entry} {size.arguments}".strip(), "--json", str(report)]
    words += ["--tolerances", str(TOLERANCES), "--item", item.name]
    for name, value in size.variables:
        words += ["--env", f"{name}={value}"]
    done = tool.call(words, context.work, {}, 2 * _limit(context, deadline) + GRACE_SECONDS)
    if not report.exists():
        return {"verdict": "undecided", "undecided": [{"what": "referee", "message": _last_line(done.stderr)}]}
    return json.loads(report.read_text(encoding="utf-8"))


def _last_line(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def _hidden(item: Item, context: Context, deadline: float) -> dict[str, Any]:
    """The same at a small size, without a speed threshold, on a machine that seems to have no device."""
    wrapper = context.work / "python-without-device"
    wrapper.write_text(f'#!/bin/sh\nCUDA_VISIBLE_DEVICES= exec {shlex.quote(context.python)} "$@"\n')
    wrapper.chmod(0o755)
    options = (*context.options, "--min-speedup", "0")
    blind_programs = replace(context, python=str(wrapper), options=options)
    blind_tool = replace(context, options=options)
    return {
        "from_programs": _hide(item, blind_programs, {}, deadline),
        "from_all": _hide(item, blind_tool, {"CUDA_VISIBLE_DEVICES": ""}, deadline),
    }


def _hide(item: Item, context: Context, variables: dict[str, str], deadline: float) -> dict[str, Any]:
    original = workspace.prepare(item, item.small, context.python, context.work / "prepared")
    tree = context.work / "trees" / f"{item.name}-hidden"
    size = replace(item.small, variables=(*item.small.variables, *variables.items()))
    done, found, changed = _apply(item, size, original, tree, context, _limit(context, deadline))
    if not context.keep:
        shutil.rmtree(tree, ignore_errors=True)
    return {
        "command": shlex.join(done.command),
        "variables": variables,
        "status": done.status,
        "outcome": tool.outcome(done, found),
        "applied": found.applied or bool(changed),
        "codes": found.codes,
        "messages": found.messages[:5],
    }


def assess(item: Item, result: dict[str, Any], gpu: bool) -> tuple[str, list[str]]:
    """as expected, missed (kept, though it could be ported), undecided or wrong; and what is wrong."""
    problems = _problems(item, result, gpu)
    if problems:
        return "wrong", problems
    outcome = result["outcome"]
    if outcome == "unable" or (item.device == "cuda" and not gpu):
        return "undecided", []
    if outcome in ("accepted", "partial"):
        return "as expected", []
    if "kept" in item.expect:
        return "as expected", []
    if item.strict:
        return "wrong", [f"{' or '.join(item.expect)} was expected, found {outcome}"]
    return "missed", []


def _problems(item: Item, result: dict[str, Any], gpu: bool) -> list[str]:
    """What must never happen, whatever is expected."""
    outcome, problems = result["outcome"], []
    if outcome in ("crash", "usage error", "no report", "timeout"):
        problems.append(f"gpuport ended with {outcome}")
    if result["reported_applied"] != bool(result["changed"]):
        problems.append("the tree changed without an accepted patch" if result["changed"] else "nothing was written")
    if outcome in ("accepted", "partial"):
        problems += _problems_of_port(item, result, gpu)
    elif item.limited and gpu and not (result["limited_by"] or result["codes"]):
        problems.append("kept without a limiting factor or a reason")
    return problems


def _problems_of_port(item: Item, result: dict[str, Any], gpu: bool) -> list[str]:
    problems = []
    referee = result.get("referee", {"verdict": "undecided"})
    if referee["verdict"] != "agree":
        problems.append(f"accepted, and the referee finds the results {referee['verdict']}")
    if not {"accepted", "partial"} & set(item.expect):
        problems.append("accepted, though it should be kept")
    if item.device == "cuda" and not gpu:
        problems.append("accepted on a machine without a GPU")
    if item.device == "cuda" and not any((result["gpu"] or {}).get(sign) for sign in SIGNS_OF_ACTIVITY):
        problems.append("accepted without GPU activity")
    for whom, hidden in result.get("hidden", {}).items():
        if hidden["applied"]:
            problems.append(f"accepted, though the device was hidden {whom.replace('_', ' ')}")
    timing = result["timing"] or {}
    if item.device == "cuda" and not timing.get("speedup_low", 0.0) > 1.0:
        problems.append("accepted without being faster")
    return problems

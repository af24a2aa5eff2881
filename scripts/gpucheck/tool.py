"""Starts gpuport and reads its report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What each exit status of gpuport stands for.
STATUS_UNABLE = 3
STATUS_USAGE = 2


@dataclass(frozen=True)
class Call:
    """One finished command."""

    command: list[str]
    status: int | None
    """None: stopped when its time was up. Negative: ended by a signal."""
    seconds: float
    stdout: bytes
    stderr: bytes


def call(command: list[str], folder: Path, variables: dict[str, str], timeout: float) -> Call:
    """Runs a command in a session of its own, so that its children end with it when its time is up."""
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout)
        status: int | None = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        status = None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return Call(command, status, time.monotonic() - started, stdout, stderr)


@dataclass
class Report:
    """What gpuport's JSON report says, as far as it could be read."""

    readable: bool = False
    applied: bool = False
    units: list[dict[str, Any]] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> list[dict[str, Any]]:
        """All changes of all units."""
        return [change for unit in self.units for change in _dicts(unit.get("changes"))]

    @property
    def verdicts(self) -> list[str]:
        """Verdicts of the units that had changes."""
        return [str(unit.get("verdict")) for unit in self.units if _dicts(unit.get("changes"))]

    @property
    def codes(self) -> list[str]:
        """Reason codes of everything that wasn't ported or accepted, each once, most frequent first."""
        entries = (
            entry
            for holder in [*self.units, *self.changes]
            for key in ("findings", "left")
            for entry in _dicts(holder.get(key))
        )
        found = [entry.get("code") for entry in entries]
        codes = [code for code in found if isinstance(code, str)]
        return sorted(set(codes), key=lambda code: (-codes.count(code), code))

    @property
    def messages(self) -> list[str]:
        """The sentences of the findings."""
        holders = [*self.units, *self.changes]
        return [str(entry.get("message")) for holder in holders for entry in _dicts(holder.get("findings"))]

    @property
    def limited_by(self) -> list[str]:
        """Limiting factors of the units."""
        return sorted({str(unit["limited_by"]) for unit in self.units if unit.get("limited_by")})

    def first(self, key: str) -> dict[str, Any] | None:
        """`timing` or `gpu` of the first unit that has it."""
        return next((unit[key] for unit in self.units if isinstance(unit.get(key), dict)), None)


def report(stdout: bytes) -> Report:
    """Reads standard output of `--format json`; what isn't as documented is left out."""
    try:
        raw = json.loads(stdout.decode("utf-8", "replace"))
    except ValueError:
        return Report()
    if not isinstance(raw, dict):
        return Report()
    return Report(True, raw.get("tree") == "applied", _dicts(raw.get("units")), raw)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def outcome(done: Call, found: Report) -> str:
    """What came of an `apply`, in one word."""
    if done.status is None:
        return "timeout"
    if done.status < 0 or b"panicked at" in done.stderr or b"RUST_BACKTRACE" in done.stderr:
        return "crash"
    if done.status == STATUS_USAGE:
        return "usage error"
    if not found.readable:
        return "unable" if done.status == STATUS_UNABLE else "no report"
    if found.applied:
        verdicts = [str(change.get("verdict")) for change in found.changes]
        left = any(_dicts(unit.get("left")) for unit in found.units)
        return "partial" if left or any(verdict != "accepted" for verdict in verdicts) else "accepted"
    if done.status == STATUS_UNABLE:
        return "unable"
    if not found.changes:
        return "left alone"
    worst = ("rejected", "inconclusive", "unverified")
    return next((verdict for verdict in worst if verdict in found.verdicts), "left alone")

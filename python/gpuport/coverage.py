"""Which changed lines run: by `sys.monitoring` where Python has it, else by a trace function."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable

TOOL_NAME = "gpuport"


class Watched:
    """One changed file: the lines of interest, and those seen."""

    def __init__(self, path: str, ranges: list) -> None:
        self.path = path
        self.ranges = [(int(first), int(last)) for first, last in ranges]
        self.seen: set[int] = set()

    def wanted(self, line: int) -> bool:
        """Whether a line is of interest."""
        return any(first <= line <= last for first, last in self.ranges)


def start(job, outcome) -> list[Callable[[], None]]:
    """Starts watching; returns what reports at the end."""
    files = {
        os.path.realpath(os.path.join(job.root, changed["path"])): Watched(changed["path"], changed.get("lines", []))
        for changed in job.changed_files
    }
    finder = Finder(files)
    monitoring = getattr(sys, "monitoring", None)
    stop = by_monitoring(monitoring, finder) if monitoring is not None else by_tracing(finder)

    def report() -> None:
        stop()
        for real, watched in files.items():
            executable = {line for line in executable_lines(real) if watched.wanted(line)}
            outcome.covered.append(
                {
                    "path": watched.path,
                    "executable": sorted(executable),
                    "executed": sorted(line for line in watched.seen if watched.wanted(line)),
                }
            )

    return [report]


class Finder:
    """Finds the watched file of a code object; each file name is resolved once."""

    def __init__(self, files: dict[str, Watched]) -> None:
        self._files = files
        self._known: dict[str, Watched | None] = {}

    def of(self, name: str) -> Watched | None:
        """The watched file that a code object's file name stands for."""
        if name not in self._known:
            self._known[name] = self._files.get(os.path.realpath(name))
        return self._known[name]


def by_monitoring(monitoring, finder: Finder) -> Callable[[], None]:
    """Notes each line once; afterwards the line costs nothing."""
    tool = next((number for number in range(6) if monitoring.get_tool(number) is None), None)
    if tool is None:
        return by_tracing(finder)
    monitoring.use_tool_id(tool, TOOL_NAME)

    def on_line(code, line):
        watched = finder.of(code.co_filename)
        if watched is not None:
            watched.seen.add(line)
        return monitoring.DISABLE

    monitoring.register_callback(tool, monitoring.events.LINE, on_line)
    monitoring.set_events(tool, monitoring.events.LINE)

    def stop() -> None:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)

    return stop


def by_tracing(finder: Finder) -> Callable[[], None]:
    """Traces lines in watched files alone, in every thread."""
    import threading

    def on_call(frame, event, _argument):
        watched = finder.of(frame.f_code.co_filename)
        if watched is None:
            return None
        seen = watched.seen

        def on_line(frame, event, _argument):
            if event == "line":
                seen.add(frame.f_lineno)
            return on_line

        return on_line

    threading.settrace(on_call)
    sys.settrace(on_call)

    def stop() -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    return stop


def executable_lines(file: str) -> set[int]:
    """The lines on which some code of a file can run."""
    try:
        with open(file, "rb") as stream:
            code = compile(stream.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return set()
    lines: set[int] = set()
    pending = [code]
    while pending:
        code = pending.pop()
        lines.update(line for _, _, line in code.co_lines() if line)
        pending.extend(item for item in code.co_consts if isinstance(item, types.CodeType))
    return lines

"""One job from its file to its outcome."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator

from . import calls, program
from .marks import Marks, device_name, synchronize
from .outcome import Outcome
from .program import Ending, NotRun


class Job:
    """The judge's instructions, as parsed from `job.json`; unknown keys are the judge's business."""

    def __init__(self, text: str) -> None:
        data = json.loads(text)
        if data.get("schema") != "gpuport/job/1":
            raise ValueError(f"job schema {data.get('schema')!r} is not gpuport/job/1")
        self.mode: str = data["mode"]
        self.workload: dict = data["workload"]
        self.root: str = data["root"]
        self.capture_dir: str | None = data.get("capture_dir")
        self.inputs_dir: str | None = data.get("inputs_dir")
        self.input_sets: int = data.get("input_sets", 1)
        self.outcome_path: str = data["outcome_path"]
        self.phase_fd: int = data.get("phase_fd", -1)
        self.changed_files: list[dict] = data.get("changed_files", [])
        self.libraries: list[str] = data.get("libraries", [])
        self.arrays: str = data.get("arrays", "host")
        self.warmup: int = data.get("warmup", 0)
        self.runs: int = data.get("runs", 1)


def main(job_path: str) -> None:
    """Runs the job and ends the process as the program would have ended."""
    with open(job_path, encoding="utf-8") as stream:
        job = Job(stream.read())
    marks = Marks(job.phase_fd)
    outcome = Outcome(job)
    # Registered first, so done last, when the program's own exit handlers have run.
    last: list[int] = []
    atexit.register(end_by_signal, last)
    pid = os.getpid()
    observer = observe(job, outcome)
    results = calls.Results()
    try:
        start = prepare(job, marks, results, outcome)
    except NotRun as error:
        ending = Ending(end="not-run", status=1, exception=error)
    else:
        marks.mark("program-begin")
        ending = program.run(start)
    if os.getpid() != pid:
        # A forked child that ran off the program's end: only its parent speaks for the run.
        sys.exit(ending.status)
    problem = synchronize()
    marks.mark("program-end")
    if problem:
        outcome.notes.append(problem)
    for finish in observer:
        guarded(outcome, finish)
    if job.capture_dir is not None and job.mode in ("capture", "time") and ending.end != "not-run":
        guarded(outcome, lambda: write_capture(job, ending, results, outcome))
    outcome.device = device_name()
    outcome.write(ending)
    marks.mark("captured")
    if ending.signal is not None:
        last.append(ending.signal)
    sys.exit(ending.status)


def prepare(job: Job, marks: Marks, results: calls.Results, outcome: Outcome) -> Callable:
    """What starts the workload."""
    work = job.workload
    kind = work.get("kind")
    if job.mode == "inputs":
        from . import inputs

        return lambda: inputs.make_all(job.root, work, job.inputs_dir, job.input_sets)
    if kind == "script":
        return program.prepare_script(job.root, work["path"], work.get("arguments", []))
    if kind == "module":
        return program.prepare_module(job.root, work["name"], work.get("arguments", []))
    if kind == "function":
        return calls.prepare(job, marks, results, outcome)
    raise NotRun(f"this worker can't run a workload of kind {kind}")


def observe(job: Job, outcome: Outcome) -> list[Callable[[], None]]:
    """Starts what the mode asks for; returns what is to be done when the program has ended."""
    if job.mode == "activity":
        from . import activity

        return activity.start(job, outcome)
    if job.mode == "coverage":
        from . import coverage

        return coverage.start(job, outcome)
    return []


def guarded(outcome: Outcome, action: Callable[[], None]) -> None:
    """Does something for the judge; what fails is a note, never the program's failure."""
    try:
        action()
    except Exception as error:
        outcome.notes.append(f"{type(error).__name__}: {error}")


def write_capture(job: Job, ending: Ending, results: calls.Results, outcome: Outcome) -> None:
    """Writes the capture of globals or calls."""
    from .capture import Capture

    capture = results.capture if results.capture is not None else Capture(job.capture_dir, job.root)
    with silenced():
        if job.workload.get("kind") != "function":
            capture.globals(ending.namespace)
        capture.write()
    outcome.not_compared.extend(capture.not_compared)


def end_by_signal(last: list[int]) -> None:
    """Ends the process by the signal that ended the program, as the interpreter does after a keyboard interrupt."""
    if last:
        flush()
        signal.signal(last[0], signal.SIG_DFL)
        os.kill(os.getpid(), last[0])


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Keeps what libraries print while they are asked for values out of the program's output."""
    flush()
    try:
        kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def flush() -> None:
    """Flushes the standard streams, as far as the program left them usable."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()

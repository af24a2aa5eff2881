"""What happens on the device in one run: counters by CUPTI or by the libraries, and each accelerator's own report.

Profilers are started when the program imports their library, so that nothing is imported earlier, or in another
order, than the program does it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable

from . import cupti


def start(job, outcome) -> list[Callable[[], None]]:
    """Starts counting; returns what reads the counters at the end."""
    watch = ImportWatch(outcome)
    memory = CupyMemory()
    recorder = cupti.Recorder()
    try:
        recorder.start()
    except cupti.Unavailable as error:
        outcome.notes.append(f"device activity is not traced: {error}")
        recorder = None
    frames, models, graphs = FrameCalls(), ModelCalls(), GraphCalls()
    watch.when_imported("cupy", memory.start)
    watch.when_imported("cudf.pandas", frames.start)
    watch.when_imported("cuml.accel.profilers", models.start)
    watch.when_imported("networkx", graphs.start)
    watch.install()

    def counters() -> None:
        if recorder is not None:
            recorder.stop()
            if recorder.problem:
                outcome.notes.append(f"device activity is incomplete: {recorder.problem}")
            outcome.activity = recorder.counts(memory.peak_bytes)
        else:
            outcome.activity = {"source": "library", "peak_bytes": memory.peak_bytes}

    def reader(name: str, calls) -> Callable[[], None]:
        def read() -> None:
            found = calls.stop()
            if found is not None:
                outcome.accelerators[name] = found

        return read

    return [
        reader("cudf.pandas", frames),
        counters,
        memory.stop,
        reader("cuml.accel", models),
        reader("nx_cugraph", graphs),
        watch.remove,
    ]


class ImportWatch:
    """Calls back right after a module has been imported."""

    def __init__(self, outcome) -> None:
        self._outcome = outcome
        self._wanted: dict[str, Callable] = {}
        self._searching = False

    def when_imported(self, name: str, action: Callable) -> None:
        """Has `action(module)` called once the module is there."""
        self._wanted[name] = action

    def install(self) -> None:
        """Begins to watch."""
        for name in list(self._wanted):
            if name in sys.modules:
                self._act(name, sys.modules[name])
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Ends watching."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name, path=None, target=None):
        """Finds wanted modules like everybody else, and has the end of their loading told."""
        if name not in self._wanted or self._searching:
            return None
        self._searching = True
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        finally:
            self._searching = False
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module) -> None:
            load(module)
            self._act(name, module)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            self._outcome.notes.append(f"{name}: profiler unavailable: its loader can't be watched")
        return spec

    def _act(self, name: str, module) -> None:
        action = self._wanted.pop(name, None)
        if action is None:
            return
        try:
            action(module)
        except Exception as error:  # a profiler that other versions lack must not stop the program
            self._outcome.notes.append(f"{name}: profiler unavailable: {type(error).__name__}: {error}")


class CupyMemory:
    """The most that CuPy's pool held."""

    def __init__(self) -> None:
        self.peak_bytes: int | None = None
        self._hook = None

    def start(self, cupy) -> None:
        """Watches the pool's own allocations, of which there are few."""
        pool = cupy.get_default_memory_pool()
        memory = self

        class Hook(cupy.cuda.memory_hook.MemoryHook):
            name = "gpuport"

            def alloc_postprocess(self, **_facts) -> None:
                memory.peak_bytes = max(memory.peak_bytes or 0, pool.total_bytes())

        self._hook = Hook()
        self._hook.__enter__()

    def stop(self) -> None:
        """Ends watching."""
        if self._hook is not None:
            self._hook.__exit__(None, None, None)
            self._hook = None


class FrameCalls:
    """Calls by function under cudf.pandas, from its own profiler."""

    def __init__(self) -> None:
        self._profiler = None

    def start(self, accelerator) -> None:
        """Starts the profiler. It traces, which slows the program: never in a timed run."""
        profiler = accelerator.Profiler()
        profiler.__enter__()
        self._profiler = profiler

    def stop(self) -> dict | None:
        """The counts."""
        if self._profiler is None:
            return None
        self._profiler.__exit__(None, None, None)
        found = {}
        for name, times in self._profiler.per_function_stats.items():
            gpu, cpu = list(times.get("gpu", ())), list(times.get("cpu", ()))
            found[str(name)] = calls(len(gpu), len(cpu), sum(gpu), sum(cpu))
        return found


class ModelCalls:
    """Calls by method under cuml.accel, from its own profiler."""

    def __init__(self) -> None:
        self._results = None

    def start(self, profilers) -> None:
        """Registers a collection, as its context manager does, but without printing."""
        results = profilers.ProfileResults()
        profilers._CALLBACKS.append(results)
        self._results = results

    def stop(self) -> dict | None:
        """The counts."""
        if self._results is None:
            return None
        return {
            str(name): calls(
                getattr(stats, "gpu_calls", 0),
                getattr(stats, "cpu_calls", 0),
                getattr(stats, "gpu_time", 0.0),
                getattr(stats, "cpu_time", 0.0),
            )
            for name, stats in self._results.method_calls.items()
        }


class GraphCalls:
    """Calls by function that NetworkX dispatched to a backend, from what it logs."""

    USED = "Using backend '%s' for call to '%s'"
    REFUSED = ("Backend '%s' does not implement '%s'", "Backend '%s' can't run", "Backend '%s' raised when calling")

    def __init__(self) -> None:
        self._counts: dict[str, dict] = {}
        self._logger = None
        self._level = 0

    def start(self, _networkx) -> None:
        """Listens. What the program would not have seen in its log, it still doesn't see."""
        import logging

        self._logger = logging.getLogger("networkx")
        self._level = self._logger.level
        shown_from = self._logger.getEffectiveLevel()
        self._logger.addFilter(lambda record: self._listen(record) or record.levelno >= shown_from)
        self._logger.setLevel(logging.DEBUG)

    def _listen(self, record) -> bool:
        """Counts; never lets a record pass by itself."""
        message, args = str(record.msg), record.args
        if isinstance(args, tuple) and len(args) >= 2 and args[0] != "networkx":
            if message.startswith(self.USED):
                self._of(args[1])["gpu"] += 1
            elif message.startswith(self.REFUSED):
                self._of(args[1])["cpu"] += 1
        return False

    def _of(self, function: object) -> dict:
        return self._counts.setdefault(str(function), calls(0, 0, 0.0, 0.0))

    def stop(self) -> dict | None:
        """The counts, if anything was dispatched."""
        if self._logger is not None:
            self._logger.setLevel(self._level)
        return self._counts or None


def calls(gpu: int, cpu: int, gpu_seconds: float, cpu_seconds: float) -> dict:
    """Counts of one function."""
    return {
        "gpu": int(gpu),
        "cpu": int(cpu),
        "gpu_seconds": float(gpu_seconds),
        "cpu_seconds": float(cpu_seconds),
    }

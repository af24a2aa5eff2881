"""Inputs, observers and the small parts of the worker."""

from __future__ import annotations

import array
import ctypes
import logging
import os
import struct
import sys
import tempfile
import textwrap
import types
import unittest
from pathlib import Path

from gpuport import activity, calls, coverage, cupti, inputs, marks, outcome, program


class Temporary(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class InputsTest(Temporary):
    def test_a_set_comes_back_fresh_each_time(self) -> None:
        shared = [1.0, 2.0]
        inputs.save(str(self.folder), 3, ((shared, shared), {"k": "v"}))
        first, _ = inputs.load(str(self.folder), 3)
        second, kwargs = inputs.load(str(self.folder), 3)
        first[0].append(3.0)
        self.assertEqual((second, kwargs), (([1.0, 2.0], [1.0, 2.0]), {"k": "v"}))
        self.assertIs(first[0], first[1])

    def test_arrays_are_kept_beside_the_pickle(self) -> None:
        try:
            import numpy as np
        except ImportError:
            self.skipTest("numpy is not installed")
        shared = np.arange(5)
        inputs.save(str(self.folder), 0, ((shared, {"again": shared}), {}))
        self.assertNotIn(b"numpy", (self.folder / "set-000.pkl").read_bytes())
        (one, other), _ = inputs.load(str(self.folder), 0)
        self.assertIs(one, other["again"])
        self.assertEqual(one.tolist(), shared.tolist())

    def test_what_cannot_be_saved_or_loaded_says_so(self) -> None:
        with self.assertRaisesRegex(program.NotRun, "can't be saved"):
            inputs.save(str(self.folder), 0, ((lambda: 0,), {}))
        with self.assertRaisesRegex(program.NotRun, "can't be loaded"):
            inputs.load(str(self.folder), 9)

    def test_scales_are_what_python_means(self) -> None:
        for text, expected in [("10", 10), ("1e3", 1000.0), ("'a'", "a"), ("large", "large"), ("(1, 2)", (1, 2))]:
            self.assertEqual(inputs.scale_value(text), expected)


class OutcomeTest(Temporary):
    def test_files_have_the_names_they_may_be_imported_by(self) -> None:
        self.assertEqual(outcome.dotted_names("src/pkg/mod.py"), ["src.pkg.mod", "pkg.mod", "mod"])
        self.assertEqual(outcome.dotted_names("pkg/__init__.py"), ["pkg"])

    def test_a_module_from_elsewhere_is_told(self) -> None:
        elsewhere = types.ModuleType("pkg_elsewhere")
        elsewhere.__file__ = str(self.folder / "installed" / "pkg_elsewhere.py")
        sys.modules["pkg_elsewhere"] = elsewhere
        self.addCleanup(sys.modules.pop, "pkg_elsewhere")
        found = outcome.loaded_modules(str(self.folder / "copy"), [{"path": "pkg_elsewhere.py"}, {"path": "absent.py"}])
        self.assertEqual([(m["path"], m["file"]) for m in found], [("pkg_elsewhere.py", elsewhere.__file__)])

    def test_an_exception_is_plain_data(self) -> None:
        class Odd(ImportError):
            def __str__(self) -> str:
                raise RuntimeError

        told = outcome.raised(Odd(name="cupy"), str(self.folder))
        self.assertEqual((told["module"], told["bases"][0]), ("cupy", "builtins.ImportError"))
        self.assertIsNone(outcome.raised(None, "."))


class ProgramTest(unittest.TestCase):
    def test_statuses(self) -> None:
        for code, expected in [(None, 0), (3, 3), (256, 0), (-1, 255), (True, 1)]:
            self.assertEqual(program.exit_status(SystemExit(code)), expected)


class MarksTest(unittest.TestCase):
    def test_a_closed_pipe_does_not_stop_a_program(self) -> None:
        reader, writer = os.pipe()
        pipe = marks.Marks(writer)
        pipe.mark("call-begin", 3)
        self.assertEqual(os.read(reader, 100), b"call-begin 3\n")
        os.close(reader)
        os.close(writer)
        pipe.mark("call-end", 3)
        pipe.mark("captured")

    def test_without_a_device_there_is_nothing_to_wait_for(self) -> None:
        self.assertIsNone(marks.synchronize())


class CallsTest(unittest.TestCase):
    def test_only_plain_containers_are_looked_into(self) -> None:
        changed = calls._mapped(([1], {"a": (2,)}, "x"), lambda value: value * 2)
        self.assertEqual(changed, ([2], {"a": (4,)}, "xx"))


class CoverageTest(Temporary):
    def watch(self, text: str, lines: list) -> dict:
        """What is told of a program."""
        path = self.folder / "program.py"
        path.write_text(textwrap.dedent(text))
        job = types.SimpleNamespace(root=str(self.folder), changed_files=[{"path": "program.py", "lines": lines}])
        told = types.SimpleNamespace(covered=[], notes=[])
        tracer = sys.gettrace()
        finish = coverage.start(job, told)
        try:
            exec(compile(path.read_text(), str(path), "exec"), {})
        finally:
            for step in finish:
                step()
            sys.settrace(tracer)
        return told.covered[0]

    def test_lines_that_ran_are_told_from_those_that_did_not(self) -> None:
        text = """\
        def f(x):
            if x:
                return 1
            return 2
        f(False)
        # a comment
        """
        covered = self.watch(text, [[1, 9]])
        self.assertEqual(covered["executable"], [1, 2, 3, 4, 5])
        self.assertEqual(covered["executed"], [1, 2, 4, 5])
        self.assertEqual(self.watch(text, [[3, 3]])["executed"], [])

    def test_threads_are_watched(self) -> None:
        text = """\
        import threading
        def f():
            return 1
        t = threading.Thread(target=f)
        t.start(); t.join()
        """
        self.assertIn(3, self.watch(text, [[3, 3]])["executed"])


class ActivityTest(Temporary):
    def job(self):
        return types.SimpleNamespace(libraries=[]), types.SimpleNamespace(notes=[], activity=None, accelerators={})

    def module(self, name: str, text: str) -> None:
        """A module that the test may import."""
        parts = name.split(".")
        folder = self.folder.joinpath(*parts[:-1])
        folder.mkdir(parents=True, exist_ok=True)
        for depth in range(1, len(parts)):
            (self.folder.joinpath(*parts[:depth]) / "__init__.py").touch()
        (folder / f"{parts[-1]}.py").write_text(textwrap.dedent(text))
        for loaded in [m for m in sys.modules if m == parts[0] or m.startswith(parts[0] + ".")]:
            self.addCleanup(sys.modules.__setitem__, loaded, sys.modules.pop(loaded))
        self.addCleanup(lambda: [sys.modules.pop(m) for m in list(sys.modules) if m.partition(".")[0] == parts[0]])
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))

    def test_profilers_start_when_their_library_is_imported(self) -> None:
        self.module(
            "cuml.accel.profilers",
            """\
            _CALLBACKS = []
            class Stats:
                gpu_calls, cpu_calls, gpu_time, cpu_time = 3, 1, 0.5, 0.25
            class ProfileResults:
                def __init__(self):
                    self.method_calls = {"Ridge.fit": Stats()}
            """,
        )
        job, told = self.job()
        finish = activity.start(job, told)
        import cuml.accel.profilers as profilers

        self.assertEqual(len(profilers._CALLBACKS), 1)
        for step in finish:
            step()
        self.assertEqual(
            told.accelerators["cuml.accel"],
            {"Ridge.fit": {"gpu": 3, "cpu": 1, "gpu_seconds": 0.5, "cpu_seconds": 0.25}},
        )
        self.assertFalse(any(isinstance(finder, activity.ImportWatch) for finder in sys.meta_path))

    def test_a_profiler_that_is_not_there_is_a_note(self) -> None:
        self.module("cuml.accel.profilers", "")
        job, told = self.job()
        finish = activity.start(job, told)
        import cuml.accel.profilers  # noqa: F401

        for step in finish:
            step()
        self.assertTrue(any("profiler unavailable" in note for note in told.notes), told.notes)
        self.assertEqual(told.accelerators, {})

    def test_dispatch_is_counted_and_not_shown(self) -> None:
        counted = activity.GraphCalls()
        logger = logging.getLogger("networkx")
        seen: list[logging.LogRecord] = []
        handler = logging.Handler()
        handler.emit = seen.append  # type: ignore[method-assign]
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)
        filters, level = logger.filters[:], logger.level
        counted.start(None)
        self.addCleanup(setattr, logger, "filters", filters)
        logger.debug("Using backend '%s' for call to '%s' with arguments: %s", "cugraph", "pagerank", "…")
        logger.debug("Backend '%s' does not implement '%s'", "cugraph", "closeness_centrality")
        logger.warning("a warning of the program's")
        found = counted.stop()
        self.assertEqual((found["pagerank"]["gpu"], found["closeness_centrality"]["cpu"]), (1, 1))
        self.assertEqual([record.levelname for record in seen], ["WARNING"])
        self.assertEqual(logger.level, level)


class CuptiTest(unittest.TestCase):
    def test_records_are_read_at_the_places_that_all_versions_share(self) -> None:
        def record(kind: int, second: int, size: int, start: int, end: int) -> bytes:
            return struct.pack("=IIQQQ", kind, second, size, start, end) + bytes(32)

        records = [
            record(cupti.CONCURRENT_KERNEL, 0, 0, 1000, 3000),
            record(cupti.CONCURRENT_KERNEL, 0, 0, 2000, 4000),
            record(cupti.MEMCPY, 1, 800, 100, 600),
            record(cupti.MEMCPY, 2, 80, 5000, 5500),
            record(cupti.MEMCPY, 8, 7, 5000, 5500),
            record(99, 0, 0, 0, 0),
        ]
        memory = ctypes.create_string_buffer(b"".join(records))
        address = ctypes.addressof(memory)

        class Library:
            place = -1

            def cuptiActivityGetNextRecord(self, buffer, valid, found):
                self.place += 1
                found._obj.value = buffer + self.place * len(records[0])
                return 0 if self.place < len(records) else 1

        recorder = cupti.Recorder()
        recorder._library, recorder._with_times = Library(), True
        recorder._buffers[address] = memory
        recorder._on_complete(None, 0, address, len(memory), len(memory))
        self.assertIsNone(recorder.problem)
        self.assertEqual(
            recorder.counts(None),
            {
                "source": "cupti",
                "kernels": 2,
                "busy_seconds": 3e-6,
                "bytes_to_device": 800,
                "bytes_to_host": 80,
                "copy_seconds": 1e-6,
                "peak_bytes": None,
            },
        )
        self.assertEqual(recorder._buffers, {})

    def test_unions(self) -> None:
        for ends, expected in [([], 0), ([0, 5], 5), ([0, 5, 3, 8], 8), ([6, 8, 0, 5], 7), ([0, 9, 2, 3], 9)]:
            self.assertEqual(cupti.union_length(array.array("Q", ends)), expected)


if __name__ == "__main__":
    unittest.main()

"""Counting kernels and copies through CUPTI's activity interface, for any library that uses the device.

Only fields whose places are the same in every CUPTI from 11 to 13 are read: kind, copy kind, bytes, start and end.
They are those of CUpti_ActivityMemcpy, _Memset and _Kernel in cupti_activity.h.
"""

from __future__ import annotations

import array
import ctypes
import glob
import os
import struct
import sys

MEMCPY, MEMSET, CONCURRENT_KERNEL = 1, 2, 10
KERNEL = 3
TO_DEVICE, TO_HOST = {1, 3}, {2, 4}
# One buffer holds some 50,000 records.
BUFFER_BYTES = 8 << 20
# CUpti_ActivityFlag: flush buffers that are not full, too.
FLUSH_FORCED = 1
# The versions whose records have been checked, as cuptiGetVersion gives them: 11.x to 12.x are small numbers
# (14 to 28 and on), 13.0 begins another scheme.
KNOWN_VERSIONS = (range(14, 100), range(130000, 140000))

REQUEST = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_size_t),
)
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class Unavailable(Exception):
    """CUPTI can't be used here; says why."""


def candidates() -> list[str]:
    """Where a CUPTI may be, newest first: the environment's packages, the toolkit, the loader's path."""
    found: list[str] = []
    for folder in sys.path:
        for pattern in ("nvidia/cu*/lib/libcupti.so.*", "nvidia/cuda_cupti/lib/libcupti.so.*"):
            found.extend(path for path in glob.glob(os.path.join(folder or ".", pattern)) if plain_name(path))
    for root in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if root:
            for pattern in ("extras/CUPTI/lib64/libcupti.so.*", "lib64/libcupti.so.*"):
                found.extend(path for path in glob.glob(os.path.join(root, pattern)) if plain_name(path))
    found.sort(key=lambda path: -int(path.rsplit(".", 1)[1]))
    return [*found, "libcupti.so.13", "libcupti.so.12", "libcupti.so"]


def plain_name(path: str) -> bool:
    """Whether the name ends with the major version alone."""
    return path.rsplit(".so.", 1)[1].isdigit()


class Recorder:
    """Counts from `start` to `stop`."""

    def __init__(self) -> None:
        self.kernels = 0
        self.copies = 0
        self.bytes_to_device = 0
        self.bytes_to_host = 0
        self.problem: str | None = None
        self._copy_nanoseconds = 0
        self._busy = array.array("Q")
        self._buffers: dict[int, ctypes.Array] = {}
        self._request = REQUEST(self._on_request)
        self._complete = COMPLETE(self._on_complete)
        self._library = None
        self._with_times = False

    def start(self) -> str:
        """Begins to count; returns the library that counts."""
        reasons = []
        for path in candidates():
            try:
                library = ctypes.CDLL(path)
            except OSError:
                continue
            status = self._enable(library)
            if status is None:
                self._library = library
                return path
            reasons.append(f"{path}: {status}")
        raise Unavailable("; ".join(reasons) or "no libcupti was found")

    def _enable(self, library) -> str | None:
        version = ctypes.c_uint32()
        if library.cuptiGetVersion(ctypes.byref(version)) != 0:
            return "cuptiGetVersion failed"
        self._with_times = any(version.value in known for known in KNOWN_VERSIONS)
        library.cuptiActivityGetNextRecord.argtypes = (
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_void_p),
        )
        status = library.cuptiActivityRegisterCallbacks(self._request, self._complete)
        if status != 0:
            return f"cuptiActivityRegisterCallbacks returned {status}"
        for kind in (CONCURRENT_KERNEL, MEMCPY, MEMSET):
            status = library.cuptiActivityEnable(kind)
            if status != 0:
                return f"cuptiActivityEnable({kind}) returned {status}"
        return None

    def stop(self) -> None:
        """Ends counting. The caller has waited for the device."""
        library = self._library
        if library is None:
            return
        library.cuptiActivityFlushAll(FLUSH_FORCED)
        for kind in (CONCURRENT_KERNEL, MEMCPY, MEMSET):
            library.cuptiActivityDisable(kind)
        library.cuptiActivityFlushAll(FLUSH_FORCED)
        # The callbacks must outlive everything that may still call them.
        KEPT.append(self)
        self._library = None

    def _on_request(self, buffer, size, records) -> None:
        memory = ctypes.create_string_buffer(BUFFER_BYTES)
        address = ctypes.addressof(memory)
        self._buffers[address] = memory
        buffer[0] = address
        size[0] = BUFFER_BYTES
        records[0] = 0

    def _on_complete(self, context, stream, buffer, size, valid) -> None:
        try:
            if valid:
                self._read(buffer, valid)
        except Exception as error:  # nothing may escape into the driver's thread
            self.problem = f"{type(error).__name__}: {error}"
        finally:
            self._buffers.pop(buffer, None)

    def _read(self, buffer: int, valid: int) -> None:
        """Reads one buffer's records."""
        memory = memoryview(self._buffers[buffer]).cast("B")
        record = ctypes.c_void_p()
        step = self._library.cuptiActivityGetNextRecord
        while step(buffer, valid, ctypes.byref(record)) == 0:
            self._count(memory, record.value - buffer)

    def _count(self, memory, offset: int) -> None:
        (kind,) = struct.unpack_from("=I", memory, offset)
        if kind not in (KERNEL, CONCURRENT_KERNEL, MEMCPY, MEMSET):
            return
        start = end = 0
        if self._with_times:
            start, end = struct.unpack_from("=QQ", memory, offset + 16)
        if kind == MEMCPY:
            self.copies += 1
            if self._with_times:
                (size,) = struct.unpack_from("=Q", memory, offset + 8)
                direction = memory[offset + 4]
                self.bytes_to_device += size if direction in TO_DEVICE else 0
                self.bytes_to_host += size if direction in TO_HOST else 0
                self._copy_nanoseconds += max(end - start, 0) if direction in TO_DEVICE | TO_HOST else 0
            return
        if kind != MEMSET:
            self.kernels += 1
        if end > start > 0:
            self._busy.extend((start, end))

    def counts(self, peak_bytes: int | None) -> dict:
        """The outcome's counters."""
        times = self._with_times
        return {
            "source": "cupti",
            "kernels": self.kernels,
            "busy_seconds": union_length(self._busy) / 1e9 if times else None,
            "bytes_to_device": self.bytes_to_device if times else None,
            "bytes_to_host": self.bytes_to_host if times else None,
            "copy_seconds": self._copy_nanoseconds / 1e9 if times else None,
            "peak_bytes": peak_bytes,
        }


KEPT: list[Recorder] = []


def union_length(ends) -> int:
    """The length of the union of intervals, given as start, end, start, end, …."""
    total, until = 0, 0
    for start, end in sorted(zip(ends[::2], ends[1::2], strict=True)):
        if end > until:
            total += end - max(start, until)
            until = end
    return total

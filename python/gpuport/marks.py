"""Marks on the judge's pipe, and waiting for the device before each."""

from __future__ import annotations

import os
import sys

# A module whose presence means that work may be queued on a device.
DEVICE_MODULES = (
    "cupy",
    "cudf",
    "cuml",
    "cugraph",
    "nx_cugraph",
    "cucim",
    "cuvs",
    "pylibraft",
    "rmm",
    "kvikio",
    "numba.cuda",
    "numba_cuda_mlir",
    "warp",
    "torch",
    "jax",
    "tensorflow",
)


class Marks:
    """The pipe to the judge. A forked child has none: it must not speak for its parent."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pid = os.getpid()
        try:
            os.set_inheritable(descriptor, False)
            os.register_at_fork(after_in_child=self._close)
        except OSError:
            self._descriptor = -1

    def _close(self) -> None:
        if self._descriptor >= 0:
            try:
                os.close(self._descriptor)
            except OSError:
                pass
            self._descriptor = -1

    def mark(self, *words: object) -> None:
        """Writes one line by one write. A program that closed the pipe is not stopped by that."""
        if self._descriptor < 0 or os.getpid() != self._pid:
            return
        line = " ".join(str(word) for word in words) + "\n"
        try:
            os.write(self._descriptor, line.encode())
        except OSError:
            self._descriptor = -1


def device_in_use() -> bool:
    """Whether any library that may queue device work has been imported."""
    return any(name in sys.modules for name in DEVICE_MODULES)


def synchronize() -> str | None:
    """Waits until every device that this process uses is idle. Returns what went wrong, if anything did.

    The driver's own call is used, because it covers every stream of every library alike; a driver that no library
    has loaded has nothing to wait for.
    """
    if not device_in_use():
        return None
    driver = loaded_driver()
    if driver is None:
        return None
    import ctypes

    count = ctypes.c_int()
    if driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return None
    for device in range(count.value):
        status = _synchronize_device(driver, device)
        if status != 0:
            return f"cuCtxSynchronize on device {device} returned error {status}"
    return None


def loaded_driver():
    """The driver library, if this process has loaded it already."""
    import ctypes

    try:
        return ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:
        return None


def _synchronize_device(driver, device: int) -> int:
    """Waits for one device's primary context, if it has one."""
    import ctypes

    flags, active = ctypes.c_uint(), ctypes.c_int()
    if driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)) != 0:
        return 0
    if not active.value:
        return 0
    context = ctypes.c_void_p()
    if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) != 0:
        return 0
    status = driver.cuCtxPushCurrent_v2(context)
    if status == 0:
        status = driver.cuCtxSynchronize()
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    driver.cuDevicePrimaryCtxRelease_v2(device)
    return status


def device_name() -> str | None:
    """The name of the first device, as the driver gives it, where a library has loaded the driver."""
    driver = loaded_driver()
    if driver is None:
        return None
    import ctypes

    name = ctypes.create_string_buffer(256)
    if driver.cuDeviceGetName(name, len(name), 0) != 0:
        return None
    return name.value.decode("utf-8", "replace")

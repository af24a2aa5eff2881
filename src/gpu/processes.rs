//! What the kernel says of a process and the device: which device files it holds open, whether the driver is mapped.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// How a process uses the GPU, from `/proc`, without asking the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// It holds a device (`/dev/nvidia0`, …) open. The control files alone don't count: asking the driver whether
    /// there is a device opens those.
    pub device_open: bool,
    /// The driver's library is mapped into it.
    pub driver_mapped: bool,
}

impl DeviceUse {
    /// Both seen: a context can exist.
    pub fn is_complete(self) -> bool {
        self.device_open && self.driver_mapped
    }

    /// The one of two processes, or two looks, that shows more. They are never added up: one process that has the
    /// driver and another that has the device make no context.
    #[must_use]
    pub fn more(self, other: Self) -> Self {
        let rank = |seen: Self| (seen.is_complete(), seen.device_open, seen.driver_mapped);
        if rank(other) > rank(self) { other } else { self }
    }
}

/// Looks at process `pid` once. A process that has ended or can't be looked at uses nothing.
pub fn device_use(pid: i32) -> DeviceUse {
    let process = Path::new("/proc").join(pid.to_string());
    DeviceUse { device_open: opens_device(&process), driver_mapped: maps_driver(&process) }
}

fn opens_device(process: &Path) -> bool {
    let Ok(files) = fs::read_dir(process.join("fd")) else { return false };
    files.flatten().filter_map(|file| fs::read_link(file.path()).ok()).any(|target| is_device(&target))
}

/// True for `/dev/nvidia` followed by a number.
fn is_device(path: &Path) -> bool {
    let digits = path.to_str().and_then(|path| path.strip_prefix("/dev/nvidia"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn maps_driver(process: &Path) -> bool {
    fs::read_to_string(process.join("maps")).is_ok_and(|maps| maps.contains("/libcuda.so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbered_device_files_are_devices() {
        let check = |path: &str, expected: bool| assert_eq!(is_device(Path::new(path)), expected, "{path}");
        check("/dev/nvidia0", true);
        check("/dev/nvidia15", true);
        check("/dev/nvidiactl", false);
        check("/dev/nvidia-uvm", false);
        check("/dev/nvidia", false);
        check("/home/me/dev/nvidia0", false);
    }

    #[test]
    fn two_halves_make_no_whole() {
        let device = DeviceUse { device_open: true, driver_mapped: false };
        let driver = DeviceUse { device_open: false, driver_mapped: true };
        let both = DeviceUse { device_open: true, driver_mapped: true };
        assert_eq!(driver.more(device), device);
        assert!(!device.more(driver).is_complete());
        assert_eq!(device.more(both).more(driver), both);
    }

    #[test]
    fn a_process_that_does_not_exist_uses_nothing() {
        assert_eq!(device_use(i32::MAX), DeviceUse::default());
    }
}

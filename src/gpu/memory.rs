//! Watches how much device memory is in use, as the driver accounts for it.

use cudarc::driver::{result, sys};

use super::Absent;
use super::probe::{refused, start};

/// The compute mode in which several processes may have contexts. In any other, a context of the judge's own would
/// keep the program from making one.
const SHARED: i32 = 0;

/// Device memory in use since the watch began, over all devices of this process.
///
/// Other processes on the same devices count too, so a rise says that the device was used by somebody, and only
/// together with the open device files of a process by whom.
#[derive(Debug)]
pub struct MemoryWatch {
    devices: Vec<Watched>,
    peak_rise_bytes: u64,
}

#[derive(Debug)]
struct Watched {
    device: sys::CUdevice,
    context: sys::CUcontext,
    free_at_start: u64,
}

impl MemoryWatch {
    /// Begins to watch. Makes a context on each device, which stays until the watch is dropped.
    pub fn start() -> Result<Self, Absent> {
        start()?;
        let count = result::device::get_count().map_err(refused)?;
        let mut watch = Self { devices: Vec::new(), peak_rise_bytes: 0 };
        for ordinal in 0..count {
            watch.add(ordinal).map_err(refused)?;
        }
        if watch.devices.is_empty() { Err(Absent::NoDevice) } else { Ok(watch) }
    }

    #[expect(unsafe_code, reason = "contexts are raw handles in the driver's interface")]
    fn add(&mut self, ordinal: i32) -> Result<(), result::DriverError> {
        let device = result::device::get(ordinal)?;
        let mode = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE;
        // SAFETY: `device` comes from `device::get`.
        if unsafe { result::device::get_attribute(device, mode)? } != SHARED {
            return Ok(());
        }
        // SAFETY: `device` comes from `device::get`; released in `drop`.
        let context = unsafe { result::primary_ctx::retain(device)? };
        self.devices.push(Watched { device, context, free_at_start: 0 });
        let free = free_bytes(context)?;
        if let Some(added) = self.devices.last_mut() {
            added.free_at_start = free;
        }
        Ok(())
    }

    /// Looks once; a device that doesn't answer is passed over.
    pub fn poll(&mut self) {
        let rise = self
            .devices
            .iter()
            .filter_map(|watched| {
                free_bytes(watched.context).ok().map(|free| watched.free_at_start.saturating_sub(free))
            })
            .sum();
        self.peak_rise_bytes = self.peak_rise_bytes.max(rise);
    }

    /// The largest rise that any poll saw, in bytes.
    pub fn peak_rise_bytes(&self) -> u64 {
        self.peak_rise_bytes
    }
}

impl Drop for MemoryWatch {
    #[expect(unsafe_code, reason = "contexts are raw handles in the driver's interface")]
    fn drop(&mut self) {
        for watched in &self.devices {
            // SAFETY: retained once in `add`. A failure leaves the context to the process's end.
            let _ = unsafe { result::primary_ctx::release(watched.device) };
        }
    }
}

#[expect(unsafe_code, reason = "contexts are raw handles in the driver's interface")]
fn free_bytes(context: sys::CUcontext) -> Result<u64, result::DriverError> {
    // SAFETY: `context` is retained for as long as the watch lives.
    unsafe { result::ctx::set_current(context)? };
    result::mem_get_info().map(|(free, _total)| free as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_there_is_nothing_to_watch() {
        match MemoryWatch::start() {
            Ok(mut watch) => watch.poll(),
            Err(absent) => assert!(!absent.to_string().is_empty()),
        }
    }
}

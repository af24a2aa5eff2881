//! Asks the driver what it is and which devices it has, without making a context.

use cudarc::driver::{result, sys};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The driver and its devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Version of the kernel module, e.g. `580.159.03`; `None` where the system doesn't tell.
    pub driver: Option<String>,
    /// The newest CUDA version that the driver supports, e.g. `13.0`.
    pub cuda: String,
    /// The devices this process may use, in the driver's order.
    pub devices: Vec<GpuDevice>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuDevice {
    /// Its name, e.g. `NVIDIA H200`.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (i32, i32),
    /// Its memory, in bytes.
    pub memory_bytes: u64,
    /// Its multiprocessors.
    pub multiprocessors: i32,
}

/// Why there is no GPU to work with.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "message")]
pub enum Absent {
    /// The driver's library can't be loaded.
    #[error("no NVIDIA driver: libcuda.so.1 can't be loaded")]
    NoDriver,
    /// The driver is there and refuses.
    #[error("the NVIDIA driver does not start: {0}")]
    Driver(String),
    /// The driver is there and has no device for this process.
    #[error("the NVIDIA driver shows no device to this process")]
    NoDevice,
}

/// The driver and its devices, or why there are none.
pub fn probe() -> Result<Probe, Absent> {
    start()?;
    let count = result::device::get_count().map_err(refused)?;
    if count == 0 {
        return Err(Absent::NoDevice);
    }
    let devices = (0..count).map(device).collect::<Result<_, _>>().map_err(refused)?;
    Ok(Probe { driver: kernel_module_version(), cuda: cuda_version()?, devices })
}

/// Loads and starts the driver. Every use of cudarc goes through here: without the library, cudarc panics.
#[expect(unsafe_code, reason = "opening a shared library runs its initialisers")]
pub(super) fn start() -> Result<(), Absent> {
    // SAFETY: libcuda is the driver's own library, made to be opened by any process.
    if !unsafe { sys::is_culib_present() } {
        return Err(Absent::NoDriver);
    }
    result::init().map_err(|error| match error.0 {
        sys::cudaError_enum::CUDA_ERROR_NO_DEVICE => Absent::NoDevice,
        _ => refused(error),
    })
}

/// What the driver said, as a value.
pub(super) fn refused(error: result::DriverError) -> Absent {
    let text = error
        .error_string()
        .map_or_else(|_| format!("{error:?}"), |text| text.to_string_lossy().into_owned());
    Absent::Driver(text)
}

#[expect(unsafe_code, reason = "cudarc marks queries by device handle as unsafe")]
fn device(ordinal: i32) -> Result<GpuDevice, result::DriverError> {
    use sys::CUdevice_attribute as Attribute;
    let handle = result::device::get(ordinal)?;
    // SAFETY: `handle` comes from `device::get`.
    let attribute = |name| unsafe { result::device::get_attribute(handle, name) };
    Ok(GpuDevice {
        name: result::device::get_name(handle)?,
        compute_capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        // SAFETY: as above.
        memory_bytes: unsafe { result::device::total_mem(handle)? } as u64,
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
    })
}

#[expect(unsafe_code, reason = "cudarc has no safe wrapper for cuDriverGetVersion")]
fn cuda_version() -> Result<String, Absent> {
    let mut version = 0;
    // SAFETY: the driver writes one integer.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(refused)?;
    // The driver's encoding: 1000 × major + 10 × minor.
    Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
}

fn kernel_module_version() -> Option<String> {
    let version = std::fs::read_to_string("/sys/module/nvidia/version").ok()?;
    Some(version.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_a_value_with_and_without_a_driver() {
        match probe() {
            Ok(found) => {
                assert!(!found.devices.is_empty());
                assert!(found.devices.iter().all(|device| device.memory_bytes > 0));
            }
            Err(absent) => assert!(!absent.to_string().is_empty()),
        }
    }
}

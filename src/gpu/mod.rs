//! The GPU as this process sees it: driver, devices, memory, and which processes hold the device open.
//!
//! The only folder that names cudarc. The driver is loaded at run time; where it is missing, that is a value
//! ([`Absent`]), never a panic.

mod memory;
mod probe;
mod processes;

pub use memory::MemoryWatch;
pub use probe::{Absent, GpuDevice, Probe, probe};
pub use processes::{DeviceUse, device_use};

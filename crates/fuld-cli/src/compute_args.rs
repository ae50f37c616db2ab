//! The options --device and --threads of the commands that train runs.

use super::Usage;
use super::threads::Threads;
use super::train_args::named;
use clap::Args;
use fuld_train::spec::Device;
use fuld_train::train::TrainError;

/// The device and the number of threads.
#[derive(Args, Clone, Debug)]
pub(super) struct ComputeArgs {
    /// Hardware for the computation [default: cpu]
    #[arg(long, value_parser = named::<Device>())]
    pub(super) device: Option<Device>,
    #[command(flatten)]
    pub(super) threads: Threads,
}

impl ComputeArgs {
    /// Returns the requested device, or the CPU.
    pub(super) fn device(&self) -> Device {
        self.device.unwrap_or(Device::Cpu)
    }

    /// Returns an error if this build does not support a device.
    pub(super) fn check(device: Device) -> anyhow::Result<()> {
        let supported = device == Device::Cpu || cfg!(feature = "cuda");
        Ok(Usage::unless(supported, || TrainError::NoCuda.to_string())?)
    }
}

//! The options --device and --threads of the commands that train runs.

use super::Usage;
use super::threads::Threads;
use clap::Args;
use fuld_train::spec::Device;
use fuld_train::train::EngineError;

/// The device and the number of threads.
#[derive(Args, Clone, Debug)]
pub(super) struct ComputeArgs {
    /// Hardware for the computation: the processor, or an NVIDIA GPU if the program was built with
    /// --features cuda [default: cpu]
    #[arg(long, value_parser = ["cpu", "cuda"])]
    device: Option<String>,
    /// Allow the products on a GPU to round their factors to 11 bits (TF32), which is faster
    #[arg(long, requires = "device")]
    tf32: bool,
    #[command(flatten)]
    pub(super) threads: Threads,
}

impl ComputeArgs {
    /// Returns the requested device, if there is one.
    pub(super) fn requested(&self) -> anyhow::Result<Option<Device>> {
        let is_cuda = self.device.as_deref() == Some("cuda");
        Usage::unless(is_cuda || !self.tf32, || "--tf32 requires --device cuda".into())?;
        Ok(match (&self.device, is_cuda, self.tf32) {
            (None, ..) => None,
            (_, false, _) => Some(Device::Cpu),
            (_, true, false) => Some(Device::Cuda),
            (_, true, true) => Some(Device::CudaTf32),
        })
    }

    /// Returns the requested device, or the CPU.
    pub(super) fn device(&self) -> anyhow::Result<Device> {
        Ok(self.requested()?.unwrap_or(Device::Cpu))
    }

    /// Returns an error if this build does not support a device.
    pub(super) fn check(device: Device) -> anyhow::Result<()> {
        let supported = device == Device::Cpu || cfg!(feature = "cuda");
        Ok(Usage::unless(supported, || EngineError::NoCuda.to_string())?)
    }
}

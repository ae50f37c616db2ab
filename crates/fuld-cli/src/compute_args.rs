//! The options --device and --threads of the commands that train runs.

use super::Usage;
use super::threads::Threads;
use super::train_args::named;
use clap::Args;
use fuld_train::spec::Device;

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

    /// Configures a device. Returns an error if this build does not support it.
    pub(super) fn configure(device: Device) -> anyhow::Result<()> {
        Usage::unless(device == Device::Cpu || cfg!(feature = "cuda"), || {
            "this build supports only the CPU; for an NVIDIA GPU, build with: cargo build --release --features cuda"
                .into()
        })?;
        #[cfg(feature = "cuda")]
        if device == Device::Cuda {
            cache_kernels()?;
        }
        Ok(())
    }
}

/// Stores compiled kernels in the data directory, because selecting and compiling them takes a
/// minute or two for a new shape.
#[cfg(feature = "cuda")]
fn cache_kernels() -> anyhow::Result<()> {
    use burn::cubecl::config::{CubeClRuntimeConfig, RuntimeConfig, cache::CacheConfig};
    let folder = fuld_train::data::data_directory()?.join("kernels");
    let mut config = CubeClRuntimeConfig::from_current_dir().override_from_env();
    config.compilation.cache.get_or_insert(CacheConfig::File(folder.clone()));
    config.autotune.cache = CacheConfig::File(folder);
    CubeClRuntimeConfig::set(config);
    Ok(())
}

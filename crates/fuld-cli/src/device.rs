//! The options of where to compute, and where the data is.

use super::Usage;
use super::threads::Threads;
use super::train_args::named;
use clap::Args;
use fuld_train::data::{self, DataError};
use fuld_train::spec::Device;
use std::path::PathBuf;

/// The device, the number of threads, and the folder of the data sets.
#[derive(Args, Clone, Debug)]
pub(super) struct ComputeArgs {
    /// The hardware that computes
    #[arg(long, value_parser = named::<Device>(), default_value_t = Device::Cpu)]
    pub(super) device: Device,
    #[command(flatten)]
    pub(super) threads: Threads,
    /// Folder of the data sets [default: as for fuld data]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl ComputeArgs {
    /// Refuses what this build cannot do, and prepares the device.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        Usage::unless(self.device == Device::Cpu || cfg!(feature = "cuda"), || {
            "this build computes on the CPU only; for an NVIDIA GPU: cargo build --release --features cuda"
                .into()
        })?;
        #[cfg(feature = "cuda")]
        if self.device == Device::Cuda {
            cache_kernels()?;
        }
        Ok(())
    }

    /// Returns the folder of the data sets.
    pub(super) fn data_directory(&self) -> Result<PathBuf, DataError> {
        self.data_dir.clone().map_or_else(data::data_directory, Ok)
    }
}

/// Keeps compiled kernels beside the data sets. Selecting and compiling them takes a minute or two for a new shape.
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

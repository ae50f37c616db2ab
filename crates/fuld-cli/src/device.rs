//! The options of where to compute, and where the data is.

use super::Usage;
use super::train_args::named;
use clap::Args;
use fuld_train::data::{self, DataError};
use fuld_train::spec::Device;
use std::path::PathBuf;

/// The largest number of threads. It is far beyond any machine; the system refuses larger ones less politely.
const MOST_THREADS: usize = 1024;

/// The device, the number of threads, and the folder of the data sets.
#[derive(Args, Clone, Debug)]
pub(super) struct ComputeArgs {
    /// The hardware that computes
    #[arg(long, value_parser = named::<Device>(), default_value_t = Device::Cpu)]
    pub(super) device: Device,
    /// Threads: those of a sweep train a run each, those of a single run share its measurements [default: all cores]
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<usize>,
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
        let threads = self.threads();
        Usage::unless((1..=MOST_THREADS).contains(&threads), || {
            format!("--threads must be from 1 to {MOST_THREADS}, got {threads}")
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

    /// Returns the number of threads.
    pub(super) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
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

//! Where to compute.

use clap::{Args, ValueEnum};

/// What computes, and with how many threads.
#[derive(Args, Clone, Debug)]
pub(super) struct Where {
    /// What computes
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    pub(super) device: Device,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<usize>,
}

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Device {
    /// The processor.
    Cpu,
    /// An NVIDIA GPU; the program must be built with `--features cuda`.
    Cuda,
}

impl Where {
    /// Refuses what this build cannot do, and makes the device ready.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.device == Device::Cpu || cfg!(feature = "cuda"),
            "this build computes on the CPU only; for an NVIDIA GPU: cargo build --release --features cuda"
        );
        anyhow::ensure!(self.threads != Some(0), "--threads must be at least 1, got 0");
        #[cfg(feature = "cuda")]
        if self.device == Device::Cuda {
            remember_kernels()?;
        }
        Ok(())
    }

    /// How many threads that is.
    pub(super) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Finding and compiling the kernels for a new shape takes a minute or two; once found they are kept beside the data sets.
#[cfg(feature = "cuda")]
fn remember_kernels() -> anyhow::Result<()> {
    use burn::cubecl::config::{CubeClRuntimeConfig, RuntimeConfig, cache::CacheConfig};
    let folder = crate::data::data_directory()?.join("kernels");
    let mut config = CubeClRuntimeConfig::from_current_dir().override_from_env();
    config.compilation.cache.get_or_insert(CacheConfig::File(folder.clone()));
    config.autotune.cache = CacheConfig::File(folder);
    CubeClRuntimeConfig::set(config);
    Ok(())
}

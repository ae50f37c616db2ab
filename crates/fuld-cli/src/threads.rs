//! The option --threads, the same in every command.

use clap::Args;
use clap::builder::RangedU64ValueParser;

/// The largest number of threads, far more than any machine has. For larger numbers the operating
/// system's error would be less clear.
const MOST: u64 = 1024;

/// The number of threads.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Threads {
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=MOST))]
    threads: Option<usize>,
}

impl Threads {
    /// Returns the given number of threads, or one per core.
    pub(super) fn count(self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

//! The option --checkpoint-every, the same in every command that saves checkpoints.

use clap::Args;
use std::time::Duration;

/// The time between checkpoints.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct CheckpointArgs {
    /// Seconds between two checkpoints of a run
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds, allow_negative_numbers = true, hide = true)]
    pub(super) checkpoint_every: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("expected a number of seconds, 0 or more, got {text:?}"))
}

//! Progress, results and errors of a run.

use super::checkpoint::CheckpointError;
use crate::{ParameterError, Unsuited};
use std::time::Duration;
use thiserror::Error;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken per chain.
    pub steps: u64,
    /// Total number of steps per chain.
    pub total: u64,
    /// Draws per chain so far.
    pub draws: u64,
    /// Number of chains that diverged so far.
    pub diverged: usize,
    /// Time since the run began or was resumed.
    pub elapsed: Duration,
}

/// The answer of a progress callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Pass the draws so far to the sink, and call again before the next step.
    Deliver,
    /// Write a checkpoint and stop.
    Stop,
}

/// A chain that diverged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence {
    /// Index of the chain within the run.
    pub chain: usize,
    /// Step at which the divergence was detected.
    pub step: u64,
    /// First coordinate that was too large; NaN if the velocity was not finite.
    pub value: f64,
}

/// A weighted ergodic average π̄_K(h).
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// The name of h.
    pub name: String,
    /// Averages of the chains; NaN for those that diverged.
    pub chains: Vec<f64>,
}

impl Average {
    /// Returns the mean over the chains that did not diverge.
    pub fn mean(&self) -> f64 {
        let (sum, count) =
            self.chains.iter().filter(|c| !c.is_nan()).fold((0.0, 0.0), |(s, n), c| (s + c, n + 1.0));
        sum / count
    }
}

/// The result of a run apart from its draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Draws per chain so far.
    pub draws: u64,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// Chains that diverged.
    pub divergences: Vec<Divergence>,
    /// Averages of the test functions.
    pub averages: Vec<Average>,
}

/// A run that could not begin or continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The integrator does not suit the system.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A count is zero.
    #[error("the number of {0} must be at least 1")]
    Nothing(&'static str),
    /// A count is too large.
    #[error("{0} overflow memory or u64")]
    TooMany(&'static str),
    /// The start does not fit the potential.
    #[error("the start has {start} coordinates, the potential {dim}")]
    StartDimension {
        /// Coordinates of the start.
        start: usize,
        /// Coordinates of the potential.
        dim: usize,
    },
    /// The start is not finite.
    #[error("chains cannot start at {0}")]
    StartValue(f64),
    /// A checkpoint was requested for a potential without a specification.
    #[error(
        "a run with a checkpoint requires a potential with a specification; add one, for example with FromFn::named"
    )]
    Unspecified,
    /// The checkpoint cannot be used or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The potential failed, see [`Potential::has_failed`](crate::Potential::has_failed). The sink has the draws before the failure.
    #[error("the potential could not be evaluated at step {0}")]
    Potential(u64),
    /// Draws cannot be written.
    #[error("draws cannot be written: {0}")]
    Sink(#[from] std::io::Error),
    /// The threads cannot be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// Number of threads.
        threads: usize,
        /// Reason.
        reason: String,
    },
}

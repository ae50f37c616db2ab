//! What a run says of itself: progress, results, and why it could not go on.

use super::checkpoint::CheckpointError;
use crate::{ParameterError, Unsuited};
use std::time::Duration;
use thiserror::Error;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps made, a chain.
    pub steps: u64,
    /// Steps in all.
    pub total: u64,
    /// Draws made, a chain.
    pub draws: u64,
    /// Chains that diverged so far.
    pub diverged: usize,
    /// Time since the run was begun or resumed.
    pub elapsed: Duration,
}

/// What a progress callback answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Hand the draws made so far to the sink, and ask again before the next step.
    Deliver,
    /// Save and stop.
    Stop,
}

/// A chain that left for infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence {
    /// The chain, counted from the run's first.
    pub chain: usize,
    /// The step at which it was noticed.
    pub step: u64,
    /// The first coordinate that was too large; NaN if it was the velocity.
    pub value: f64,
}

/// A weighted ergodic average π̄_K(h).
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// The name of h.
    pub name: String,
    /// Chain by chain; NaN for those that diverged.
    pub chains: Vec<f64>,
}

impl Average {
    /// Mean over the chains that did not diverge.
    pub fn mean(&self) -> f64 {
        let (sum, count) =
            self.chains.iter().filter(|c| !c.is_nan()).fold((0.0, 0.0), |(s, n), c| (s + c, n + 1.0));
        sum / count
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Draws made, a chain.
    pub draws: u64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// Chains that diverged.
    pub divergences: Vec<Divergence>,
    /// Averages of the test functions.
    pub averages: Vec<Average>,
}

/// Why a run could not begin or go on.
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
    #[error("{0} are more than a machine can count or hold")]
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
    /// The checkpoint cannot be used or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The potential gave up: see [`Potential::has_failed`](crate::Potential::has_failed). The draws before are with the sink.
    #[error("the potential could not be evaluated at step {0}")]
    Potential(u64),
    /// Draws cannot be written.
    #[error("draws cannot be written: {0}")]
    Sink(#[from] std::io::Error),
    /// The threads cannot be had.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why not.
        reason: String,
    },
}

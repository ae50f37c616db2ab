//! Progress and results of a run.

use crate::Tuning;
use std::time::Duration;

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Steps taken per chain.
    pub steps: u64,
    /// Total number of steps per chain.
    pub total: u64,
    /// Draws per chain so far.
    pub draws: u64,
    /// Number of chains that diverged so far.
    pub diverged: usize,
    /// Mean acceptance probability over all chains and about the last second; None unless the
    /// integrator is exact.
    pub acceptance: Option<f64>,
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
        let (sum, count) = self
            .chains
            .iter()
            .filter(|c| !c.is_nan())
            .fold((0.0, 0.0), |(s, n), c| (s + c, n + 1.0));
        sum / count
    }
}

/// The result of a run apart from its draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Draws per chain so far.
    pub draws: u64,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// Chains that diverged.
    pub divergences: Vec<Divergence>,
    /// Averages of the test functions.
    pub averages: Vec<Average>,
    /// Step, path and scales of exact sampling, as adapted so far.
    pub tuning: Option<Tuning>,
    /// Temperatures of parallel tempering, as adapted so far.
    pub tempering: Option<Tempering>,
}

impl Outcome {
    /// Returns the mean number of gradients per iteration at all temperatures together; None unless
    /// exact sampling adapted itself.
    pub fn gradients_per_iteration(&self) -> Option<f64> {
        let hotter = self.tempering.as_ref().map_or(0.0, |tempering| tempering.gradients);
        self.tuning.as_ref().map(|tuning| tuning.mean_steps() + hotter)
    }
}

/// The temperatures of parallel tempering.
#[derive(Clone, Debug, PartialEq)]
pub struct Tempering {
    /// Inverse temperatures as fractions of β, the first of which is 1.
    pub factors: Vec<f64>,
    /// Mean acceptance of exchanges between neighbouring temperatures after the warmup.
    pub acceptance: Vec<f64>,
    /// Number of positions, of all chains after the warmup, that went from the hottest temperature
    /// to the first and back.
    pub round_trips: u64,
    /// Mean number of gradients per iteration at all temperatures but the first.
    pub gradients: f64,
}

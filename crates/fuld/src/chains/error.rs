//! Errors of a run.

use super::checkpoint::CheckpointError;
use crate::{GradientNoiseError, ParameterError, Unsuited};
use thiserror::Error;

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
    /// The noise of the gradients cannot be taken for a part of the dynamics' own.
    #[error(transparent)]
    GradientNoise(#[from] GradientNoiseError),
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
    /// There are fewer starting points than chains.
    #[error("the start has {points} points, one for each of {chains} chains is required")]
    StartCount {
        /// Starting points.
        points: usize,
        /// Chains up to the last of the run.
        chains: usize,
    },
    /// The start is not finite.
    #[error("chains cannot start at {0}")]
    StartValue(f64),
    /// f or its gradient is not finite where a chain starts, and at other random points.
    #[error(
        "f or its gradient is not finite where chain {chain} starts, at {at:?}; choose another start"
    )]
    NotFinite {
        /// Number of the chain.
        chain: usize,
        /// Its starting point.
        at: Vec<f64>,
    },
    /// The path length is negative or not finite.
    #[error("the path length must be finite and not negative, got {0}")]
    Path(f64),
    /// A part of a run with several temperatures, whose exchange rates are those of all chains.
    #[error("parts of a run require one temperature, got {0}; run all chains in one process")]
    TemperedPart(usize),
    /// Several temperatures without the adaptation of exact sampling.
    #[error("{0} temperatures require the integrator exact and its adaptation")]
    Temper(usize),
    /// Exact sampling of a potential whose gradient is estimated.
    #[error(
        "exact sampling requires exact gradients, but this potential estimates them from minibatches; use BAOAB"
    )]
    Stochastic,
    /// A checkpoint was requested for a potential without a specification.
    #[error(
        "a run with a checkpoint requires a potential with a specification; add one, for example with FromFn::named"
    )]
    Unspecified,
    /// The checkpoint cannot be used or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The potential failed, see [`Potential::has_failed`](crate::Potential::has_failed). The sink
    /// has the draws before the failure.
    #[error("the potential could not be evaluated at step {0}")]
    Potential(u64),
    /// Draws cannot be written.
    #[error("{}", sink_message(.0))]
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

/// Describes an error of a sink. A damaged store describes itself; other errors are those of
/// writing.
fn sink_message(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::InvalidData => error.to_string(),
        _ => format!("draws cannot be written: {error}"),
    }
}

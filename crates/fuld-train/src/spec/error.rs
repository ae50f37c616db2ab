//! Errors of the settings of a run.

use super::Optimizer;
use thiserror::Error;

/// The largest number of weights. Weights, momentum and gradients of such a network take 12 GB.
pub(super) const MOST_WEIGHTS: f64 = 1e9;

/// An error of settings that contradict each other or are out of range.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Settings of two forms of the step.
    #[error(
        "{0} and {1} cannot be combined: the step is given by eta, gamma, beta and field, or by lr, momentum and noise_scale or kappa"
    )]
    TwoForms(&'static str, &'static str),
    /// Two settings for the knee.
    #[error(
        "noise_scale and kappa cannot be combined: both set the knee of the field; give one of them"
    )]
    TwoKnees,
    /// A setting that the optimizer does not have.
    #[error("{optimizer} has no {setting}: leave it out, or choose another optimizer")]
    NotOfOptimizer {
        /// The setting.
        setting: &'static str,
        /// The requested optimizer.
        optimizer: Optimizer,
    },
    /// The formula of the authors' code has no inverse temperature.
    #[error("the authors' field has no beta, got {0}: leave it out, or use the paper's field")]
    AuthorsBeta(f64),
    /// A count below its minimum.
    #[error("{0} must be at least {1}, got {2}")]
    TooSmall(&'static str, u64, u64),
    /// A count that files cannot hold.
    #[error("{0} must be at most {max}, got {1}", max = i64::MAX)]
    TooMany(&'static str, u64),
    /// A number that must be positive.
    #[error("{0} must be positive and finite, got {1}")]
    NotPositive(&'static str, f64),
    /// A tail index out of range.
    #[error("alpha must satisfy 0.1 <= alpha <= 2, got {0}")]
    Alpha(f64),
    /// A minibatch larger than the training set.
    #[error("batch must be at most {images}, the number of training images, got {batch}")]
    Batch {
        /// Images per minibatch.
        batch: usize,
        /// Images of the training set.
        images: usize,
    },
    /// A network with too many weights.
    #[error(
        "{depth} layers of width {width} have {weights:.1e} weights; at most {MOST_WEIGHTS:.0e} are allowed"
    )]
    TooLarge {
        /// Units per hidden layer.
        width: usize,
        /// Layers.
        depth: usize,
        /// The number of weights.
        weights: f64,
    },
    /// The scale of injected noise was requested, but no noise is injected.
    #[error(
        "noise_scale = \"injected\" requires inject_noise; to give the scale itself, write a number"
    )]
    NothingInjected,
    /// The data set is not the one of the specification.
    #[error(
        "the data set {name} differs from that of the run: the SHA-256 of its pixels and labels is {found} instead of {expected}"
    )]
    OtherData {
        /// The name of the data set.
        name: String,
        /// The fingerprint of the data set.
        found: String,
        /// The fingerprint in the specification.
        expected: String,
    },
    /// The guard refuses its setting.
    #[error(transparent)]
    Guard(#[from] fuld::guard::GuardError),
    /// The update rule refuses the settings.
    #[error(transparent)]
    Rule(#[from] fuld::optimizer::RuleError),
}

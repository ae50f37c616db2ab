//! What can be wrong with settings.

use super::Optimizer;
use thiserror::Error;

/// More would be twelve gigabytes of weights, momentum and gradients.
pub(super) const MOST_WEIGHTS: f64 = 1e9;

/// Settings that do not go together, or are out of range.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Two ways to say the same thing.
    #[error(
        "{0} and {1} do not go together: the step is given by eta, gamma, beta and field, or by lr, momentum and scale"
    )]
    TwoForms(&'static str, &'static str),
    /// A setting of another optimizer.
    #[error("{optimizer} has no {setting}: leave it out, or choose another optimizer")]
    Foreign {
        /// The setting.
        setting: &'static str,
        /// What was asked for.
        optimizer: Optimizer,
    },
    /// The authors' code knows no temperature.
    #[error("the authors' field has no beta, got {0}: leave it out, or take the paper's field")]
    AuthorsBeta(f64),
    /// A number that must be at least one.
    #[error("{0} must be at least {1}, got {2}")]
    TooSmall(&'static str, u64, u64),
    /// A number that must be positive.
    #[error("{0} must be positive and finite, got {1}")]
    NotPositive(&'static str, f64),
    /// A tail index out of range.
    #[error("alpha must satisfy 0.1 <= alpha <= 2, got {0}")]
    Alpha(f64),
    /// A minibatch larger than the set.
    #[error("a minibatch of {batch} images from a set of {images}: at most {images} are possible")]
    Batch {
        /// Images of a minibatch.
        batch: usize,
        /// Images of the set.
        images: usize,
    },
    /// A network that no machine at hand can hold.
    #[error(
        "{depth} layers of width {width} have {weights:.1e} weights; at most {MOST_WEIGHTS:.0e} are allowed"
    )]
    TooLarge {
        /// Units of a hidden layer.
        width: usize,
        /// Layers.
        depth: usize,
        /// Weights they would have.
        weights: f64,
    },
    /// `scale = noise` needs to know the noise.
    #[error(
        "scale noise takes its scale from the added noise, and none is added: give inject-noise too, or scale noise=SCALE"
    )]
    UnknownNoise,
    /// What the rule itself refuses.
    #[error(transparent)]
    Rule(#[from] fuld::optimizer::RuleError),
}

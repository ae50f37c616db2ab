//! Errors of the optimizer's settings and of gradients.

use crate::ParameterError;
use crate::guard::GuardError;
use thiserror::Error;

/// An invalid setting of the optimizer, with the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A parameter shared with the dynamics is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The guard of gradients has an invalid setting.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The learning rate is negative or not finite.
    #[error("the learning rate must be finite and not negative, got {0}")]
    LearningRate(f64),
    /// The momentum, or the 1 − γη that stands for it, is not in [0, 1].
    #[error("the momentum, 1 - gamma eta in the paper's parameters, must be in [0, 1], got {0}")]
    Momentum(f64),
    /// The knee κ is not positive and finite.
    #[error("kappa must be positive and finite, got {0}")]
    Kappa(f64),
    /// The scale of the gradient noise is not positive and finite.
    #[error("noise_scale must be positive and finite, got {0}")]
    NoiseScale(f64),
    /// Without friction the noise accumulates and has no stationary scale, so that the knee does
    /// not follow from it.
    #[error("noise_scale requires a momentum below 1, got {0}")]
    NoFriction(f64),
    /// The weight decay is negative or not finite.
    #[error("the weight decay must be finite and not negative, got {0}")]
    WeightDecay(f64),
    /// Nesterov's form extrapolates along the momentum, which is 0.
    #[error("Nesterov's form requires a momentum above 0, got 0")]
    NesterovWithoutMomentum,
    /// A limit for gradient components is negative or not finite.
    #[error("the limit of gradient components must be finite and not negative, got {0}")]
    Limit(f64),
    /// The factors of x ← x − outer · ∇G(inner · b) leave the range in which single precision is
    /// accurate.
    #[error(
        "the knee is out of range for single precision: inner must be within 1e-30 and 1e30, got {inner:e}; outer must be at most \
         1e30, got {outer:e}"
    )]
    Extreme {
        /// Factor of b.
        inner: f64,
        /// Factor of the field.
        outer: f64,
    },
}

impl From<levy_stable::ParameterError> for RuleError {
    fn from(error: levy_stable::ParameterError) -> Self {
        Self::Parameter(error.into())
    }
}

/// A gradient component that is NaN or infinite.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("component {index} of the gradient is {value}; nothing was changed")]
pub struct NonFiniteGradient {
    /// Index of the first such component.
    pub index: usize,
    /// Its value.
    pub value: f64,
}

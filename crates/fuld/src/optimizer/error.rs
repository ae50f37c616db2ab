//! What can be wrong with a rule, or with a gradient.

use crate::ParameterError;
use thiserror::Error;

/// A setting of the optimizer outside its range. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A parameter that the dynamics have too.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The learning rate is negative or not finite.
    #[error("the learning rate must be finite and not negative, got {0}")]
    LearningRate(f64),
    /// The momentum, or the 1 − γη that stands for it, is not in [0, 1].
    #[error("the momentum mu = 1 - gamma eta must satisfy 0 <= mu <= 1, got {0}")]
    Momentum(f64),
    /// The place κ of the bend is not positive and finite.
    #[error("the scale kappa must be positive and finite, got {0}")]
    Kappa(f64),
    /// The scale of the gradient noise is not positive and finite.
    #[error("the scale of the gradient noise must be positive and finite, got {0}")]
    Noise(f64),
    /// Without friction the noise piles up for ever and has no stationary scale.
    #[error("kappa follows from the noise only for a momentum below 1, got {0}")]
    NoFriction(f64),
    /// The weight decay is negative or not finite.
    #[error("the weight decay must be finite and not negative, got {0}")]
    WeightDecay(f64),
    /// α can be found only where the bend is in the units of the gradients.
    #[error(
        "alpha is found only in the matched form, with a scale that is found too or that of the gradients' noise"
    )]
    AutoWithoutScale,
    /// Nesterov's look-ahead looks along the momentum, and there is none.
    #[error("Nesterov's form needs a momentum above 0")]
    NesterovWithoutMomentum,
    /// A limit for clipping is negative or not finite.
    #[error("the limit of clipping must be finite and not negative, got {0}")]
    Limit(f64),
    /// The factors of x ← x − outer · ∇G(inner · b) leave the range in which single precision has room to compute.
    #[error(
        "the scale leaves single precision no room: the field would be taken of {inner:e} b, and multiplied by {outer:e}; the first \
         must be within 1e-30 and 1e30, the second at most 1e30"
    )]
    Extreme {
        /// The factor of b.
        inner: f64,
        /// The factor of the field.
        outer: f64,
    },
}

impl From<levy_stable::ParameterError> for RuleError {
    fn from(error: levy_stable::ParameterError) -> Self {
        Self::Parameter(error.into())
    }
}

/// A gradient with a component that is NaN or infinite.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("component {index} of the gradient is {value}; nothing was changed")]
pub struct NonFiniteGradient {
    /// The first such component.
    pub index: usize,
    /// Its value.
    pub value: f64,
}

//! What can be wrong with a parameter.

use thiserror::Error;

/// A parameter outside its range. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The tail index is not in (0, 2].
    #[error("the tail index alpha must satisfy 0 < alpha <= 2, got {0}")]
    Alpha(f64),
    /// The tail index is too small for a table of ∇G_α.
    #[error("the field is tabulated for 0.1 <= alpha <= 2, got {0}")]
    TableAlpha(f64),
    /// The tail index is too small for the law of ∇G_α, whose scale α^(−1/α) nears the largest double.
    #[error("the field grad G is to be had for 0.0075 <= alpha <= 2, got {0}")]
    KineticAlpha(f64),
    /// The scale is not positive and finite.
    #[error("the scale must be positive and finite, got {0}")]
    Scale(f64),
    /// The time step of a path is not positive and finite.
    #[error("the time step must be positive and finite, got {0}")]
    TimeStep(f64),
}

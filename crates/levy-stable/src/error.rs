//! Errors for parameters outside their range.

use thiserror::Error;

/// An error for a parameter outside its range. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The tail index is not in (0, 2].
    #[error("alpha must satisfy 0 < alpha <= 2, got {0}")]
    Alpha(f64),
    /// The tail index is too small for a table of ∇G_α.
    #[error("a table of the field requires 0.1 <= alpha <= 2, got {0}")]
    TableAlpha(f64),
    /// The tail index is too small for ∇G_α: the scale α^(−1/α) of its law approaches the largest
    /// double.
    #[error("the field grad G requires 0.0075 <= alpha <= 2, got {0}")]
    KineticAlpha(f64),
    /// The scale is not positive and finite.
    #[error("the scale must be positive and finite, got {0}")]
    Scale(f64),
    /// The time step of a path is not positive and finite.
    #[error("the time step must be positive and finite, got {0}")]
    TimeStep(f64),
}

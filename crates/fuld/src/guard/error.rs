//! Errors of the guard's settings and of stored states.

use super::FORMAT_VERSION;
use thiserror::Error;

/// An invalid setting of a guard, with the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The multiple c at which components are clipped is not positive.
    #[error("the guard's clip must be positive, got {0}")]
    Clip(f64),
}

/// Numbers that are not the state of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GuardStateError {
    /// The array has the wrong size.
    #[error("a guard's state must have 3 numbers, got {0}")]
    Size(usize),
    /// The state was written in another format.
    #[error(
        "the guard's state has format version {0}, expected {FORMAT_VERSION}; begin a new state"
    )]
    Version(f32),
    /// The number of steps is not an integer from 0 to 50.
    #[error("the number of steps in a guard's state must be an integer from 0 to 50, got {0}")]
    Steps(f32),
    /// The logarithm of the scale is not finite.
    #[error("the logarithm of the scale in a guard's state must be finite, got {0}")]
    LogScale(f32),
}

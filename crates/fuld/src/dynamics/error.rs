//! Errors of kinetic energies.

use super::drift_flow::FlowError;
use crate::parameters::ParameterError;
use thiserror::Error;

/// A function that cannot serve as kinetic energy, with the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum KineticError {
    /// A bad α or β.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// g or g′ is not finite where it must be.
    #[error("the kinetic energy and its derivative must be finite, got {value} at v = {v}")]
    NotFinite {
        /// Where.
        v: f64,
        /// g(v) or g′(v).
        value: f64,
    },
    /// g(v) ≠ g(−v), or g′ is not odd.
    #[error(
        "the kinetic energy must be even, but g or its derivative differ by {difference} between v = {v} and -v"
    )]
    NotEven {
        /// Where.
        v: f64,
        /// By how much.
        difference: f64,
    },
    /// e^(−βg) falls too slowly.
    #[error(
        "exp(-beta g) must be integrable, which requires beta v g'(v) > 1 far out; got {value} at v = {v}"
    )]
    NotIntegrable {
        /// Where.
        v: f64,
        /// β v g′(v).
        value: f64,
    },
    /// The drift that belongs to g is not a friction, or cannot be tabulated.
    #[error("the drift of this kinetic energy cannot be used: {0}")]
    Drift(#[from] FlowError),
}

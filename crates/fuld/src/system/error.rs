//! Errors of composing a system.

use crate::dynamics::{FlmcError, KineticError};
use crate::parameters::ParameterError;
use thiserror::Error;

/// A system that cannot be composed.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SystemError {
    /// A parameter is outside the range of this system.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The kinetic energy cannot be used.
    #[error(transparent)]
    Kinetic(#[from] KineticError),
    /// The exact drift of FLMC cannot be tabulated.
    #[error(transparent)]
    Flmc(#[from] FlmcError),
}

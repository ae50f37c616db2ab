//! Errors of building a potential.

use thiserror::Error;

/// An error that keeps a potential from being built. It carries the offending value.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PotentialError {
    /// The dimension is too small for the potential.
    #[error("{potential} requires a dimension of at least {least}, got {given}")]
    Dimension {
        /// The potential.
        potential: &'static str,
        /// The smallest dimension.
        least: usize,
        /// The given dimension.
        given: usize,
    },
    /// The dimension is fixed by the data.
    #[error("{potential} has the dimension of its data, {fixed}, got {given}")]
    FixedDimension {
        /// The potential.
        potential: &'static str,
        /// The dimension of the data.
        fixed: usize,
        /// The given dimension.
        given: usize,
    },
    /// A parameter is outside its range.
    #[error("the parameter {parameter} of {potential} must be {allowed}, got {given}")]
    Parameter {
        /// The potential.
        potential: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The allowed range.
        allowed: &'static str,
        /// The offending value.
        given: f64,
    },
    /// Lists that belong together differ in length.
    #[error("{what} of {potential}: expected {expected}, got {given}")]
    Length {
        /// The potential.
        potential: &'static str,
        /// The list.
        what: &'static str,
        /// The expected length.
        expected: usize,
        /// The given length.
        given: usize,
    },
}

/// Accepts a positive, finite number.
pub(super) fn positive(
    potential: &'static str,
    parameter: &'static str,
    given: f64,
) -> Result<f64, PotentialError> {
    let allowed = "positive and finite";
    let valid = given > 0.0 && given.is_finite();
    valid.then_some(given).ok_or(PotentialError::Parameter { potential, parameter, allowed, given })
}

/// Accepts a finite number.
pub(super) fn finite(
    potential: &'static str,
    parameter: &'static str,
    given: f64,
) -> Result<f64, PotentialError> {
    let allowed = "finite";
    given.is_finite().then_some(given).ok_or(PotentialError::Parameter {
        potential,
        parameter,
        allowed,
        given,
    })
}

/// Accepts a dimension of at least `least`.
pub(super) fn at_least(
    potential: &'static str,
    least: usize,
    given: usize,
) -> Result<usize, PotentialError> {
    (given >= least).then_some(given).ok_or(PotentialError::Dimension { potential, least, given })
}

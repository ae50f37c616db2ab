//! Why there is no Gibbs law.

use crate::ParameterError;
use thiserror::Error;

/// e^(−βf) that cannot be normalised, or not by these means.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GibbsError {
    /// A bad β.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The potential has another number of coordinates.
    #[error("the potential has {given} coordinates where {needed} is needed")]
    Dimension {
        /// The number it should have.
        needed: usize,
        /// The number it has.
        given: usize,
    },
    /// The potential is smallest far out, or has no minimum at all.
    #[error(
        "exp(-beta f) cannot be normalised: f still falls at x = {0:.0e}; is a confining term missing, or a sign wrong?"
    )]
    Falls(f64),
    /// The mass does not get small far out.
    #[error(
        "exp(-beta f) cannot be normalised: a part {part:.1e} of its mass is still around x = {x:.0e}; f must grow faster than \
         log|x|/beta, and the better the faster"
    )]
    Tails {
        /// How far out.
        x: f64,
        /// What part of all mass the last octave has.
        part: f64,
    },
    /// The potential is constant, or not a finite number anywhere.
    #[error("exp(-beta f) cannot be normalised: f has no minimum at which it is a finite number")]
    Nowhere,
}

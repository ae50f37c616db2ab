//! Errors of normalising a Gibbs law.

use thiserror::Error;

/// An error that keeps e^(−βf) from being normalised.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GibbsError {
    /// The potential has another number of coordinates.
    #[error("the Gibbs law requires a potential of dimension {needed}, got {given}")]
    Dimension {
        /// The required dimension.
        needed: usize,
        /// The dimension of the potential.
        given: usize,
    },
    /// The potential decreases to the end of the searched range.
    #[error(
        "exp(-beta f) cannot be normalised: f still falls at x = {0:.0e}; it must have a minimum: add a confining term, or check its signs"
    )]
    Falls(f64),
    /// The density decreases too slowly for its mass to be finite.
    #[error(
        "exp(-beta f) cannot be normalised: a fraction {part:.1e} of its mass lies around x = {x:.0e}; f must grow faster than \
         log|x|/beta"
    )]
    Tails {
        /// The end of the searched range.
        x: f64,
        /// The fraction of the mass in the last octave.
        part: f64,
    },
    /// The density grows too fast near a point at which the potential is −∞.
    #[error(
        "exp(-beta f) cannot be normalised: near x = {x} it grows like a power of the distance with exponent -{exponent:.2}; f must not fall \
         faster than log|x|/beta there"
    )]
    Pole {
        /// The point.
        x: f64,
        /// The exponent a of the density r^(−a) at the distance r.
        exponent: f64,
    },
    /// The potential is constant, or is not finite anywhere.
    #[error("exp(-beta f) cannot be normalised: f must have a minimum at which it is finite")]
    Nowhere,
}

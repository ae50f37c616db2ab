//! Errors of the diagnostics.

use thiserror::Error;

/// An error for input that a diagnostic does not accept. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DiagnosticError {
    /// There is no chain.
    #[error("the diagnostic requires at least one chain, got none")]
    NoChains,
    /// A chain differs in length from the first.
    #[error(
        "chains must have equal lengths: chain {chain} has {length} draws, chain 0 has {expected}"
    )]
    UnequalChains {
        /// Index of the chain.
        chain: usize,
        /// The length of the chain.
        length: usize,
        /// The length of chain 0.
        expected: usize,
    },
    /// There are too few draws.
    #[error("the diagnostic requires at least {needed} draws, got {got}")]
    TooFewDraws {
        /// The smallest accepted number.
        needed: usize,
        /// The given number.
        got: usize,
    },
    /// A draw is infinite or not a number.
    #[error("draws must be finite, but draw {index} is {value}")]
    NotFinite {
        /// Index of the first such draw.
        index: usize,
        /// The draw.
        value: f64,
    },
    /// Excesses over a threshold are not positive, finite and ascending.
    #[error("excesses must be positive, finite and ascending, but number {index} is {value}")]
    Excess {
        /// Index of the first offending excess.
        index: usize,
        /// The excess.
        value: f64,
    },
    /// A probability is not in [0, 1].
    #[error("a probability must satisfy 0 <= p <= 1, got {0}")]
    Probability(f64),
    /// An interval is empty, unbounded or reversed.
    #[error("an interval must satisfy -inf < low < high < inf, got [{low}, {high}]")]
    Interval {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A number of bins is 0 or too large.
    #[error("the number of bins must satisfy 1 <= bins <= 16777216, got {0}")]
    Bins(usize),
    /// A relative efficiency, or number of effective draws, is not positive and finite.
    #[error(
        "the relative efficiency, or number of effective draws, must be positive and finite, got {0}"
    )]
    Efficiency(f64),
    /// (Nearly) all draws are equal.
    #[error("the draws are all {0}; the diagnostic requires different ones")]
    NoSpread(f64),
    /// A distribution function is outside [0, 1] or decreases.
    #[error("a distribution function must increase from 0 to 1, but this one is {value} at {x}")]
    NotADistribution {
        /// The argument.
        x: f64,
        /// The value at the argument.
        value: f64,
    },
    /// An integral over a distribution function did not converge, for example because the function
    /// has numerical noise.
    #[error(
        "the integral did not converge in {0} evaluations of the distribution function, which must be smooth"
    )]
    Unsettled(usize),
}

/// Returns p if it is a probability.
pub(super) fn probability(p: f64) -> Result<f64, DiagnosticError> {
    if (0.0..=1.0).contains(&p) { Ok(p) } else { Err(DiagnosticError::Probability(p)) }
}

/// Returns a relative efficiency or number of effective draws if it is positive and finite.
pub(super) fn efficiency(value: f64) -> Result<f64, DiagnosticError> {
    if value > 0.0 && value < f64::INFINITY {
        Ok(value)
    } else {
        Err(DiagnosticError::Efficiency(value))
    }
}

//! What can be wrong with the numbers handed to a diagnostic.

use thiserror::Error;

/// Input that a diagnostic cannot work on. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DiagnosticError {
    /// There is no chain at all.
    #[error("at least one chain is needed")]
    NoChains,
    /// A chain differs in length from the first.
    #[error("chains must be equally long: chain {chain} has {length} draws, the first {expected}")]
    UnequalChains {
        /// Index of the chain.
        chain: usize,
        /// Its length.
        length: usize,
        /// Length of chain 0.
        expected: usize,
    },
    /// There are too few draws.
    #[error("at least {needed} draws are needed, got {got}")]
    TooFewDraws {
        /// Smallest number that is accepted.
        needed: usize,
        /// Number found.
        got: usize,
    },
    /// A draw is infinite or not a number.
    #[error("draws must be finite, draw {index} is {value}")]
    NotFinite {
        /// Index of the first such draw.
        index: usize,
        /// The draw.
        value: f64,
    },
    /// Excesses over a cut are not positive, finite and in order.
    #[error("excesses must be positive, finite and ascending, number {index} is {value}")]
    Excess {
        /// Index of the first that is not.
        index: usize,
        /// The excess.
        value: f64,
    },
    /// A probability is not in [0, 1].
    #[error("a probability must satisfy 0 <= p <= 1, got {0}")]
    Probability(f64),
    /// An interval is empty, unbounded or upside down.
    #[error("an interval must satisfy -inf < low < high < inf, got [{low}, {high}]")]
    Interval {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A number of bins is zero, or more than memory should be spent on.
    #[error("the number of bins must satisfy 1 <= bins <= 16777216, got {0}")]
    Bins(usize),
    /// A relative efficiency, or number of effective draws, is not positive and finite.
    #[error("an efficiency must be positive and finite, got {0}")]
    Efficiency(f64),
    /// (Nearly) all draws are the same number.
    #[error("draws have no spread: they are all {0}")]
    NoSpread(f64),
    /// A function given as distribution function leaves [0, 1] or decreases.
    #[error("the function is no distribution function: it is {value} at {x}")]
    NotADistribution {
        /// Where it was seen.
        x: f64,
        /// The value there.
        value: f64,
    },
    /// An integral over a distribution function did not settle, as happens with one that is computed with much noise.
    #[error("the integral did not settle in {0} evaluations of the distribution function")]
    Unsettled(usize),
}

/// p, if it is a probability.
pub(super) fn probability(p: f64) -> Result<f64, DiagnosticError> {
    if (0.0..=1.0).contains(&p) { Ok(p) } else { Err(DiagnosticError::Probability(p)) }
}

/// A relative efficiency or number of effective draws, if it is one.
pub(super) fn efficiency(value: f64) -> Result<f64, DiagnosticError> {
    if value > 0.0 && value < f64::INFINITY { Ok(value) } else { Err(DiagnosticError::Efficiency(value)) }
}

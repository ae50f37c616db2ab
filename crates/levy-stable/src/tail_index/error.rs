//! Errors of tail-index estimation: bad data and bad settings.

use thiserror::Error;

/// An error that keeps a tail index from being estimated. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TailIndexError {
    /// A number is NaN, infinite, or so large that differences would overflow.
    #[error(
        "number {index} of the data is {value}; numbers must be finite and at most 1e300 in size"
    )]
    Number {
        /// The index of the number in the data.
        index: usize,
        /// The number.
        value: f64,
    },
    /// There are too few rows, or too few numbers that differ from their median.
    #[error(
        "the estimate requires at least {needed} numbers that differ from their median, got {got}"
    )]
    TooFew {
        /// The number that the method requires.
        needed: usize,
        /// The number that there are.
        got: usize,
    },
    /// A coordinate is constant.
    #[error("coordinate {coordinate} of the data is constant ({value}); remove it")]
    Constant {
        /// The coordinate, 0 for scalars.
        coordinate: usize,
        /// The number.
        value: f64,
    },
    /// A coordinate has interquartile range 0 and cannot be scaled by it.
    #[error(
        "the interquartile range of coordinate {coordinate} is 0; it must be positive: remove repeated values"
    )]
    NoSpread {
        /// The coordinate, 0 for scalars.
        coordinate: usize,
    },
    /// The numbers do not form whole rows.
    #[error(
        "{numbers} numbers do not form rows of dimension {dimension}; the dimension must divide their number"
    )]
    Dimension {
        /// The number of numbers.
        numbers: usize,
        /// The requested dimension.
        dimension: usize,
    },
    /// A block size of the block log-moment method is below 2.
    #[error("a block must have at least 2 numbers, got {0}")]
    BlockSize(usize),
    /// The block log-moment method was given no block size.
    #[error("the block log-moment method requires at least one block size, got none")]
    NoBlockSize,
    /// The number of order statistics of Hill's estimator is 0.
    #[error("the number k of order statistics must be at least 1, got {0}")]
    OrderStatistics(usize),
    /// The order statistics are all equal, so that Hill's estimate would be infinite.
    #[error(
        "the largest numbers all have the magnitude {0}; Hill's estimator requires different ones: increase k or take more data"
    )]
    NoTail(f64),
    /// The empirical characteristic function is not that of a stable law at the regression points.
    #[error(
        "|phi|^2 lies in (0, 1) at {0} regression points; at least 2 are required: take more data or another method"
    )]
    Characteristic(usize),
    /// The law of the control samples has an invalid parameter.
    #[error(transparent)]
    Law(#[from] crate::ParameterError),
    /// The confidence level is outside (0, 1).
    #[error("the confidence level must satisfy 0 < level < 1, got {0}")]
    Level(f64),
    /// The estimate was interrupted. Only an estimator or `run` function supplied by the caller
    /// returns this.
    #[error("the estimate was interrupted")]
    Stopped,
    /// There are too few resamples for the quantiles at the ends of the interval.
    #[error("an interval of this level requires at least {needed} resamples, got {got}")]
    Resamples {
        /// The smallest number of resamples for the level.
        needed: usize,
        /// The requested number.
        got: usize,
    },
}

impl TailIndexError {
    /// Returns whether the numbers, not a setting, caused the error: another sample of the same law
    /// may give an estimate.
    pub(super) fn depends_on_draw(self) -> bool {
        matches!(self, Self::NoTail(_) | Self::Characteristic(_) | Self::TooFew { .. })
    }
}

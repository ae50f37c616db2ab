//! What can be wrong with data or settings.

use thiserror::Error;

/// Why no tail index could be estimated. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TailIndexError {
    /// A number that cannot be worked with: NaN, infinite, or so large that differences would overflow.
    #[error("number {index} of the data is {value}; numbers must be finite and at most 1e300 in size")]
    Number {
        /// Its place in the data.
        index: usize,
        /// The number.
        value: f64,
    },
    /// Too few numbers, or rows, or numbers that differ from their centre.
    #[error("at least {needed} numbers that differ from their centre are needed, got {got}")]
    TooFew {
        /// How many the method needs.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// A coordinate that is the same number throughout: it has no law.
    #[error("coordinate {coordinate} of the data is {value} throughout")]
    Constant {
        /// The coordinate, 0 for scalars.
        coordinate: usize,
        /// The number.
        value: f64,
    },
    /// A coordinate with interquartile range 0, where one is needed as a unit.
    #[error("half of coordinate {coordinate} is one number: its interquartile range is 0")]
    NoSpread {
        /// The coordinate, 0 for scalars.
        coordinate: usize,
    },
    /// Numbers that do not make whole rows.
    #[error("{numbers} numbers cannot be rows of dimension {dimension}")]
    Dimension {
        /// How many numbers there are.
        numbers: usize,
        /// The dimension asked for.
        dimension: usize,
    },
    /// A block of the block log-moment method of fewer than two numbers.
    #[error("a block must have at least 2 numbers, got {0}")]
    BlockSize(usize),
    /// The block log-moment method was given no block size.
    #[error("at least one block size is needed")]
    NoBlockSize,
    /// Hill's estimator was asked to average over no order statistic.
    #[error("the number k of order statistics must be at least 1, got {0}")]
    OrderStatistics(usize),
    /// The order statistics in use are all the same number, so that nothing decays.
    #[error("the largest numbers are all {0} in size: no tail to be seen")]
    NoTail(f64),
    /// The empirical characteristic function is not that of any stable law where it was looked at.
    #[error(
        "|phi|^2 lies in (0, 1) at {0} of the regression points only; at least 2 are needed: take more numbers or another method"
    )]
    Characteristic(usize),
    /// The law of the Gaussian control was refused.
    #[error(transparent)]
    Law(#[from] crate::ParameterError),
    /// A confidence level outside (0, 1).
    #[error("the level of an interval must satisfy 0 < level < 1, got {0}")]
    Level(f64),
    /// The estimator was told to stop, as one that can be interrupted may say.
    #[error("the estimate was stopped before its end")]
    Stopped,
    /// So few resamples that the ends of the interval would lie beyond the most extreme.
    #[error("an interval of this level needs at least {needed} resamples, got {got}")]
    Resamples {
        /// The fewest resamples for the level.
        needed: usize,
        /// The resamples asked for.
        got: usize,
    },
}

impl TailIndexError {
    /// Whether other draws of the same law may well do better: it says what is wrong with these numbers, not with a setting.
    pub(super) fn is_of_the_draw(self) -> bool {
        matches!(self, Self::NoTail(_) | Self::Characteristic(_) | Self::TooFew { .. })
    }
}

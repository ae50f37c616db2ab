//! The names of the estimators.

use super::{BlockLogMoments, CharacteristicRegression, Hill, LogMoments, TailIndexEstimator};

/// The name of an estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// [`CharacteristicRegression`]
    Characteristic,
    /// [`BlockLogMoments`]
    Blocks,
    /// [`LogMoments`]
    LogMoments,
    /// [`Hill`]
    Hill,
}

impl Method {
    /// All methods, the most accurate on stable data first.
    pub const ALL: [Self; 4] = [Self::Characteristic, Self::Blocks, Self::LogMoments, Self::Hill];

    /// Returns the name by which settings select the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Characteristic => "characteristic",
            Self::Blocks => "blocks",
            Self::LogMoments => "log-moments",
            Self::Hill => "hill",
        }
    }

    /// Returns the name of the method in prose.
    pub fn title(self) -> &'static str {
        match self {
            Self::Characteristic => "characteristic function",
            Self::Blocks => "block log-moments",
            Self::LogMoments => "log-moments",
            Self::Hill => "Hill",
        }
    }

    /// Returns the estimator with its default settings.
    pub fn estimator(self) -> Box<dyn TailIndexEstimator + Sync> {
        match self {
            Self::Characteristic => Box::new(CharacteristicRegression::default()),
            Self::Blocks => Box::new(BlockLogMoments::default()),
            Self::LogMoments => Box::new(LogMoments),
            Self::Hill => Box::new(Hill::default()),
        }
    }
}

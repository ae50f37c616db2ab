//! The estimators by name.

use super::{BlockLogMoments, CharacteristicRegression, Hill, LogMoments, TailIndexEstimator};

/// An estimator with a name.
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
    /// All of them, the most accurate on stable data first.
    pub const ALL: [Self; 4] = [Self::Characteristic, Self::Blocks, Self::LogMoments, Self::Hill];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Characteristic => "characteristic",
            Self::Blocks => "blocks",
            Self::LogMoments => "log-moments",
            Self::Hill => "hill",
        }
    }

    /// What it is called in a text.
    pub fn title(self) -> &'static str {
        match self {
            Self::Characteristic => "characteristic function",
            Self::Blocks => "block log-moments",
            Self::LogMoments => "log-moments",
            Self::Hill => "Hill",
        }
    }

    /// The estimator with the settings that it has by default.
    pub fn estimator(self) -> Box<dyn TailIndexEstimator + Sync> {
        match self {
            Self::Characteristic => Box::new(CharacteristicRegression::default()),
            Self::Blocks => Box::new(BlockLogMoments::default()),
            Self::LogMoments => Box::new(LogMoments),
            Self::Hill => Box::new(Hill::default()),
        }
    }
}

//! Errors of an optimizer for a stack of runs.

use fuld::optimizer::{Options, RuleError};
use std::error::Error;
use std::fmt;

/// A stack of runs that cannot share one optimizer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StackError {
    /// There are no runs.
    Empty,
    /// The options of a run differ from those of the first run.
    Options {
        /// Index of the run.
        run: usize,
        /// Its options.
        given: Options,
        /// Options of the first run.
        expected: Options,
    },
    /// The guard of a run differs from that of the first run.
    Guard {
        /// Index of the run.
        run: usize,
        /// Its guard.
        given: Option<f64>,
        /// Guard of the first run.
        expected: Option<f64>,
    },
    /// The settings of a run are invalid.
    Rule {
        /// Index of the run.
        run: usize,
        /// The invalid setting.
        source: RuleError,
    },
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a stack must have at least 1 run, got 0"),
            Self::Options { run, given, expected } => write!(
                f,
                "all runs of a stack must have the same weight decay, nesterov and maximize: run {run} has {given:?}, run 0 has \
                 {expected:?}"
            ),
            Self::Guard { run, given, expected } => {
                write!(
                    f,
                    "all runs of a stack must have the same guard: run {run} has {given:?}, run 0 has {expected:?}"
                )
            }
            Self::Rule { run, source } => write!(f, "run {run}: {source}"),
        }
    }
}

impl Error for StackError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Rule { source, .. } => Some(source),
            _ => None,
        }
    }
}

//! Errors of targets.

use crate::names::{UnknownName, did_you_mean, nearest};
use fuld::potential::{FormulaError, PotentialError, Problem};
use thiserror::Error;

/// A target that cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// No potential has this name.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// The potential has no parameter of this name.
    #[error("{potential} has no parameter `{name}`{}; it has {}", did_you_mean(.nearest), .known.join(", "))]
    UnknownParameter {
        /// The potential.
        potential: &'static str,
        /// The name that was given.
        name: String,
        /// The closest existing name, if one is close.
        nearest: Option<&'static str>,
        /// All parameters.
        known: Vec<&'static str>,
    },
    /// The formula cannot be read.
    #[error("this formula cannot be read: {}", with_suggestion(.0))]
    Formula(FormulaError),
    /// A formula has no parameters.
    #[error(
        "parameters like `{0}` are for potentials with names; in a formula write the number itself"
    )]
    FormulaParameter(String),
    /// The potential refuses its dimension or a parameter.
    #[error(transparent)]
    Potential(#[from] PotentialError),
}

/// The message contains that of the formula's error, which is therefore not a source.
impl From<FormulaError> for TargetError {
    fn from(error: FormulaError) -> Self {
        Self::Formula(error)
    }
}

/// Returns the message of a formula's error, with the closest name if a name does not exist.
fn with_suggestion(error: &FormulaError) -> String {
    let message = error.to_string();
    let Problem::Name { name, known } = error.problem() else { return message };
    match (nearest(name, known.iter().copied()), message.split_once('\n')) {
        (Some(nearest), Some((problem, place))) => {
            format!("{problem}: did you mean {nearest}?\n{place}")
        }
        _ => message,
    }
}

/// Chains that would start where the potential has no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{bad} of {chains} chains would start where f is not finite, for example at {at}: choose a start where f is finite, such as 1"
)]
#[non_exhaustive]
pub struct Outside {
    /// The number of these chains.
    pub bad: usize,
    /// The number of all chains.
    pub chains: usize,
    /// The start of the first of them.
    pub at: String,
}

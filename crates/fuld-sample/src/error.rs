//! What can be wrong with a request to sample.

use crate::recipe::RecipeError;
use thiserror::Error;

/// SampleSpec that are out of range, or do not go together, and files that have none.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// There is nothing to sample from.
    #[error(
        "say what to sample from: a formula like \"x^4/4 - x^2/2\", a name like double_well, or --config FILE"
    )]
    NoPotential,
    /// What no program could sample.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// Too few draws to sum up.
    #[error("draws must be at least {least}, got {given}")]
    FewDraws {
        /// What a summary needs.
        least: u64,
        /// What it would get.
        given: u64,
    },
    /// A configuration that cannot be read or has what no configuration has.
    #[error("{path}: {reason}")]
    Config {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

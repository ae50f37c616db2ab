//! What can be wrong with a recipe.

use crate::dynamics::{FlmcError, KineticError};
use crate::gibbs::GibbsError;
use crate::potential::{Outside, PotentialError, catalogue};
use crate::{Dynamics, ParameterError, UnknownName, Unsuited};
use thiserror::Error;

/// Settings that are out of range, or do not go together. The words are those of a user, whatever the program.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// A system or integrator that does not exist.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// A potential that cannot be built.
    #[error(transparent)]
    Potential(#[from] PotentialError),
    /// A parameter of the dynamics out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A kinetic energy that does not exist.
    #[error(transparent)]
    Kinetic(#[from] KineticError),
    /// A drift that cannot be made.
    #[error("flmc: {0}; the system fuld has no such limits")]
    Flmc(#[from] FlmcError),
    /// The reach of a drift cannot be found.
    #[error("flmc tabulates its drift where the mass is, but {0}")]
    FlmcMass(#[from] GibbsError),
    /// The exact drift of a potential that is no sum over coordinates.
    #[error(
        "flmc knows its drift only where the potential is a sum of one function over the coordinates: a function of x alone, or \
         one of {names}; this one has {0} coordinates. Use the system fuld, which needs the gradient only",
        names = separable()
    )]
    NotSeparable(usize),
    /// The integrator does not suit the system.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A setting that the system does not have.
    #[error("{system} has no {setting}: leave it out, or choose another system")]
    Foreign {
        /// The setting.
        setting: &'static str,
        /// The system.
        system: Dynamics,
    },
    /// A count that is too small.
    #[error("{what} must be at least {least}, got {given}")]
    TooFew {
        /// What is counted.
        what: &'static str,
        /// The smallest number that will do.
        least: u64,
        /// The number given.
        given: u64,
    },
    /// More numbers than a machine holds.
    #[error(
        "{chains} chains of {draws} draws with {dim} coordinates are more numbers than a machine can hold"
    )]
    TooMany {
        /// Chains.
        chains: usize,
        /// Draws a chain.
        draws: u64,
        /// Coordinates.
        dim: usize,
    },
    /// More steps than can be counted.
    #[error(
        "{warmup} steps of warm-up and {draws} draws of {thin} steps each would never end: lower warmup, draws or thin"
    )]
    TooManySteps {
        /// Steps before the first draw.
        warmup: u64,
        /// Draws a chain.
        draws: u64,
        /// Steps a draw.
        thin: u64,
    },
    /// A start in another dimension.
    #[error("start has {start} coordinates, the potential {dim}; one number stands for all of them")]
    StartDimension {
        /// Coordinates of the start.
        start: usize,
        /// Coordinates of the potential.
        dim: usize,
    },
    /// A start that is nowhere.
    #[error("the coordinates of start must be finite numbers, got {0}")]
    StartValue(f64),
    /// A start scattered by what is no standard deviation.
    #[error("the standard deviation of start must be finite and not negative, got {0}")]
    StartSpread(f64),
    /// Chains that start where the potential has no value.
    #[error(transparent)]
    Outside(#[from] Outside),
    /// A half-life without a power.
    #[error(
        "a half-life says how fast the step falls, but the step is constant: give a step power too, as in 0.5"
    )]
    HalfLife,
}

/// Potentials with names whose exact drift is known.
fn separable() -> String {
    let names: Vec<&str> =
        catalogue().iter().filter(|entry| entry.separable).map(|entry| entry.name).collect();
    names.join(", ")
}

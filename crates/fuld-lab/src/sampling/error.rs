//! What can be wrong with a request to sample.

use fuld::custom_kinetic::KineticError;
use fuld::flmc_drift::FlmcError;
use fuld::gibbs::GibbsError;
use fuld::potential::{FormulaError, PotentialError};
use fuld::{ParameterError, Unsuited};
use thiserror::Error;

/// Settings that are out of range, or do not go together.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// There is nothing to sample from.
    #[error(
        "say what to sample from: a formula like \"x^4/4 - x^2/2\", a name like double_well, or --config FILE"
    )]
    NoPotential,
    /// A formula that cannot be read.
    #[error("this formula cannot be read: {0}")]
    Formula(#[from] FormulaError),
    /// A name or parameter that does not exist.
    #[error(transparent)]
    Potential(#[from] PotentialError),
    /// Parameters of a formula.
    #[error("--param {0} is for potentials with names; in a formula write the number itself")]
    FormulaParameter(String),
    /// A parameter of the dynamics out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A kinetic energy that does not exist.
    #[error(transparent)]
    Kinetic(#[from] KineticError),
    /// A drift that cannot be made.
    #[error("flmc: {0}; --system fuld has no such limits")]
    Flmc(#[from] FlmcError),
    /// The reach of a drift cannot be found.
    #[error("flmc tabulates its drift where the mass is, but {0}")]
    FlmcMass(#[from] GibbsError),
    /// The exact drift of a potential that is no sum over coordinates.
    #[error(
        "flmc knows its drift only where the potential is a sum of one function over the coordinates: a formula in x alone, or \
         double_well, harmonic or cauchy; this one has {0} coordinates. Use --system fuld, which needs the gradient only"
    )]
    NotSeparable(usize),
    /// The integrator does not suit the system.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// A setting that the system does not have.
    #[error("{system} has no {setting}: leave it out, or choose another --system")]
    Foreign {
        /// The setting.
        setting: &'static str,
        /// The system.
        system: String,
    },
    /// A count that is too small.
    #[error("{0} must be at least {1}, got {2}")]
    TooSmall(&'static str, u64, u64),
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
    /// Noise whose scale is no number.
    #[error(
        "alpha = {alpha} makes noise of scale {scale}, out of the range of numbers: choose a larger alpha"
    )]
    NoiseScale {
        /// The tail index.
        alpha: f64,
        /// What came out.
        scale: f64,
    },
    /// Chains that start where the potential has no value.
    #[error(
        "{bad} of {chains} chains would start where f is not a finite number, as at {at}: name a place inside with --start, \
         as in --start 1"
    )]
    Outside {
        /// How many of them.
        bad: usize,
        /// All.
        chains: usize,
        /// The start of the first.
        at: String,
    },
    /// A start in another dimension.
    #[error("--start has {start} coordinates, the potential {dim}; one number stands for all of them")]
    Start {
        /// Coordinates of the start.
        start: usize,
        /// Coordinates of the potential.
        dim: usize,
    },
    /// A half-life without a power.
    #[error(
        "half-life says how fast the step falls, but the step is constant: give step-power too, as in 0.5"
    )]
    HalfLife,
    /// A configuration that cannot be read or has what no configuration has.
    #[error("{path}: {reason}")]
    Config {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

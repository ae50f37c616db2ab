//! Errors of requests to sample.

use crate::names::UnknownName;
use crate::potentials::potentials;
use crate::target_error::{Outside, TargetError};
use fuld::dynamics::FlmcError;
use fuld::gibbs::GibbsError;
use fuld::{GradientNoiseError, Integrator, ParameterError, SystemError, SystemKind, Unsuited};
use thiserror::Error;

/// Settings that are out of range or incompatible. The messages apply to the command line and to
/// Python alike.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// The request names no potential.
    #[error(
        "say what to sample from: a formula like \"x^4/4 - x^2/2\", a name like double_well, or --config FILE"
    )]
    NoPotential,
    /// The system or integrator does not exist.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// The target cannot be built.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The system cannot be composed.
    #[error(transparent)]
    System(SystemError),
    /// The exact drift of FLMC cannot be tabulated.
    #[error("flmc: {0}; the system fuld has no such limits")]
    Flmc(FlmcError),
    /// The reach of FLMC's table cannot be computed.
    #[error("flmc tabulates its drift where exp(-beta f) has its mass, but {0}")]
    FlmcMass(#[from] GibbsError),
    /// The potential is not a sum over coordinates, as the exact drift of FLMC requires.
    #[error(
        "flmc requires a potential that is a sum of one function over the coordinates: a function of x alone, or \
         one of {names}; this one has {0} coordinates. Use the system fuld, which requires only the gradient",
        names = separable()
    )]
    NotSeparable(usize),
    /// The integrator does not suit the system.
    #[error(transparent)]
    Unsuited(#[from] Unsuited),
    /// The noise of the gradients cannot be taken for a part of the dynamics' own.
    #[error(transparent)]
    GradientNoise(#[from] GradientNoiseError),
    /// `noise_scale` was given for a potential whose gradients have no noise.
    #[error(
        "`noise_scale` requires stochastic gradients, but those of this potential are exact: leave it out"
    )]
    NoiseOfExactGradients,
    /// A setting that the system does not have.
    #[error("{system} has no {setting}: leave it out, or choose another system")]
    Foreign {
        /// The setting.
        setting: &'static str,
        /// The system.
        system: SystemKind,
    },
    /// A setting of exact sampling was given for another integrator.
    #[error("`{setting}` requires the integrator exact, got {}", integrator.name())]
    NotExact {
        /// The setting.
        setting: &'static str,
        /// The integrator.
        integrator: Integrator,
    },
    /// There are no temperatures, or too many.
    #[error("temper must be from 1 to {most}, got {given}")]
    Temper {
        /// The largest number.
        most: usize,
        /// The number that was given.
        given: usize,
    },
    /// Several temperatures without adaptation.
    #[error("{0} temperatures require adaptation: leave `temper` out, or adapt")]
    TemperFixed(usize),
    /// The path length is negative or not finite.
    #[error("path must be finite and not negative, got {0}")]
    Path(f64),
    /// A count is too small.
    #[error("{what} must be at least {least}, got {given}")]
    TooFew {
        /// The setting.
        what: &'static str,
        /// The smallest value.
        least: u64,
        /// The value that was given.
        given: u64,
    },
    /// The draws exceed 10¹¹ numbers.
    #[error(
        "{chains} chains of {draws} draws with {dim} coordinates exceed 1e11 numbers: lower chains, draws or dim"
    )]
    TooMany {
        /// Number of chains.
        chains: usize,
        /// Draws per chain.
        draws: u64,
        /// Coordinates.
        dim: usize,
    },
    /// The iterations exceed 10¹⁸.
    #[error(
        "warmup {warmup} and {draws} draws of {thin} iterations each exceed 1e18 iterations: lower warmup, draws or thin"
    )]
    TooManySteps {
        /// Iterations before the first draw.
        warmup: u64,
        /// Draws per chain.
        draws: u64,
        /// Iterations between draws.
        thin: u64,
    },
    /// The start does not fit the chains or the potential.
    #[error(
        "start must be one number, a point of shape ({dim},), or a point for each chain, of shape ({chains}, {dim}); got shape {shape}"
    )]
    StartShape {
        /// Shape of the start.
        shape: String,
        /// Number of chains.
        chains: usize,
        /// Coordinates of the potential.
        dim: usize,
    },
    /// A coordinate of the start is not finite.
    #[error("the coordinates of start must be finite numbers, got {0}")]
    StartValue(f64),
    /// The standard deviation of the start is negative or not finite.
    #[error("the standard deviation of start must be finite and not negative, got {0}")]
    StartSpread(f64),
    /// Chains would start where the potential is not finite.
    #[error(transparent)]
    Outside(#[from] Outside),
    /// The draws are too few for a summary.
    #[error("draws must be at least {least}, got {given}")]
    FewDraws {
        /// Smallest number of draws that the diagnostics accept.
        least: u64,
        /// The number of draws in the request.
        given: u64,
    },
    /// A configuration file cannot be read, or has an invalid setting.
    #[error("{path}: {reason}")]
    Config {
        /// The file.
        path: String,
        /// The cause.
        reason: String,
    },
    /// The stored settings of a run cannot be combined with those given.
    #[error("the stored settings cannot be read: {0}")]
    Override(String),
    /// The seed cannot be written as TOML, whose integers have 64 bits with a sign.
    #[error("seed must be at most {max}, got {0}", max = i64::MAX)]
    Seed(u64),
    /// `half_life` was given without `step_power`.
    #[error("`half_life` requires `step_power` (for example 0.5)")]
    HalfLife,
}

impl From<SystemError> for SamplingError {
    fn from(error: SystemError) -> Self {
        match error {
            SystemError::Flmc(error) => Self::Flmc(error),
            SystemError::Parameter(error) => Self::Parameter(error),
            error => Self::System(error),
        }
    }
}

/// Returns the named potentials that FLMC's exact drift exists for.
fn separable() -> String {
    let names: Vec<&str> =
        potentials().iter().filter(|entry| entry.separable).map(|entry| entry.name).collect();
    names.join(", ")
}

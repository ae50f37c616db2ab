//! A request to sample: the options of the command line, the keys of a configuration, the arguments
//! in Python.

use crate::names;
use crate::start::StartingPoint;
use fuld::{Integrator, SystemKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A target and settings of a run, each of which may be left out. [`complete`](Self::complete)
/// fills in the defaults.
///
/// ```
/// use fuld_sample::{SampleRequest, SamplingError};
/// # fn main() -> Result<(), SamplingError> {
/// let request = SampleRequest {
///     potential: Some("x^4/4 - x^2/2".into()),
///     alpha: Some(1.2),
///     chains: Some(8),
///     ..SampleRequest::default()
/// };
/// let (spec, well) = request.complete()?;
/// assert_eq!((spec.integrator.name(), spec.thin, spec.warmup), ("exact", 1, 500));
/// let run = spec.run(&well)?;
/// assert_eq!(run.sample(well.potential()).unwrap().coordinate(0)[7].len(), 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SampleRequest {
    /// A formula like "x^4/4 - x^2/2", or the name of a potential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub potential: Option<String>,
    /// The dimension. Default: the number of variables of the formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
    /// Inverse temperature β of the target exp(−βf). Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The system. Default: FULD.
    #[serde(with = "names", skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemKind>,
    /// Its discretisation. Default: exact for FULD with both kinetic energies and for underdamped
    /// Langevin dynamics, otherwise BAOAB, or tamed Euler for systems without a velocity.
    #[serde(with = "names", skip_serializing_if = "Option::is_none")]
    pub integrator: Option<Integrator>,
    /// Tail index of the noise. Default: 1.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Friction. Default: 2; exact sampling draws new velocities in each iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// Whether exact sampling adapts step, scales and path during the warmup. Default: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt: Option<bool>,
    /// Mean time of an iteration of exact sampling, at first if it is adapted. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<f64>,
    /// Number of temperatures of parallel tempering, for targets with many modes. Default: 1, no
    /// tempering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temper: Option<usize>,
    /// Step size η, at first if it is adapted. Default: 0.1 for exact sampling, otherwise 0.002 to
    /// 0.05, depending on the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// The p of η (1 + k/K)^(−p), k the iteration. Default: 0, a constant step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_power: Option<f64>,
    /// The K of η (1 + k/K)^(−p). Default: 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    /// Scale σ of SαS noise in every coordinate of stochastic gradients, of the tail index of the
    /// dynamics, which takes it for a part of its own noise. Default: 0, unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_scale: Option<f64>,
    /// Number of chains. Default: 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chains: Option<usize>,
    /// Draws per chain. Default: 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// Iterations before the first draw. Default: 500 for exact sampling, otherwise 100 times
    /// `thin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u64>,
    /// Iterations between draws. Default: 1 for exact sampling, otherwise a time of 1, or of 0.5
    /// for systems without a velocity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<u64>,
    /// Where chains start. Default: N(0, 1). A point with one coordinate applies to all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartingPoint>,
    /// Whether to keep velocities too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub velocities: bool,
    /// The seed, on which alone the draws depend. Default: a random one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Parameters of a named potential. Last, because TOML requires tables after values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub param: BTreeMap<String, f64>,
}

impl SampleRequest {
    /// Returns whether every setting that a run requires is given, as in a configuration stored
    /// with a run.
    pub(crate) fn is_complete(&self) -> bool {
        let texts = self.potential.is_some() && self.system.is_some() && self.integrator.is_some();
        let counts = self.dim.is_some() && self.chains.is_some() && self.draws.is_some();
        let steps = self.step.is_some() && self.warmup.is_some() && self.thin.is_some();
        texts && counts && steps && self.start.is_some() && self.seed.is_some()
    }

    /// Returns the request as TOML.
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

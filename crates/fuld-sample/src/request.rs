//! A request to sample, as the options of the command line and the keys of a configuration give it.

use crate::error::SamplingError;
use crate::names;
use crate::recipe::{Recipe, RecipeError};
use crate::spec::SampleSpec;
use crate::start::StartingPoint;
use crate::target::Target;
use fuld::diagnostics::Chains;
use fuld::{Integrator, SystemKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A request to sample: a target and partial settings. Every field that is left out has a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SampleRequest {
    /// A formula like "x^4/4 - x^2/2", or the name of a potential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub potential: Option<String>,
    /// The dimension. Default: the number of variables of the formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
    /// Inverse temperature β of the target exp(−βf).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The system.
    #[serde(with = "names", skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemKind>,
    /// Its discretisation.
    #[serde(with = "names", skip_serializing_if = "Option::is_none")]
    pub integrator: Option<Integrator>,
    /// Tail index of the noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Friction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// Step size η.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// The p of η (1 + k/K)^(−p), k the iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_power: Option<f64>,
    /// The K of η (1 + k/K)^(−p).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    /// Number of chains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chains: Option<usize>,
    /// Draws per chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// Iterations before the first draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u64>,
    /// Iterations between draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<u64>,
    /// Where chains start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartingPoint>,
    /// Whether to keep velocities too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub velocities: bool,
    /// The seed, on which alone the draws depend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Parameters of a named potential. Last, because TOML requires tables after values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub param: BTreeMap<String, f64>,
}

impl SampleRequest {
    /// Fills in the defaults and checks all settings.
    pub fn complete(&self) -> Result<(SampleSpec, Target), SamplingError> {
        let potential = self.potential.as_deref().ok_or(SamplingError::NoPotential)?.trim().to_owned();
        let parameters: Vec<(&str, f64)> = self.param.iter().map(|(name, &x)| (name.as_str(), x)).collect();
        let target = Target::new(&potential, self.dim, &parameters).map_err(RecipeError::from)?;
        let least = Chains::LEAST_DRAWS as u64;
        if let Some(given) = self.draws.filter(|&draws| draws < least) {
            return Err(SamplingError::FewDraws { least, given });
        }
        let recipe = self.recipe().complete(&target)?;
        Ok((SampleSpec { potential, dim: target.dim(), param: self.param.clone(), recipe }, target))
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            system: self.system.unwrap_or_default(),
            integrator: self.integrator,
            alpha: self.alpha,
            beta: self.beta,
            gamma: self.gamma,
            step: self.step,
            step_power: self.step_power,
            half_life: self.half_life,
            chains: self.chains,
            draws: self.draws,
            warmup: self.warmup,
            thin: self.thin,
            start: self.start.clone().map(|start| start.0),
            velocities: self.velocities,
            seed: self.seed.unwrap_or_default(),
        }
    }

    /// Returns whether every setting that a run requires is given, as in a configuration stored with a run.
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

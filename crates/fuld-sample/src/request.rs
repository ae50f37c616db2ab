//! What is asked for: the options of the command line, the keys of a configuration.

use super::{SamplingError, Settings, StartingPoint, named};
use clap::Args;
use fuld::diagnostics::Chains;
use fuld::potential::Target;
use fuld::{Dynamics, Integrator, Recipe, RecipeError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was asked for: all that is left out has a default.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Request {
    /// A formula like "x^4/4 - x^2/2", or the name of a potential (--help lists them)
    #[arg(allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub potential: Option<String>,
    /// Dimension [default: as many as the formula has variables]
    #[arg(long, value_name = "D", help_heading = "Target")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
    /// Inverse temperature: the target is exp(-beta f) [default: 1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Target")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The dynamics (--help lists them) [default: fuld]
    #[arg(
        long,
        help_heading = "Dynamics",
        value_parser = named::system(),
        ignore_case = true,
        hide_possible_values = true,
        value_name = "NAME"
    )]
    #[serde(with = "named", skip_serializing_if = "Option::is_none")]
    pub system: Option<Dynamics>,
    /// Its discretisation: baoab, aboba, euler, tamed-euler [default: baoab, tamed-euler without velocity]
    #[arg(
        long,
        help_heading = "Dynamics",
        value_parser = named::integrator(),
        ignore_case = true,
        hide_possible_values = true,
        value_name = "NAME"
    )]
    #[serde(with = "named", skip_serializing_if = "Option::is_none")]
    pub integrator: Option<Integrator>,
    /// Tail index of the noise, 0 to 2; 2 is Gaussian [default: 1.5]
    #[arg(long, allow_negative_numbers = true, help_heading = "Dynamics")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Friction [default: 2]
    #[arg(long, allow_negative_numbers = true, help_heading = "Dynamics")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// Step size eta [default: 0.002 to 0.05, what suits the system]
    #[arg(
        long,
        visible_alias = "eta",
        value_name = "ETA",
        allow_negative_numbers = true,
        help_heading = "Dynamics"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Let the step fall as eta (1 + k/K)^-P, k the iteration [default: 0, constant]
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Dynamics")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_power: Option<f64>,
    /// The K of --step-power [default: 1000]
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "Dynamics")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    /// Number of chains [default: 64]
    #[arg(long, value_name = "N", help_heading = "Amount")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chains: Option<usize>,
    /// Draws a chain [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Amount")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// Steps before the first draw [default: those of 100 draws]
    #[arg(long, value_name = "STEPS", help_heading = "Amount")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u64>,
    /// Steps a draw [default: a time of 1, without velocity 0.5]
    #[arg(long, value_name = "STEPS", help_heading = "Amount")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<u64>,
    /// Where chains start: normal:SD, or coordinates as in 1,-0.5 [default: normal:1]
    #[arg(long, value_name = "START", allow_hyphen_values = true, help_heading = "Amount")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartingPoint>,
    /// Keep velocities too
    #[arg(long, help_heading = "Amount")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub velocities: bool,
    /// The seed, on which alone the draws depend [default: 0]
    #[arg(long, help_heading = "Amount")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Parameters of a potential with a name. Last, as TOML wants its tables.
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub param: BTreeMap<String, f64>,
}

impl Request {
    /// Fills in the defaults and checks everything.
    pub fn settle(&self) -> Result<(Settings, Target), SamplingError> {
        let potential = self.potential.as_deref().ok_or(SamplingError::NoPotential)?.trim().to_owned();
        let parameters: Vec<(&str, f64)> = self.param.iter().map(|(name, &x)| (name.as_str(), x)).collect();
        let target = Target::new(&potential, self.dim, &parameters).map_err(RecipeError::from)?;
        let least = Chains::LEAST_DRAWS as u64;
        if let Some(given) = self.draws.filter(|&draws| draws < least) {
            return Err(SamplingError::FewDraws { least, given });
        }
        let recipe = self.recipe().settle(&target)?;
        Ok((Settings { potential, dim: target.dim(), param: self.param.clone(), recipe }, target))
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

    /// Whether it says all that no run can be without, as those do that are kept with a run.
    pub(super) fn leaves_nothing_open(&self) -> bool {
        let texts = self.potential.is_some() && self.system.is_some() && self.integrator.is_some();
        let counts = self.dim.is_some() && self.chains.is_some() && self.draws.is_some();
        let steps = self.step.is_some() && self.warmup.is_some() && self.thin.is_some();
        texts && counts && steps && self.start.is_some() && self.seed.is_some()
    }

    /// As TOML.
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

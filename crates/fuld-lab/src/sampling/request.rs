//! What is asked for: the options of the command line, the keys of a configuration.

use super::{Dynamics, SamplingError, Scheme, Settings, StartingPoint, Target};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was asked for: all that is left out has a default.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Request {
    /// A formula like "x^4/4 - x^2/2", or the name of a potential (--help lists them)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub potential: Option<String>,
    /// Dimension [default: as many as the formula has variables]
    #[arg(long, value_name = "D", help_heading = "Target")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
    /// Parameters of a potential with a name.
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub param: BTreeMap<String, f64>,
    /// Inverse temperature: the target is exp(-beta f) [default: 1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Target")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The dynamics (--help lists them) [default: fuld]
    #[arg(long, help_heading = "Dynamics", hide_possible_values = true, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Dynamics>,
    /// Its discretisation: baoab, aboba, euler, tamed-euler [default: baoab, tamed-euler without velocity]
    #[arg(long, help_heading = "Dynamics", hide_possible_values = true, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrator: Option<Scheme>,
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
}

impl Request {
    /// Fills in the defaults and checks everything.
    pub fn settle(&self) -> Result<(Settings, Target), SamplingError> {
        // A formula that begins with a minus may have been shielded by a blank.
        let potential = self.potential.as_deref().ok_or(SamplingError::NoPotential)?.trim().to_owned();
        let target = Target::new(&potential, self.dim, &self.param)?;
        let system = self.system.unwrap_or(Dynamics::Fuld);
        self.refuse_foreign(system)?;
        let step = self.step.unwrap_or(system.step());
        let power = self.step_power.filter(|&power| power != 0.0);
        if self.half_life.is_some() && power.is_none() {
            return Err(SamplingError::HalfLife);
        }
        let time = if system.has_velocity() { 1.0 } else { 0.5 };
        // A step that is no step is refused below, by its name.
        let thin = self.thin.unwrap_or(((time / step).round() as u64).clamp(1, 10_000));
        let settings = Settings {
            potential,
            dim: target.potential().dim(),
            param: self.param.clone(),
            beta: system.has_beta().then(|| self.beta.unwrap_or(1.0)),
            system,
            integrator: self.integrator.unwrap_or(system.scheme()),
            alpha: system.has_alpha().then(|| self.alpha.unwrap_or(1.5)),
            gamma: system.has_velocity().then(|| self.gamma.unwrap_or(2.0)),
            step,
            step_power: power,
            half_life: power.map(|_| self.half_life.unwrap_or(1000.0)),
            chains: self.chains.unwrap_or(64),
            draws: self.draws.unwrap_or(1000),
            warmup: self.warmup.unwrap_or(thin.saturating_mul(100)),
            thin,
            start: self.start.clone().unwrap_or(StartingPoint::Normal(1.0)),
            velocities: self.velocities,
            seed: self.seed.unwrap_or(0),
        };
        settings.check()?;
        Ok((settings, target))
    }

    fn refuse_foreign(&self, system: Dynamics) -> Result<(), SamplingError> {
        let foreign = [
            // 2 is what the others have.
            ("alpha", self.alpha.is_some_and(|alpha| alpha != 2.0) && !system.has_alpha()),
            ("beta", self.beta.is_some() && !system.has_beta()),
            ("friction gamma", self.gamma.is_some() && !system.has_velocity()),
            ("velocities", self.velocities && !system.has_velocity()),
        ];
        match foreign.into_iter().find(|(_, foreign)| *foreign) {
            Some((setting, _)) => Err(SamplingError::Foreign { setting, system: system.to_string() }),
            None => Ok(()),
        }
    }
}

//! All that determines the draws, with nothing left open.

use super::{Dynamics, SamplingError, Scheme, StartingPoint, Target};
use fuld::durable::fingerprint;
use fuld::{Integrator, ParameterError, Run, Schedule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The settings of a run, which `config.toml` keeps: what [`Request`](super::Request) leaves open is settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of `Request`")]
pub struct Settings {
    pub potential: String,
    pub dim: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    pub system: Dynamics,
    pub integrator: Scheme,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    pub step: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_power: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
    pub chains: usize,
    pub draws: u64,
    pub warmup: u64,
    pub thin: u64,
    pub start: StartingPoint,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub velocities: bool,
    pub seed: u64,
    /// Last, as TOML wants its tables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub param: BTreeMap<String, f64>,
}

impl Settings {
    /// What a run would refuse only once it has its folder.
    pub(super) fn check(&self) -> Result<(), SamplingError> {
        let counts = [
            ("chains", self.chains as u64, 1),
            ("draws", self.draws, fuld::diagnostics::Chains::LEAST_DRAWS as u64),
            ("thin", self.thin, 1),
        ];
        if let Some((what, given, least)) = counts.into_iter().find(|(_, given, least)| given < least) {
            return Err(SamplingError::TooSmall(what, least, given));
        }
        let numbers = self.draws as f64 * self.chains as f64 * self.dim as f64;
        let steps = self.draws as f64 * self.thin as f64 + self.warmup as f64;
        if steps > 1e18 {
            let Self { warmup, draws, thin, .. } = *self;
            return Err(SamplingError::TooManySteps { warmup, draws, thin });
        }
        if numbers > 1e11 {
            let Self { chains, draws, dim, .. } = *self;
            return Err(SamplingError::TooMany { chains, draws, dim });
        }
        self.schedule()?;
        self.start.start(self.dim)?;
        Ok(())
    }

    fn schedule(&self) -> Result<Schedule, SamplingError> {
        Ok(match (self.step_power, self.half_life) {
            (Some(power), Some(half_life)) => Schedule::polynomial(self.step, half_life, power)?,
            _ => Schedule::constant(self.step)?,
        })
    }

    /// The tail index of the noise.
    pub fn tail_index(&self) -> f64 {
        self.alpha.unwrap_or(2.0)
    }

    /// The inverse temperature of the target.
    pub fn temperature(&self) -> f64 {
        self.beta.unwrap_or(1.0)
    }

    /// Whether e^(−βf) is what the dynamics leaves invariant.
    pub fn is_exact(&self) -> bool {
        self.system.is_exact(self.tail_index(), self.temperature())
    }

    /// The run, without checkpoint and threads.
    pub fn run(&self, target: &Target) -> Result<Run, SamplingError> {
        let (alpha, beta) = (self.tail_index(), self.temperature());
        let system = self.system.system(alpha, self.gamma.unwrap_or(0.0), beta, target);
        let system = system.map_err(|error| match error {
            // Nobody gave a scale: it follows from alpha.
            SamplingError::Parameter(ParameterError::Law(levy_stable::ParameterError::Scale(scale))) => {
                SamplingError::NoiseScale { alpha, scale }
            }
            error => error,
        })?;
        let integrator = Integrator::from(self.integrator);
        integrator.check(&system)?;
        Ok(Run {
            chains: self.chains,
            warmup: self.warmup,
            draws: self.draws,
            thin: self.thin,
            seed: self.seed,
            start: self.start.start(self.dim)?,
            velocities: self.velocities,
            ..Run::new(system, integrator, self.schedule()?)
        })
    }

    /// The first setting that is not the same elsewhere: as it is there, and as it is here.
    pub fn difference(&self, there: &Self) -> Option<(String, String)> {
        let (theirs, ours) = (there.text(), self.text());
        let only = |text: &str, other: &str| {
            let line = text.lines().find(|line| !other.lines().any(|known| known == *line));
            line.map(ToOwned::to_owned)
        };
        let (there, here) = (only(&theirs, &ours), only(&ours, &theirs));
        // A setting that is on one side only is named on the other as well.
        let missing = |line: &Option<String>| {
            line.as_ref().map(|line| format!("no {}", line.split(" =").next().unwrap_or(line)))
        };
        match (there.clone().or_else(|| missing(&here)), here.or_else(|| missing(&there))) {
            (Some(there), Some(here)) => Some((there, here)),
            _ => None,
        }
    }

    /// As TOML, in which it also is kept.
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// A name for the folder: what one would tell runs apart by, and a hash of the rest.
    pub fn name(&self) -> String {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let short: String = self.potential.chars().map(|c| if known(c) { c } else { '_' }).collect();
        let wordy = self.potential.chars().all(known) && short.len() > 2;
        let potential = if wordy { short } else { "formula".into() };
        let alpha = self.alpha.map(|alpha| format!("-alpha{alpha}")).unwrap_or_default();
        let hash = fingerprint(self.text().as_bytes()) as u32;
        format!("{potential}-{}{alpha}-seed{}-{hash:08x}", self.system, self.seed)
    }

    /// In one line, for people.
    pub fn headline(&self) -> String {
        let mut text = format!("{}: {}", self.potential, self.system);
        let numbers = [("alpha", self.alpha), ("beta", self.beta), ("gamma", self.gamma)];
        for (name, value) in numbers.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)))
        {
            text += &format!(", {name} {value}");
        }
        text += &format!("; {}, step {}", self.integrator, self.step);
        if let (Some(power), Some(half_life)) = (self.step_power, self.half_life) {
            text += &format!(" (1 + k/{half_life})^-{power}");
        }
        text
    }
}

//! All that determines the draws from a target, with nothing left open.

use super::RecipeError;
use crate::potential::Target;
use crate::{Dynamics, Integrator, Run, Schedule, Start};

/// A [`Recipe`](super::Recipe) with its defaults filled in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settled {
    /// The dynamics.
    pub system: Dynamics,
    /// Its discretisation.
    pub integrator: Integrator,
    /// Tail index of the noise, if there is one to choose.
    pub alpha: Option<f64>,
    /// Inverse temperature, if the system has one.
    pub beta: Option<f64>,
    /// Friction, if the system has one.
    pub gamma: Option<f64>,
    /// Step size η.
    pub step: f64,
    /// The p of η (1 + k/K)^(−p), if the step falls.
    pub step_power: Option<f64>,
    /// Its K.
    pub half_life: Option<f64>,
    /// Number of chains.
    pub chains: usize,
    /// Draws a chain.
    pub draws: u64,
    /// Steps before the first draw.
    pub warmup: u64,
    /// Steps a draw.
    pub thin: u64,
    /// Where chains start, as it was given: one number still stands for all coordinates.
    pub start: Start,
    /// Whether velocities are kept too.
    pub velocities: bool,
    /// The seed.
    pub seed: u64,
}

impl Settled {
    /// The tail index of the noise: 2 where there is none to choose.
    pub fn tail_index(&self) -> f64 {
        self.alpha.unwrap_or(2.0)
    }

    /// The inverse temperature of the target: 1 where there is none to choose.
    pub fn temperature(&self) -> f64 {
        self.beta.unwrap_or(1.0)
    }

    /// Whether e^(−βf) is what the dynamics, with exact gradients and short steps, ends in. Without friction there is no noise.
    pub fn is_exact(&self) -> bool {
        self.gamma != Some(0.0) && self.system.is_exact(self.tail_index(), self.temperature())
    }

    /// The run, in memory and on all cores unless told otherwise. It may still start where the target has no value:
    /// [`Target::check_starts`] tells.
    pub fn run(&self, target: &Target) -> Result<Run, RecipeError> {
        let gamma = self.gamma.unwrap_or(0.0);
        let system = self.system.system(self.tail_index(), gamma, self.temperature(), target)?;
        self.integrator.check(&system)?;
        Ok(Run {
            chains: self.chains,
            warmup: self.warmup,
            draws: self.draws,
            thin: self.thin,
            seed: self.seed,
            start: self.start_in(target.dim())?,
            velocities: self.velocities,
            ..Run::new(system, self.integrator, self.schedule()?)
        })
    }

    /// What a run would refuse only when it begins, or never.
    pub(super) fn check(&self, dim: usize) -> Result<(), RecipeError> {
        let Self { chains, draws, warmup, thin, .. } = *self;
        let counts = [("dim", dim as u64), ("chains", chains as u64), ("draws", draws), ("thin", thin)];
        if let Some((what, given)) = counts.into_iter().find(|&(_, given)| given == 0) {
            return Err(RecipeError::TooFew { what, least: 1, given });
        }
        if draws as f64 * thin as f64 + warmup as f64 > 1e18 {
            return Err(RecipeError::TooManySteps { warmup, draws, thin });
        }
        if draws as f64 * chains as f64 * dim as f64 > 1e11 {
            return Err(RecipeError::TooMany { chains, draws, dim });
        }
        self.schedule()?;
        self.start_in(dim)?;
        Ok(())
    }

    fn schedule(&self) -> Result<Schedule, RecipeError> {
        Ok(match (self.step_power, self.half_life) {
            (Some(power), Some(half_life)) => Schedule::polynomial(self.step, half_life, power)?,
            _ => Schedule::constant(self.step)?,
        })
    }

    /// Where chains start in so many dimensions, of which one number stands for all.
    pub fn start_in(&self, dim: usize) -> Result<Start, RecipeError> {
        match &self.start {
            Start::Gaussian(sd) if !(sd.is_finite() && *sd >= 0.0) => Err(RecipeError::StartSpread(*sd)),
            Start::Gaussian(sd) => Ok(Start::Gaussian(*sd)),
            Start::Point(point) => match point.iter().find(|x| !x.is_finite()) {
                Some(&x) => Err(RecipeError::StartValue(x)),
                None if point.len() == dim => Ok(self.start.clone()),
                None if point.len() == 1 => Ok(Start::Point(vec![point[0]; dim])),
                None => Err(RecipeError::StartDimension { start: point.len(), dim }),
            },
        }
    }
}

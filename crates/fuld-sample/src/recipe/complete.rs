//! A recipe with nothing left open.

use super::RecipeError;
use crate::system_defaults::compose;
use crate::target::Target;
use fuld::{Alpha, Beta, Friction, Integrator, Run, Schedule, Start, Step, SystemKind, Underdamped};

/// A [`Recipe`](super::Recipe) with its defaults filled in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteRecipe {
    /// The system.
    pub system: SystemKind,
    /// Its discretisation.
    pub integrator: Integrator,
    /// Tail index of the noise, if the system has one.
    pub alpha: Option<Alpha>,
    /// Inverse temperature, if the system has one.
    pub beta: Option<Beta>,
    /// Friction, if the system has one.
    pub gamma: Option<Friction>,
    /// Step size η.
    pub step: Step,
    /// The p of η (1 + k/K)^(−p), if the step falls.
    pub step_power: Option<f64>,
    /// The K of η (1 + k/K)^(−p), if the step falls.
    pub half_life: Option<f64>,
    /// Number of chains.
    pub chains: usize,
    /// Draws per chain.
    pub draws: u64,
    /// Iterations before the first draw.
    pub warmup: u64,
    /// Iterations between draws.
    pub thin: u64,
    /// Where chains start. A point with one coordinate applies to all of them.
    pub start: Start,
    /// Whether velocities are kept too.
    pub velocities: bool,
    /// The seed.
    pub seed: u64,
}

impl CompleteRecipe {
    /// Returns all parameters, with the values that a system without one corresponds to: α = 2, γ = 0, β = 1.
    pub fn parameters(&self) -> Underdamped {
        Underdamped {
            alpha: self.alpha.unwrap_or(Alpha::GAUSS),
            gamma: self.gamma.unwrap_or(Friction::ZERO),
            beta: self.beta.unwrap_or(Beta::ONE),
        }
    }

    /// Returns whether the stationary law is e^(−βf), given exact gradients and short steps. Without friction there is no noise.
    pub fn is_exact(&self) -> bool {
        let Underdamped { alpha, beta, .. } = self.parameters();
        self.gamma != Some(Friction::ZERO) && self.system.is_exact(alpha, beta)
    }

    /// Builds the run, in memory and on all cores.
    ///
    /// It may still start where the target is not finite: [`Target::check_starts`] refuses that.
    pub fn run(&self, target: &Target) -> Result<Run, RecipeError> {
        let system = compose(self.system, self.parameters(), target)?;
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

    /// Checks what a run would refuse only when it begins, or never.
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
            (Some(power), Some(half_life)) => {
                Schedule::polynomial(fuld::Polynomial { start: self.step, half_life, power })?
            }
            _ => Schedule::Constant(self.step),
        })
    }

    /// Returns where chains start in `dim` dimensions. A point with one coordinate applies to all of them.
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

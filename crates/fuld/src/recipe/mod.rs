//! A run from what one cares to say: defaults for the rest, and a check of the whole.

mod error;
mod settled;

pub use error::RecipeError;
pub use settled::Settled;

use crate::potential::Target;
use crate::{Dynamics, Integrator, Start};

/// How a target is to be sampled: what is left out has a default that works on the double well.
///
/// ```
/// use fuld::{Recipe, potential::Target};
/// # fn main() -> Result<(), fuld::RecipeError> {
/// let well = Target::new("x^4/4 - x^2/2", None, &[])?;
/// let recipe = Recipe { alpha: Some(1.2), chains: Some(8), ..Recipe::default() };
/// let settled = recipe.settle(&well)?;
/// assert_eq!((settled.step, settled.thin, settled.warmup), (0.05, 20, 2000));
/// let run = settled.run(&well)?;
/// assert_eq!(run.sample(well.potential()).unwrap().chain(7).len(), 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// The dynamics: FULD unless another is named.
    pub system: Dynamics,
    /// Its discretisation; that which [suits it](Dynamics::default_integrator).
    pub integrator: Option<Integrator>,
    /// Tail index of the noise; 1.5.
    pub alpha: Option<f64>,
    /// Inverse temperature; 1.
    pub beta: Option<f64>,
    /// Friction; 2.
    pub gamma: Option<f64>,
    /// Step size η; that which [suits the system](Dynamics::default_step).
    pub step: Option<f64>,
    /// The p of η (1 + k/K)^(−p), k the iteration; 0, a constant step.
    pub step_power: Option<f64>,
    /// Its K; 1000.
    pub half_life: Option<f64>,
    /// Number of chains; 64.
    pub chains: Option<usize>,
    /// Draws a chain; 1000.
    pub draws: Option<u64>,
    /// Steps before the first draw; those of 100 draws.
    pub warmup: Option<u64>,
    /// Steps a draw; those of the [time between draws](Dynamics::draw_time).
    pub thin: Option<u64>,
    /// Where chains start; N(0, 1). A point of one number stands for all coordinates.
    pub start: Option<Start>,
    /// Whether to keep velocities too.
    pub velocities: bool,
    /// The seed, on which alone the draws depend.
    pub seed: u64,
}

impl Recipe {
    /// Fills in the defaults and checks how it all goes together. What only the dynamics knows to be wrong, such as an α out
    /// of its range, [`Settled::run`] refuses.
    pub fn settle(&self, target: &Target) -> Result<Settled, RecipeError> {
        let system = self.system;
        self.refuse_foreign()?;
        let power = self.step_power.filter(|&power| power != 0.0);
        if self.half_life.is_some() && power.is_none() {
            return Err(RecipeError::HalfLife);
        }
        let step = self.step.unwrap_or(system.default_step());
        // A step that is no step is refused below, by its name.
        let thin = self.thin.unwrap_or(((system.draw_time() / step).round() as u64).clamp(1, 10_000));
        let settled = Settled {
            system,
            integrator: self.integrator.unwrap_or(system.default_integrator()),
            alpha: system.has_alpha().then(|| self.alpha.unwrap_or(1.5)),
            beta: system.has_beta().then(|| self.beta.unwrap_or(1.0)),
            gamma: system.has_velocity().then(|| self.gamma.unwrap_or(2.0)),
            step,
            step_power: power,
            half_life: power.map(|_| self.half_life.unwrap_or(1000.0)),
            chains: self.chains.unwrap_or(64),
            draws: self.draws.unwrap_or(1000),
            warmup: self.warmup.unwrap_or(thin.saturating_mul(100)),
            thin,
            start: self.start.clone().unwrap_or(Start::Gaussian(1.0)),
            velocities: self.velocities,
            seed: self.seed,
        };
        settled.check(target.dim())?;
        Ok(settled)
    }

    fn refuse_foreign(&self) -> Result<(), RecipeError> {
        let system = self.system;
        let foreign = [
            // 2 is what the others have.
            ("alpha", self.alpha.is_some_and(|alpha| alpha != 2.0) && !system.has_alpha()),
            ("beta", self.beta.is_some() && !system.has_beta()),
            ("friction gamma", self.gamma.is_some() && !system.has_velocity()),
            ("velocities", self.velocities && !system.has_velocity()),
        ];
        match foreign.into_iter().find(|(_, foreign)| *foreign) {
            Some((setting, _)) => Err(RecipeError::Foreign { setting, system }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::potential::{Potential, PotentialError};

    fn well(dim: usize) -> Target {
        Target::new("double_well", Some(dim), &[]).unwrap()
    }

    #[track_caller]
    fn refused(recipe: &Recipe, says: &str) {
        let well = well(2);
        let run = recipe.settle(&well).and_then(|settled| settled.run(&well));
        let message = run.map(|run| format!("{run:?}")).unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is not in {message:?}");
        assert!(!message.contains("--"), "{message}");
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let of = |system| Recipe { system, ..Recipe::default() }.settle(&well(1)).unwrap();
        let fuld = of(Dynamics::Fuld);
        assert_eq!((fuld.alpha, fuld.beta, fuld.gamma), (Some(1.5), Some(1.0), Some(2.0)));
        assert_eq!((fuld.chains, fuld.draws, fuld.seed, fuld.velocities), (64, 1000, 0, false));
        assert_eq!((fuld.step_power, fuld.half_life, fuld.start), (None, None, Start::Gaussian(1.0)));
        assert_eq!((fuld.step, fuld.thin, fuld.warmup), (0.05, 20, 2000));
        let flmc = of(Dynamics::Flmc);
        assert_eq!((flmc.integrator, flmc.gamma), (Integrator::TamedEuler, None));
        assert_eq!((flmc.step, flmc.thin, flmc.warmup), (0.002, 250, 25_000));
        let langevin = of(Dynamics::UnderdampedLangevin);
        assert_eq!((langevin.alpha, langevin.tail_index(), langevin.is_exact()), (None, 2.0, true));
        let momentum = of(Dynamics::Momentum);
        assert_eq!((momentum.beta, momentum.temperature(), momentum.is_exact()), (None, 1.0, false));
        for system in Dynamics::ALL {
            assert!(of(system).run(&well(1)).is_ok(), "{system}");
        }
    }

    #[test]
    fn what_is_given_is_what_runs() {
        let recipe = Recipe {
            system: Dynamics::Fhd,
            integrator: Some(Integrator::Aboba),
            alpha: Some(1.2),
            beta: Some(3.0),
            gamma: Some(0.5),
            step: Some(0.125),
            step_power: Some(0.25),
            half_life: Some(7.0),
            chains: Some(3),
            draws: Some(1),
            warmup: Some(11),
            thin: Some(5),
            start: Some(Start::Point(vec![2.0])),
            velocities: true,
            seed: 9,
        };
        let run = recipe.settle(&well(3)).unwrap().run(&well(3)).unwrap();
        assert_eq!(
            format!("{run:?}"),
            "FHD, alpha 1.2, gamma 0.5, beta 3.0 by ABOBA, steps 0.125 (1 + k/7.0)^-0.25, 3 chains of 1 draws every 5 steps, \
             warm-up 11, seed 9"
        );
        assert_eq!((run.start, run.velocities), (Start::Point(vec![2.0; 3]), true));
        // However small the step, draws come.
        let tiny = Recipe { step: Some(1e-9), ..Recipe::default() }.settle(&well(1)).unwrap();
        assert_eq!((tiny.thin, tiny.warmup), (10_000, 1_000_000));
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        let recipe = Recipe::default;
        let of = |system| Recipe { system, ..Recipe::default() };
        refused(&Recipe { alpha: Some(2.1), ..recipe() }, "alpha <= 2, got 2.1");
        refused(&Recipe { alpha: Some(f64::NAN), ..recipe() }, "got NaN");
        refused(&Recipe { alpha: Some(1e-9), ..recipe() }, "0.1 <= alpha <= 2, got 0.000000001");
        refused(&Recipe { beta: Some(0.0), ..recipe() }, "beta must be positive and finite, got 0");
        refused(&Recipe { gamma: Some(-1.0), ..recipe() }, "gamma must be finite and not negative, got -1");
        refused(
            &Recipe { step: Some(f64::NAN), ..recipe() },
            "the step size must be positive and finite, got NaN",
        );
        refused(&Recipe { step_power: Some(-1.0), ..recipe() }, "finite and not negative, got -1");
        refused(&Recipe { half_life: Some(10.0), ..recipe() }, "give a step power too");
        refused(&Recipe { chains: Some(0), ..recipe() }, "chains must be at least 1, got 0");
        refused(&Recipe { draws: Some(0), ..recipe() }, "draws must be at least 1, got 0");
        refused(&Recipe { thin: Some(0), ..recipe() }, "thin must be at least 1, got 0");
        refused(&Recipe { draws: Some(1 << 40), ..recipe() }, "more numbers than a machine can hold");
        refused(&Recipe { warmup: Some(u64::MAX), ..recipe() }, "would never end");
        refused(&Recipe { integrator: Some(Integrator::TamedEuler), ..recipe() }, "does not suit");
        refused(&Recipe { alpha: Some(1.5), ..of(Dynamics::Momentum) }, "momentum has no alpha");
        refused(&Recipe { beta: Some(1.0), ..of(Dynamics::Momentum) }, "momentum has no beta");
        refused(&Recipe { gamma: Some(1.0), ..of(Dynamics::Flmc) }, "flmc has no friction gamma");
        refused(&Recipe { velocities: true, ..of(Dynamics::Flmc) }, "flmc has no velocities");
        // The Gaussian is what they have.
        let gaussian = Recipe { alpha: Some(2.0), ..of(Dynamics::OverdampedLangevin) };
        assert_eq!(gaussian.settle(&well(1)).unwrap().alpha, None);
    }

    #[test]
    fn a_start_is_a_place() {
        let at = |start| Recipe { start: Some(start), ..Recipe::default() };
        refused(&at(Start::Point(vec![0.0; 3])), "start has 3 coordinates, the potential 2");
        refused(&at(Start::Point(vec![])), "start has 0 coordinates");
        refused(&at(Start::Point(vec![f64::NAN])), "start must be finite numbers, got NaN");
        refused(&at(Start::Gaussian(-1.0)), "start must be finite and not negative, got -1");
        refused(&at(Start::Gaussian(f64::INFINITY)), "got inf");
    }

    #[test]
    fn a_potential_without_coordinates_is_no_target() {
        struct Nothing;
        impl Potential for Nothing {
            fn dim(&self) -> usize {
                0
            }
            fn value(&self, _: &[f64]) -> f64 {
                0.0
            }
            fn gradient(&self, _: &[f64], _: &mut [f64]) {}
        }
        let error = Recipe::default().settle(&Target::from_potential(Box::new(Nothing))).unwrap_err();
        assert_eq!(error.to_string(), "dim must be at least 1, got 0");
        // One error for all of it.
        let unknown: Result<Target, PotentialError> = Target::new("harmonics", None, &[]);
        assert!(RecipeError::from(unknown.unwrap_err()).to_string().contains("`harmonic`"));
    }
}

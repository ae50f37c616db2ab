//! Runs from partial settings: the program's defaults, and a check that all settings are compatible.

mod complete;
mod error;

pub use complete::CompleteRecipe;
pub use error::RecipeError;

use crate::system_defaults::SystemDefaults;
use crate::target::Target;
use fuld::{Alpha, Beta, Friction, Integrator, ParameterError, Start, Step, SystemKind};

/// Settings of a run. Every setting that is left out has a default that works on the double well.
///
/// ```
/// use fuld_sample::{Recipe, RecipeError, Target};
/// # fn main() -> Result<(), RecipeError> {
/// let well = Target::new("x^4/4 - x^2/2", None, &[])?;
/// let recipe = Recipe { alpha: Some(1.2), chains: Some(8), ..Recipe::default() };
/// let complete = recipe.complete(&well)?;
/// assert_eq!((complete.step.get(), complete.thin, complete.warmup), (0.05, 20, 2000));
/// let run = complete.run(&well)?;
/// assert_eq!(run.sample(well.potential()).unwrap().chain(7).len(), 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// The system. Default: FULD.
    pub system: SystemKind,
    /// Its discretisation. Default: BAOAB, or tamed Euler for systems without a velocity.
    pub integrator: Option<Integrator>,
    /// Tail index of the noise. Default: 1.5.
    pub alpha: Option<f64>,
    /// Inverse temperature. Default: 1.
    pub beta: Option<f64>,
    /// Friction. Default: 2.
    pub gamma: Option<f64>,
    /// Step size η. Default: 0.002 to 0.05, depending on the system.
    pub step: Option<f64>,
    /// The p of η (1 + k/K)^(−p), k the iteration. Default: 0, a constant step.
    pub step_power: Option<f64>,
    /// The K of η (1 + k/K)^(−p). Default: 1000.
    pub half_life: Option<f64>,
    /// Number of chains. Default: 64.
    pub chains: Option<usize>,
    /// Draws per chain. Default: 1000.
    pub draws: Option<u64>,
    /// Iterations before the first draw. Default: 100 times `thin`.
    pub warmup: Option<u64>,
    /// Iterations between draws. Default: a time of 1, or of 0.5 for systems without a velocity.
    pub thin: Option<u64>,
    /// Where chains start. Default: N(0, 1). A point with one coordinate applies to all of them.
    pub start: Option<Start>,
    /// Whether to keep velocities too.
    pub velocities: bool,
    /// The seed, on which alone the draws depend.
    pub seed: u64,
}

impl Recipe {
    /// Fills in the defaults and checks that the settings are valid and compatible.
    ///
    /// [`CompleteRecipe::run`] refuses what only the system can check, such as an α below the range of its tables.
    pub fn complete(&self, target: &Target) -> Result<CompleteRecipe, RecipeError> {
        let system = self.system;
        let defaults = SystemDefaults::of(system);
        self.refuse_foreign()?;
        let power = self.step_power.filter(|&power| power != 0.0);
        if self.half_life.is_some() && power.is_none() {
            return Err(RecipeError::HalfLife);
        }
        let step = Step::new(self.step.unwrap_or(defaults.step))?;
        let thin = self.thin.unwrap_or(((defaults.draw_time / step.get()).round() as u64).clamp(1, 10_000));
        let alpha = || Alpha::new(self.alpha.unwrap_or(1.5)).map_err(ParameterError::from);
        let complete = CompleteRecipe {
            system,
            integrator: self.integrator.unwrap_or(defaults.integrator),
            alpha: system.has_alpha().then(alpha).transpose()?,
            beta: system.has_beta().then(|| Beta::new(self.beta.unwrap_or(1.0))).transpose()?,
            gamma: system.has_velocity().then(|| Friction::new(self.gamma.unwrap_or(2.0))).transpose()?,
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
        complete.check(target.dim())?;
        Ok(complete)
    }

    fn refuse_foreign(&self) -> Result<(), RecipeError> {
        let system = self.system;
        let foreign = [
            // The noise of the other systems has α = 2.
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
    use crate::target::TargetError;
    use fuld::Potential;

    fn well(dim: usize) -> Target {
        Target::new("double_well", Some(dim), &[]).unwrap()
    }

    #[track_caller]
    fn refused(recipe: &Recipe, says: &str) {
        let well = well(2);
        let run = recipe.complete(&well).and_then(|complete| complete.run(&well));
        let message = run.map(|run| format!("{run:?}")).unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is not in {message:?}");
        assert!(!message.contains("--"), "{message}");
    }

    #[test]
    fn settings_left_out_have_defaults() {
        let of = |system| Recipe { system, ..Recipe::default() }.complete(&well(1)).unwrap();
        let fuld = of(SystemKind::Fuld);
        let numbers = (fuld.alpha.map(f64::from), fuld.beta.map(f64::from), fuld.gamma.map(f64::from));
        assert_eq!(numbers, (Some(1.5), Some(1.0), Some(2.0)));
        assert_eq!((fuld.chains, fuld.draws, fuld.seed, fuld.velocities), (64, 1000, 0, false));
        assert_eq!((fuld.step_power, fuld.half_life, fuld.start), (None, None, Start::Gaussian(1.0)));
        assert_eq!((fuld.step.get(), fuld.thin, fuld.warmup), (0.05, 20, 2000));
        let flmc = of(SystemKind::Flmc);
        assert_eq!((flmc.integrator, flmc.gamma), (Integrator::TamedEuler, None));
        assert_eq!((flmc.step.get(), flmc.thin, flmc.warmup), (0.002, 250, 25_000));
        let langevin = of(SystemKind::UnderdampedLangevin);
        assert_eq!(
            (langevin.alpha, langevin.parameters().alpha.get(), langevin.is_exact()),
            (None, 2.0, true)
        );
        let momentum = of(SystemKind::Momentum);
        assert_eq!(
            (momentum.beta, momentum.parameters().beta.get(), momentum.is_exact()),
            (None, 1.0, false)
        );
        for &system in SystemKind::ALL {
            assert!(of(system).run(&well(1)).is_ok(), "{system}");
        }
    }

    #[test]
    fn settings_that_are_given_are_used() {
        let recipe = Recipe {
            system: SystemKind::Fhd,
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
        let run = recipe.complete(&well(3)).unwrap().run(&well(3)).unwrap();
        assert_eq!(format!("{:?}", run.system), "fhd, alpha 1.2, gamma 0.5, beta 3");
        assert_eq!(run.integrator, Integrator::Aboba);
        assert_eq!(run.schedule.at(7).unwrap(), 0.125 * 2f64.powf(-0.25));
        assert_eq!((run.chains, run.draws, run.thin, run.warmup, run.seed), (3, 1, 5, 11, 9));
        assert_eq!((run.start, run.velocities), (Start::Point(vec![2.0; 3]), true));
        // `thin` is bounded however small the step is.
        let tiny = Recipe { step: Some(1e-9), ..Recipe::default() }.complete(&well(1)).unwrap();
        assert_eq!((tiny.thin, tiny.warmup), (10_000, 1_000_000));
    }

    #[test]
    fn incompatible_settings_are_refused() {
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
        refused(&Recipe { half_life: Some(10.0), ..recipe() }, "`half_life` requires `step_power`");
        refused(&Recipe { chains: Some(0), ..recipe() }, "chains must be at least 1, got 0");
        refused(&Recipe { draws: Some(0), ..recipe() }, "draws must be at least 1, got 0");
        refused(&Recipe { thin: Some(0), ..recipe() }, "thin must be at least 1, got 0");
        refused(&Recipe { draws: Some(1 << 40), ..recipe() }, "exceed 1e11 numbers");
        refused(&Recipe { warmup: Some(u64::MAX), ..recipe() }, "exceed 1e18 iterations");
        refused(&Recipe { integrator: Some(Integrator::TamedEuler), ..recipe() }, "does not suit");
        refused(&Recipe { alpha: Some(1.5), ..of(SystemKind::Momentum) }, "momentum has no alpha");
        refused(&Recipe { beta: Some(1.0), ..of(SystemKind::Momentum) }, "momentum has no beta");
        refused(&Recipe { gamma: Some(1.0), ..of(SystemKind::Flmc) }, "flmc has no friction gamma");
        refused(&Recipe { velocities: true, ..of(SystemKind::Flmc) }, "flmc has no velocities");
        // The Gaussian is what they have.
        let gaussian = Recipe { alpha: Some(2.0), ..of(SystemKind::OverdampedLangevin) };
        assert_eq!(gaussian.complete(&well(1)).unwrap().alpha, None);
    }

    #[test]
    fn starts_are_finite_points() {
        let at = |start| Recipe { start: Some(start), ..Recipe::default() };
        refused(&at(Start::Point(vec![0.0; 3])), "start has 3 coordinates, the potential 2");
        refused(&at(Start::Point(vec![])), "start has 0 coordinates");
        refused(&at(Start::Point(vec![f64::NAN])), "start must be finite numbers, got NaN");
        refused(&at(Start::Gaussian(-1.0)), "start must be finite and not negative, got -1");
        refused(&at(Start::Gaussian(f64::INFINITY)), "got inf");
    }

    #[test]
    fn a_potential_without_coordinates_is_refused() {
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
        let error = Recipe::default().complete(&Target::from_potential(Box::new(Nothing))).unwrap_err();
        assert_eq!(error.to_string(), "dim must be at least 1, got 0");
        // Errors of the target become errors of the recipe.
        let unknown: Result<Target, TargetError> = Target::new("harmonics", None, &[]);
        assert!(RecipeError::from(unknown.unwrap_err()).to_string().contains("`harmonic`"));
    }
}

//! The defaults of a run, which complete a request.

use crate::error::SamplingError;
use crate::request::SampleRequest;
use crate::seed::random_seed;
use crate::spec::SampleSpec;
use crate::target::Target;
use fuld::diagnostics::Chains;
use fuld::{
    Alpha, Beta, Friction, Integrator, NoiseScale, ParameterError, Start, Step, SystemKind,
};

/// Tail index α. Over the targets of the exhibit `mixing`, the median of the effective sample size
/// per gradient relative to HMC is 1.01 at α = 1.8, and below 1 at the smaller ones.
const ALPHA: f64 = 1.8;
/// First step of exact sampling, which its adaptation replaces.
const EXACT_STEP: f64 = 0.1;
/// Most temperatures of parallel tempering: far more than are useful.
const MOST_TEMPERATURES: usize = 255;
/// Iterations in which exact sampling adapts itself.
const EXACT_WARMUP: u64 = 500;

/// Settings that suit one system on the double well.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SystemDefaults {
    /// Step size η. Systems whose velocity or position makes unbounded jumps require small steps.
    step: f64,
    integrator: Integrator,
    /// The time between draws after which another draw adds information.
    draw_time: f64,
}

/// Returns whether the proposals of a system can be accepted or rejected at every α and β.
pub(crate) fn samples_exactly(system: SystemKind) -> bool {
    matches!(system, SystemKind::Fuld | SystemKind::FuldGaussian | SystemKind::UnderdampedLangevin)
}

impl SystemDefaults {
    /// Returns the defaults. `adjustable` says whether proposals can be accepted or rejected:
    /// gradients are exact and steps do not fall.
    fn of(system: SystemKind, adjustable: bool) -> Self {
        let step = match system {
            SystemKind::Fuld
            | SystemKind::FuldBetaFree
            | SystemKind::UnderdampedLangevin
            | SystemKind::Momentum => 0.05,
            SystemKind::FuldGaussian => 0.02,
            SystemKind::Uncorrected | SystemKind::Fhd => 0.01,
            SystemKind::OverdampedLangevin => 0.005,
            SystemKind::UncorrectedOverdamped | SystemKind::Flmc | SystemKind::FlmcApproximate => {
                0.002
            }
        };
        let (integrator, draw_time) = match system {
            system if adjustable && samples_exactly(system) => (Integrator::Exact, 1.0),
            system if system.has_velocity() => (Integrator::Baoab, 1.0),
            _ => (Integrator::TamedEuler, 0.5),
        };
        Self { step, integrator, draw_time }
    }
}

impl SampleRequest {
    /// Builds the target that the request names, fills in the defaults, and checks that the
    /// settings are valid and compatible.
    ///
    /// [`SampleSpec::run`] refuses what only the system can check, such as an α below the range of
    /// its tables.
    pub fn complete(&self) -> Result<(SampleSpec, Target), SamplingError> {
        let potential =
            self.potential.as_deref().ok_or(SamplingError::NoPotential)?.trim().to_owned();
        let parameters: Vec<(&str, f64)> =
            self.param.iter().map(|(name, &x)| (name.as_str(), x)).collect();
        let target = Target::new(&potential, self.dim, &parameters)?;
        let least = Chains::LEAST_DRAWS as u64;
        if let Some(given) = self.draws.filter(|&draws| draws < least) {
            return Err(SamplingError::FewDraws { least, given });
        }
        if let Some(seed) = self.seed.filter(|&seed| i64::try_from(seed).is_err()) {
            return Err(SamplingError::Seed(seed));
        }
        let request = Self { potential: Some(potential), ..self.clone() };
        Ok((request.complete_on(&target)?, target))
    }

    /// Fills in the defaults of a run on a given target, and checks that the settings are valid and
    /// compatible.
    ///
    /// The target takes precedence over `potential`, `dim` and `param`, which the specification
    /// repeats only to name it.
    pub fn complete_on(&self, target: &Target) -> Result<SampleSpec, SamplingError> {
        let system = self.system.unwrap_or_default();
        self.refuse_foreign(system)?;
        let power = self.step_power.filter(|&power| power != 0.0);
        let defaults =
            SystemDefaults::of(system, power.is_none() && !target.potential().is_stochastic());
        if self.half_life.is_some() && power.is_none() {
            return Err(SamplingError::HalfLife);
        }
        let integrator = self.integrator.unwrap_or(defaults.integrator);
        let exact = integrator == Integrator::Exact;
        let temper = self.temper.filter(|&temper| temper != 1);
        let proposals = [
            ("adapt", self.adapt.is_some()),
            ("path", self.path.is_some()),
            ("temper", temper.is_some()),
        ];
        if let Some((setting, _)) = proposals.into_iter().find(|(_, given)| *given && !exact) {
            return Err(SamplingError::NotExact { setting, integrator });
        }
        if let Some(path) = self.path.filter(|path| !(*path >= 0.0 && path.is_finite())) {
            return Err(SamplingError::Path(path));
        }
        match temper {
            Some(temper) if self.adapt == Some(false) => {
                return Err(SamplingError::TemperFixed(temper));
            }
            Some(temper) if !(1..=MOST_TEMPERATURES).contains(&temper) => {
                return Err(SamplingError::Temper { most: MOST_TEMPERATURES, given: temper });
            }
            _ => {}
        }
        let step = Step::new(self.step.unwrap_or(if exact { EXACT_STEP } else { defaults.step }))?;
        let time = ((defaults.draw_time / step.get()).round() as u64).clamp(1, 10_000);
        let thin = self.thin.unwrap_or(if exact { 1 } else { time });
        let warmup = if exact { EXACT_WARMUP } else { thin.saturating_mul(100) };
        let gamma = self.gamma.or((system.has_velocity() && !exact).then_some(2.0));
        let alpha = || Alpha::new(self.alpha.unwrap_or(ALPHA)).map_err(ParameterError::from);
        let spec = SampleSpec {
            potential: self.potential.clone(),
            dim: target.dim(),
            param: self.param.clone(),
            system,
            integrator,
            adapt: exact.then(|| self.adapt.unwrap_or(true)),
            path: exact.then(|| self.path.unwrap_or(1.0)),
            temper,
            alpha: system.has_alpha().then(alpha).transpose()?,
            beta: system.has_beta().then(|| Beta::new(self.beta.unwrap_or(1.0))).transpose()?,
            gamma: gamma.map(Friction::new).transpose()?,
            step,
            step_power: power,
            half_life: power.map(|_| self.half_life.unwrap_or(1000.0)),
            noise_scale: self
                .noise_scale
                .map(NoiseScale::new)
                .transpose()?
                .filter(|&s| s != NoiseScale::ZERO),
            chains: self.chains.unwrap_or(64),
            draws: self.draws.unwrap_or(1000),
            warmup: self.warmup.unwrap_or(warmup),
            thin,
            start: self.start.clone().map_or(Start::Gaussian(1.0), |start| start.0),
            velocities: self.velocities,
            seed: self.seed.unwrap_or_else(random_seed),
        };
        spec.check()?;
        Ok(spec)
    }

    fn refuse_foreign(&self, system: SystemKind) -> Result<(), SamplingError> {
        let foreign = [
            // The noise of the other systems has α = 2.
            ("alpha", self.alpha.is_some_and(|alpha| alpha != 2.0) && !system.has_alpha()),
            ("beta", self.beta.is_some() && !system.has_beta()),
            ("friction gamma", self.gamma.is_some() && !system.has_velocity()),
            ("velocities", self.velocities && !system.has_velocity()),
            (
                "noise_scale",
                self.noise_scale.is_some_and(|scale| scale != 0.0)
                    && !(system.has_velocity() && system.has_beta()),
            ),
        ];
        match foreign.into_iter().find(|(_, foreign)| *foreign) {
            Some((setting, _)) => Err(SamplingError::Foreign { setting, system }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::{compose, tests::parameters};
    use crate::start::StartingPoint;
    use crate::target_error::TargetError;
    use fuld::{Polynomial, Potential, ScheduleSpec};

    /// The facts in the table of systems agree with what the systems are composed of.
    #[test]
    fn facts_agree_with_the_composition() {
        let well = Target::new("double_well", None, &[]).unwrap();
        for &system in SystemKind::ALL {
            let built = compose(system, parameters(), &well).unwrap();
            assert_eq!(built.spec().kind(), Some(system));
            assert_eq!(built.is_underdamped(), system.has_velocity(), "{system}");
            assert_eq!(built.alpha().get() == 1.5, system.has_alpha(), "{system}");
            assert!(SystemDefaults::of(system, true).integrator.check(&built).is_ok(), "{system}");
            let spec = serde_json::to_value(built.spec()).unwrap();
            assert_eq!(spec["system"], system.name());
            let has = [
                ("alpha", system.has_alpha(), 1.5),
                ("gamma", system.has_velocity(), 2.0),
                ("beta", system.has_beta(), 3.0),
            ];
            for (name, has, value) in has {
                assert_eq!(
                    spec.get(name).and_then(|value| value.as_f64()),
                    has.then_some(value),
                    "{system}"
                );
            }
            assert_eq!(&serde_json::from_value::<fuld::SystemSpec>(spec).unwrap(), built.spec());
        }
    }

    fn well(dim: usize) -> Target {
        Target::new("double_well", Some(dim), &[]).unwrap()
    }

    #[track_caller]
    fn refused(request: &SampleRequest, says: &str) {
        let well = well(2);
        let run = request.complete_on(&well).and_then(|complete| complete.run(&well));
        let message = run.map(|run| format!("{run:?}")).unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is not in {message:?}");
        assert!(!message.contains("--"), "{message}");
    }

    #[test]
    fn settings_left_out_have_defaults() {
        let of = |system| {
            SampleRequest { system: Some(system), ..SampleRequest::default() }
                .complete_on(&well(1))
                .unwrap()
        };
        let fuld = of(SystemKind::Fuld);
        let numbers =
            (fuld.alpha.map(f64::from), fuld.beta.map(f64::from), fuld.gamma.map(f64::from));
        assert_eq!(numbers, (Some(1.8), Some(1.0), None));
        assert_eq!((fuld.chains, fuld.draws, fuld.velocities), (64, 1000, false));
        // Two equal seeds have a chance of 2⁻³².
        assert_ne!(fuld.seed, of(SystemKind::Fuld).seed);
        assert_eq!(
            (fuld.step_power, fuld.half_life, fuld.start),
            (None, None, Start::Gaussian(1.0))
        );
        assert_eq!(
            (fuld.integrator, fuld.adapt, fuld.path),
            (Integrator::Exact, Some(true), Some(1.0))
        );
        assert_eq!((fuld.step.get(), fuld.thin, fuld.warmup), (0.1, 1, 500));
        let falling = SampleRequest { step_power: Some(0.5), ..SampleRequest::default() };
        let baoab =
            SampleRequest { integrator: Some(Integrator::Baoab), ..SampleRequest::default() };
        for request in [falling, baoab] {
            let spec = request.complete_on(&well(1)).unwrap();
            assert_eq!((spec.integrator, spec.adapt, spec.path), (Integrator::Baoab, None, None));
            assert_eq!((spec.step.get(), spec.thin, spec.warmup), (0.05, 20, 2000));
            assert_eq!(spec.gamma.map(f64::from), Some(2.0));
        }
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
        let request = SampleRequest {
            system: Some(SystemKind::Fhd),
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
            start: Some(StartingPoint(Start::Point(vec![2.0]))),
            velocities: true,
            seed: Some(9),
            ..SampleRequest::default()
        };
        let run = request.complete_on(&well(3)).unwrap().run(&well(3)).unwrap();
        assert_eq!(format!("{:?}", run.system), "fhd, alpha 1.2, gamma 0.5, beta 3");
        assert_eq!(run.integrator, Integrator::Aboba);
        let falling = Polynomial { start: Step::new(0.125).unwrap(), half_life: 7.0, power: 0.25 };
        assert_eq!(run.schedule.spec(), ScheduleSpec::Polynomial(falling));
        assert!((run.schedule.at(7).unwrap() / (0.125 * 2f64.powf(-0.25)) - 1.0).abs() < 1e-15);
        assert_eq!((run.chains, run.draws, run.thin, run.warmup, run.seed), (3, 1, 5, 11, 9));
        assert_eq!((run.start, run.velocities), (Start::Point(vec![2.0; 3]), true));
        // `thin` is bounded however small the step is.
        let tiny = SampleRequest {
            step: Some(1e-9),
            integrator: Some(Integrator::Baoab),
            ..SampleRequest::default()
        };
        let tiny = tiny.complete_on(&well(1)).unwrap();
        assert_eq!((tiny.thin, tiny.warmup), (10_000, 1_000_000));
    }

    #[test]
    fn incompatible_settings_are_refused() {
        let request = SampleRequest::default;
        let of = |system| SampleRequest { system: Some(system), ..SampleRequest::default() };
        refused(&SampleRequest { alpha: Some(2.1), ..request() }, "alpha <= 2, got 2.1");
        refused(&SampleRequest { alpha: Some(f64::NAN), ..request() }, "got NaN");
        refused(
            &SampleRequest { alpha: Some(1e-9), ..request() },
            "0.1 <= alpha <= 2, got 0.000000001",
        );
        refused(
            &SampleRequest { beta: Some(0.0), ..request() },
            "beta must be positive and finite, got 0",
        );
        refused(
            &SampleRequest { gamma: Some(-1.0), ..request() },
            "gamma must be finite and not negative, got -1",
        );
        refused(
            &SampleRequest { step: Some(f64::NAN), ..request() },
            "the step size must be positive and finite, got NaN",
        );
        refused(
            &SampleRequest { step_power: Some(-1.0), ..request() },
            "finite and not negative, got -1",
        );
        refused(
            &SampleRequest { path: Some(-1.0), ..request() },
            "path must be finite and not negative, got -1",
        );
        let baoab =
            || SampleRequest { integrator: Some(Integrator::Baoab), ..SampleRequest::default() };
        refused(
            &SampleRequest { adapt: Some(true), ..baoab() },
            "`adapt` requires the integrator exact",
        );
        refused(
            &SampleRequest { temper: Some(4), ..baoab() },
            "`temper` requires the integrator exact",
        );
        refused(
            &SampleRequest { temper: Some(0), ..request() },
            "temper must be from 1 to 255, got 0",
        );
        refused(
            &SampleRequest { temper: Some(4), adapt: Some(false), ..request() },
            "4 temperatures require adaptation",
        );
        refused(
            &SampleRequest { half_life: Some(10.0), ..request() },
            "`half_life` requires `step_power`",
        );
        let noise_scale = Some(0.1);
        refused(
            &SampleRequest { noise_scale: Some(-1.0), ..request() },
            "noise_scale must be finite and not negative, got -1",
        );
        refused(
            &SampleRequest { noise_scale, ..baoab() },
            "`noise_scale` requires stochastic gradients",
        );
        refused(
            &SampleRequest { noise_scale, ..of(SystemKind::Momentum) },
            "momentum has no noise_scale",
        );
        refused(&SampleRequest { noise_scale, ..of(SystemKind::Flmc) }, "flmc has no noise_scale");
        refused(
            &SampleRequest { chains: Some(0), ..request() },
            "chains must be at least 1, got 0",
        );
        refused(&SampleRequest { draws: Some(0), ..request() }, "draws must be at least 1, got 0");
        refused(&SampleRequest { thin: Some(0), ..request() }, "thin must be at least 1, got 0");
        refused(&SampleRequest { draws: Some(1 << 40), ..request() }, "exceed 1e11 numbers");
        refused(&SampleRequest { warmup: Some(u64::MAX), ..request() }, "exceed 1e18 iterations");
        refused(
            &SampleRequest { integrator: Some(Integrator::TamedEuler), ..request() },
            "does not suit",
        );
        refused(
            &SampleRequest { alpha: Some(1.5), ..of(SystemKind::Momentum) },
            "momentum has no alpha",
        );
        refused(
            &SampleRequest { beta: Some(1.0), ..of(SystemKind::Momentum) },
            "momentum has no beta",
        );
        refused(
            &SampleRequest { gamma: Some(1.0), ..of(SystemKind::Flmc) },
            "flmc has no friction gamma",
        );
        refused(
            &SampleRequest { velocities: true, ..of(SystemKind::Flmc) },
            "flmc has no velocities",
        );
        // Their noise has α = 2.
        let gaussian = SampleRequest { alpha: Some(2.0), ..of(SystemKind::OverdampedLangevin) };
        assert_eq!(gaussian.complete_on(&well(1)).unwrap().alpha, None);
    }

    /// The noise of minibatches of the logistic regression is known in the request.
    #[test]
    fn gradient_noise_is_a_setting_of_stochastic_potentials() {
        let target = Target::new("logistic", None, &[("batch", 16.0)]).unwrap();
        let with = |noise_scale: f64| SampleRequest {
            noise_scale: Some(noise_scale),
            ..SampleRequest::default()
        };
        let zero = with(0.0).complete_on(&target).unwrap();
        assert!(zero.noise_scale.is_none() && !zero.text().contains("noise_scale"));
        let spec = with(0.5).complete_on(&target).unwrap();
        assert!(
            spec.text().contains("noise_scale = 0.5")
                && spec.headline().contains("gradient noise 0.5")
        );
        assert_eq!((spec.integrator, spec.request().noise_scale), (Integrator::Baoab, Some(0.5)));
        let run = spec.run(&target).unwrap();
        assert!(run.spec(target.potential()).unwrap().to_json().contains(r#""noise_scale":0.5"#));
        let message = |request: SampleRequest| {
            let run = request.complete_on(&target).and_then(|spec| spec.run(&target));
            run.map(|run| format!("{run:?}")).unwrap_err().to_string()
        };
        assert!(
            message(with(50.0)).starts_with("step must be at most 0.0"),
            "{}",
            message(with(50.0))
        );
        let exact = SampleRequest { integrator: Some(Integrator::Exact), ..with(0.5) };
        assert!(message(exact).contains("cannot be used with exact sampling"));
    }

    #[test]
    fn starts_are_finite_points() {
        let at =
            |start| SampleRequest { start: Some(StartingPoint(start)), ..SampleRequest::default() };
        let allowed = "one number, a point of shape (2,), or a point for each chain, of shape (64, 2); got shape";
        refused(&at(Start::Point(vec![0.0; 3])), &format!("{allowed} (3,)"));
        refused(&at(Start::Point(vec![])), &format!("{allowed} (0,)"));
        refused(&at(Start::Points(vec![vec![0.0; 2]; 3])), &format!("{allowed} (3, 2)"));
        refused(&at(Start::Points(vec![vec![0.0]; 64])), &format!("{allowed} (64, 1)"));
        refused(&at(Start::Points(vec![])), &format!("{allowed} (0, 0)"));
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
        let error = SampleRequest::default()
            .complete_on(&Target::from_potential(Box::new(Nothing)))
            .unwrap_err();
        assert_eq!(error.to_string(), "dim must be at least 1, got 0");
        // Errors of the target become errors of the request.
        let unknown: Result<Target, TargetError> = Target::new("harmonics", None, &[]);
        assert!(SamplingError::from(unknown.unwrap_err()).to_string().contains("`harmonic`"));
    }
}

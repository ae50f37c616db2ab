//! Defaults of the program for each system, and systems built for a target.

use crate::recipe::RecipeError;
use crate::target::Target;
use fuld::dynamics::Function;
use fuld::gibbs::Gibbs;
use fuld::{Beta, Flmc, Integrator, Potential, Specification, System, SystemKind, Underdamped};

/// SampleSpec that suit one system on the double well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SystemDefaults {
    /// Step size η. Systems whose velocity or position makes unbounded jumps require small steps.
    pub(crate) step: f64,
    pub(crate) integrator: Integrator,
    /// The time between draws after which another draw adds information.
    pub(crate) draw_time: f64,
}

impl SystemDefaults {
    pub(crate) fn of(system: SystemKind) -> Self {
        let step = match system {
            SystemKind::Fuld
            | SystemKind::FuldBetaFree
            | SystemKind::UnderdampedLangevin
            | SystemKind::Momentum => 0.05,
            SystemKind::FuldGaussian => 0.02,
            SystemKind::Uncorrected | SystemKind::Fhd => 0.01,
            SystemKind::OverdampedLangevin => 0.005,
            SystemKind::UncorrectedOverdamped | SystemKind::Flmc | SystemKind::FlmcApproximate => 0.002,
        };
        let (integrator, draw_time) =
            if system.has_velocity() { (Integrator::Baoab, 1.0) } else { (Integrator::TamedEuler, 0.5) };
        Self { step, integrator, draw_time }
    }
}

/// Composes a system for a target. The system reads the parameters that it has; FLMC also reads the target's function of one
/// coordinate.
pub(crate) fn compose(
    system: SystemKind,
    parameters: Underdamped,
    target: &Target,
) -> Result<System, RecipeError> {
    match system.compose(parameters) {
        Some(system) => Ok(system?),
        None => flmc(parameters, target),
    }
}

fn flmc(parameters: Underdamped, target: &Target) -> Result<System, RecipeError> {
    let Underdamped { alpha, beta, .. } = parameters;
    let Some(f) = target.one_coordinate() else {
        return Err(RecipeError::NotSeparable(target.potential().dim()));
    };
    let reach = reach(f, beta)?;
    let derivative = |x: f64| {
        let mut gradient = [0.0];
        f.gradient(&[x], &mut gradient);
        gradient[0]
    };
    // The run's identity describes the potential itself.
    let potential = Specification::new("the potential of the run");
    let f = Function { value: |x: f64| f.value(&[x]), derivative };
    Ok(System::flmc(Flmc { alpha, beta, reach, potential }, f)?)
}

/// Returns the distance to which the drift is tabulated.
///
/// The table ends where e^(−βf) has fallen by 10⁴³. If its tails are heavy, it ends a thousand times as far out as all but 2 in
/// 1000 draws: beyond 10⁹ the table of a power law takes minutes.
fn reach(f: &dyn Potential, beta: Beta) -> Result<f64, RecipeError> {
    /// βf above its minimum at the end of the table: e^(−100) ≈ 10⁻⁴³.
    const DEEP: f64 = 100.0;
    let gibbs = Gibbs::new(f, beta.get())?;
    let beta = beta.get();
    let farthest = |p: f64| gibbs.quantile(p).abs().max(gibbs.quantile(1.0 - p).abs());
    let lowest = gibbs.modes().iter().map(|&x| f.value(&[x])).fold(f64::INFINITY, f64::min);
    let fallen = |x: f64| beta * (f.value(&[x]) - lowest) > DEEP && beta * (f.value(&[-x]) - lowest) > DEEP;
    let (mut reach, end) = (farthest(1e-3), 1e3 * farthest(1e-3));
    while !fallen(reach) && reach < end {
        reach *= 1.05;
    }
    Ok(reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuld::{Alpha, Friction};

    fn parameters() -> Underdamped {
        Underdamped {
            alpha: Alpha::new(1.5).unwrap(),
            gamma: Friction::new(2.0).unwrap(),
            beta: Beta::new(3.0).unwrap(),
        }
    }

    /// The facts in the table of systems agree with what the systems are composed of.
    #[test]
    fn facts_agree_with_the_composition() {
        let well = Target::new("double_well", None, &[]).unwrap();
        for &system in SystemKind::ALL {
            let built = compose(system, parameters(), &well).unwrap();
            assert_eq!(built.spec().kind(), Some(system));
            assert_eq!(built.is_underdamped(), system.has_velocity(), "{system}");
            assert_eq!(built.alpha().get() == 1.5, system.has_alpha(), "{system}");
            assert!(SystemDefaults::of(system).integrator.check(&built).is_ok(), "{system}");
            let spec = serde_json::to_value(built.spec()).unwrap();
            assert_eq!(spec["system"], system.name());
            let has = [
                ("alpha", system.has_alpha(), 1.5),
                ("gamma", system.has_velocity(), 2.0),
                ("beta", system.has_beta(), 3.0),
            ];
            for (name, has, value) in has {
                assert_eq!(spec.get(name).and_then(|value| value.as_f64()), has.then_some(value), "{system}");
            }
            assert_eq!(&serde_json::from_value::<fuld::SystemSpec>(spec).unwrap(), built.spec());
        }
    }

    #[test]
    fn flmc_requires_a_separable_potential() {
        let message =
            |target: &Target| compose(SystemKind::Flmc, parameters(), target).unwrap_err().to_string();
        let plane = Target::new("x^2 + y^2", None, &[]).unwrap();
        assert!(
            message(&plane).contains("or one of double_well, harmonic, cauchy; this one has 2 coordinates"),
            "{}",
            message(&plane)
        );
        let slope = Target::new("x", None, &[]).unwrap();
        assert!(message(&slope).contains("still falls"), "{}", message(&slope));
        let wells = Target::new("double_well", Some(5), &[]).unwrap();
        assert!(compose(SystemKind::Flmc, parameters(), &wells).is_ok());
    }
}

//! Systems built for a target.

use crate::error::SamplingError;
use crate::target::Target;
use fuld::dynamics::DifferentiableFunction;
use fuld::gibbs::Gibbs;
use fuld::{Beta, Flmc, Potential, Specification, System, SystemKind, Underdamped};

/// Composes a system for a target. The system reads the parameters that it has; FLMC also reads the
/// target's function of one coordinate.
pub(crate) fn compose(
    system: SystemKind,
    parameters: Underdamped,
    target: &Target,
) -> Result<System, SamplingError> {
    match system.compose(parameters) {
        Some(system) => Ok(system?),
        None => flmc(parameters, target),
    }
}

fn flmc(parameters: Underdamped, target: &Target) -> Result<System, SamplingError> {
    let Underdamped { alpha, beta, .. } = parameters;
    let Some(f) = target.one_coordinate() else {
        return Err(SamplingError::NotSeparable(target.potential().dim()));
    };
    let reach = reach(f, beta)?;
    let derivative = |x: f64| {
        let mut gradient = [0.0];
        f.gradient(&[x], &mut gradient);
        gradient[0]
    };
    // The run's identity describes the potential itself.
    let potential = Specification::new("the potential of the run");
    let f = DifferentiableFunction { value: |x: f64| f.value(&[x]), derivative };
    Ok(System::flmc(Flmc { alpha, beta, reach, potential }, f)?)
}

/// Returns the distance to which the drift is tabulated.
///
/// The table ends where e^(−βf) has fallen by 10⁴³. If its tails are heavy, it ends a thousand
/// times as far out as all but 2 in 1000 draws: beyond 10⁹ the table of a power law takes minutes.
fn reach(f: &dyn Potential, beta: Beta) -> Result<f64, SamplingError> {
    /// βf above its minimum at the end of the table: e^(−100) ≈ 10⁻⁴³.
    const DEEP: f64 = 100.0;
    let gibbs = Gibbs::new(f, beta)?;
    let beta = beta.get();
    let farthest = |p: f64| gibbs.quantile(p).abs().max(gibbs.quantile(1.0 - p).abs());
    let lowest = gibbs.modes().iter().map(|&x| f.value(&[x])).fold(f64::INFINITY, f64::min);
    let fallen =
        |x: f64| beta * (f.value(&[x]) - lowest) > DEEP && beta * (f.value(&[-x]) - lowest) > DEEP;
    let (mut reach, end) = (farthest(1e-3), 1e3 * farthest(1e-3));
    while !fallen(reach) && reach < end {
        reach *= 1.05;
    }
    Ok(reach)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fuld::{Alpha, Friction};

    /// Returns parameters of the system that differ from the defaults.
    pub(crate) fn parameters() -> Underdamped {
        Underdamped {
            alpha: Alpha::new(1.5).unwrap(),
            gamma: Friction::new(2.0).unwrap(),
            beta: Beta::new(3.0).unwrap(),
        }
    }

    #[test]
    fn flmc_requires_a_separable_potential() {
        let message = |target: &Target| {
            compose(SystemKind::Flmc, parameters(), target).unwrap_err().to_string()
        };
        let plane = Target::new("x^2 + y^2", None, &[]).unwrap();
        assert!(
            message(&plane)
                .contains("or one of double_well, harmonic, cauchy; this one has 2 coordinates"),
            "{}",
            message(&plane)
        );
        let slope = Target::new("x", None, &[]).unwrap();
        assert!(message(&slope).contains("still falls"), "{}", message(&slope));
        let wells = Target::new("double_well", Some(5), &[]).unwrap();
        assert!(compose(SystemKind::Flmc, parameters(), &wells).is_ok());
    }
}

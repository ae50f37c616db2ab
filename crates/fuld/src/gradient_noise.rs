//! Noise of the gradient as a part of the driving noise.
//!
//! Let every coordinate of a stochastic gradient carry independent noise σζ with ζ ~ SαS(1), of the
//! tail index of the dynamics. The noise reaches the velocity, which then has more noise than the
//! friction dissipates. Sums of independent stable numbers are stable, (a^α + b^α)^(1/α) the scale
//! of aζ + bξ, so the step adds only what is missing.
//!
//! | integrator | noise of exact gradients | noise from the gradient |
//! |---|---|---|
//! | Euler | s (γη)^(1/α) | ησ |
//! | BAOAB, ABOBA | κ (1 − e^(−αγη))^(1/α) | ησ (1 + e^(−γη))/2 |
//!
//! Here s is the amplitude of the noise and κ = s α^(−1/α) the stationary scale of v. The
//! integrator takes as the scale of its own noise (noise^α − noise from the gradient^α)^(1/α).
//!
//! Euler and ABOBA use a gradient at one position, before which and after which v moves x. Their
//! chains therefore have *exactly the law of chains with exact gradients*, for every f and every
//! step. In ABOBA the two half kicks are by the same gradient, one of them before the friction, so
//! that the noise e^(−γη)ησζ/2 + ησζ/2 of one ζ is left after it.
//!
//! BAOAB moves x by v before and after its noisy kick, so that v cannot have the scale κ in both.
//! The choice in the table is the one for which x has the right law to second order. For f = λx²/2
//! and α = 2 the exact choice follows from the stationary covariances of x and v: it is the square
//! in the table divided by 1 − λη²/4. Without the factor (1 + e^(−γη))/2 the bias would be of order
//! (ησ)^α.

use crate::dynamics::LinearStep;
use crate::integrator::Integrator;
use crate::parameters::{NoiseScale, ParameterError, Step, noise_amplitude};
use crate::system::{Motion, System, Underdamped};
use levy_stable::Alpha;
use thiserror::Error;

/// A run that cannot take the noise of its gradients for a part of its own.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GradientNoiseError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Exact sampling compares values of f, which noise in the gradient makes wrong.
    #[error(
        "noise_scale cannot be used with exact sampling, which requires exact values and gradients; use BAOAB, ABOBA or Euler"
    )]
    Exact,
    /// The noise of an overdamped system acts on the position.
    #[error("noise_scale requires a system with a velocity, such as fuld, got {0}")]
    Overdamped(String),
    /// The system has no noise of its own.
    #[error("noise_scale requires a system with noise, such as fuld, got {0}")]
    Noiseless(String),
    /// Noise before a nonlinear friction is not stable after it.
    #[error(
        "noise_scale requires linear friction, which fuld and underdamped-langevin have, and fuld-gaussian at alpha = 2 only, got {0}"
    )]
    Nonlinear(String),
    /// The noise of the gradient is larger than that of the dynamics.
    #[error(
        "step must be at most {largest}, got {step}: the gradient noise alone exceeds what friction gamma dissipates; \
         take a smaller step or a larger gamma"
    )]
    Step {
        /// The largest step, rounded down to three digits.
        largest: f64,
        /// The step that was given.
        step: f64,
    },
    /// The noise of the gradient is larger than that of the dynamics, also at smaller steps.
    #[error(
        "the gradient noise of scale {noise_scale} alone exceeds what friction gamma dissipates at step {step}, and at smaller steps; \
         take a larger gamma"
    )]
    NoStep {
        /// σ
        noise_scale: f64,
        /// The step that was given.
        step: f64,
    },
}

/// The velocity's part of a system whose friction is linear.
#[derive(Clone, Copy, Debug)]
struct LinearFriction {
    alpha: Alpha,
    amplitude: f64,
    gamma: f64,
    /// k of c(v) = kv
    rate: f64,
    /// The factor of the gradient.
    weight: f64,
}

impl LinearFriction {
    fn of(system: &System) -> Result<Self, GradientNoiseError> {
        let name = || system.to_string();
        let Motion::Underdamped { kinetic, gamma, weight } = &system.motion else {
            return Err(GradientNoiseError::Overdamped(name()));
        };
        let (alpha, amplitude) = (system.alpha(), kinetic.amplitude());
        if amplitude == 0.0 {
            return Err(GradientNoiseError::Noiseless(name()));
        }
        let rate =
            kinetic.linear_friction().ok_or_else(|| GradientNoiseError::Nonlinear(name()))?;
        Ok(Self { alpha, amplitude, gamma: *gamma, rate, weight: *weight })
    }

    /// Returns friction and noise of a step η with exact gradients, and the scale of the noise that
    /// noisy ones add.
    fn noises(&self, integrator: Integrator, sigma: f64, eta: f64) -> (LinearStep, f64) {
        let Self { alpha, amplitude, gamma, rate, weight } = *self;
        let kick = eta * weight * sigma;
        if integrator.is_splitting() {
            let whole = LinearStep::with_rate(alpha, amplitude, gamma, rate, eta);
            return (whole, kick * 0.5 * (1.0 + whole.decay));
        }
        let scale = amplitude * libm::pow(eta * gamma, 1.0 / alpha.get());
        (LinearStep { decay: 1.0 - gamma * rate * eta, scale }, kick)
    }

    /// Returns friction and own noise of a step η, or None if the gradient has more noise than
    /// that.
    fn own(&self, integrator: Integrator, sigma: f64, eta: f64) -> Option<LinearStep> {
        let (whole, part) = self.noises(integrator, sigma, eta);
        let alpha = self.alpha.get();
        let left = 1.0 - libm::pow(part / whole.scale, alpha);
        (left >= 0.0)
            .then(|| LinearStep { scale: whole.scale * libm::pow(left, 1.0 / alpha), ..whole })
    }

    fn own_or_error(
        &self,
        integrator: Integrator,
        sigma: NoiseScale,
        eta: f64,
    ) -> Result<LinearStep, GradientNoiseError> {
        let sigma = sigma.get();
        let too_large = || match self.largest_step(integrator, sigma, eta) {
            Some(largest) => GradientNoiseError::Step { largest, step: eta },
            None => GradientNoiseError::NoStep { noise_scale: sigma, step: eta },
        };
        self.own(integrator, sigma, eta).ok_or_else(too_large)
    }

    /// Returns the largest step below η at which the gradient has less noise than the dynamics.
    ///
    /// For α > 1 the part of the gradient in the noise grows with the step from 0 on, for α < 1 it
    /// is large at small steps.
    fn largest_step(&self, integrator: Integrator, sigma: f64, eta: f64) -> Option<f64> {
        /// The smallest step that is tried, relative to the one that was given.
        const TINY: f64 = 1e-12;
        let (mut low, mut high) = (TINY * eta, eta);
        self.own(integrator, sigma, low)?;
        while high / low > 1.0 + 1e-9 {
            let middle = (low * high).sqrt();
            if self.own(integrator, sigma, middle).is_some() { low = middle } else { high = middle }
        }
        Some(rounded_down(low))
    }
}

/// Returns friction and noise of a step η whose gradients carry noise of scale σ.
pub(crate) fn own_noise(
    system: &System,
    integrator: Integrator,
    sigma: NoiseScale,
    eta: f64,
) -> Result<LinearStep, GradientNoiseError> {
    if integrator == Integrator::Exact {
        return Err(GradientNoiseError::Exact);
    }
    LinearFriction::of(system)?.own_or_error(integrator, sigma, eta)
}

/// Returns friction and noise, the flow O, of a step of FULD by BAOAB whose gradients carry noise.
///
/// For implementations of the step outside of this crate. The rest of the step is in
/// [`StableKinetic::field_factors`](crate::dynamics::StableKinetic::field_factors).
pub fn fuld_relaxation(
    parameters: Underdamped,
    step: Step,
    noise_scale: NoiseScale,
) -> Result<LinearStep, GradientNoiseError> {
    let Underdamped { alpha, gamma, beta } = parameters;
    let amplitude = noise_amplitude(alpha, beta)?;
    let friction = LinearFriction { alpha, amplitude, gamma: gamma.get(), rate: 1.0, weight: 1.0 };
    if noise_scale == NoiseScale::ZERO {
        // Without friction there is no noise, and none is missing.
        return Ok(friction.noises(Integrator::Baoab, 0.0, step.get()).0);
    }
    friction.own_or_error(Integrator::Baoab, noise_scale, step.get())
}

/// Rounds a positive number down to three digits.
fn rounded_down(value: f64) -> f64 {
    let unit = libm::pow(10.0, libm::floor(libm::log10(value)) - 2.0);
    let digits = libm::floor(value / unit);
    // Through text, so that the number is printed with three digits.
    format!("{digits}e{}", libm::round(libm::log10(unit))).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{Beta, Friction};
    use crate::system::{Noiseless, OverdampedGaussian, Underdamped, UnderdampedGaussian};

    const SPLITTINGS: [Integrator; 2] = [Integrator::Baoab, Integrator::Aboba];

    fn parameters(alpha: f64) -> Underdamped {
        Underdamped {
            alpha: Alpha::new(alpha).unwrap(),
            gamma: Friction::new(3.0).unwrap(),
            beta: Beta::new(2.0).unwrap(),
        }
    }

    fn sigma(value: f64) -> NoiseScale {
        NoiseScale::new(value).unwrap()
    }

    /// The noise of the gradient, after friction, and the own noise together are the noise of exact
    /// gradients.
    #[test]
    fn both_noises_together_are_that_of_exact_gradients() {
        for alpha in [0.8, 1.0, 1.5, 2.0] {
            let (eta, noise, gamma, beta) = (0.05, 0.1, 3.0, 2.0);
            let system = System::fuld(parameters(alpha)).unwrap();
            for integrator in SPLITTINGS {
                let own = own_noise(&system, integrator, sigma(noise), eta).unwrap();
                assert_eq!(own.decay, libm::exp(-gamma * eta));
                let kick = eta * noise * (1.0 + own.decay) / 2.0;
                let expected = (1.0 - libm::exp(-alpha * gamma * eta)) / (alpha * beta);
                let sum = own.scale.powf(alpha) + kick.powf(alpha);
                assert!(
                    (sum / expected - 1.0).abs() < 1e-12,
                    "{integrator} {alpha}: {sum} {expected}"
                );
            }
            let own = own_noise(&system, Integrator::Euler, sigma(noise), eta).unwrap();
            let sum = own.scale.powf(alpha) + (eta * noise).powf(alpha);
            assert!((sum / (eta * gamma / beta) - 1.0).abs() < 1e-12, "Euler {alpha}: {sum}");
        }
    }

    #[test]
    fn without_noise_the_step_is_that_of_the_kinetic_energy() {
        let fhd = System::fhd(parameters(1.5)).unwrap();
        let Motion::Underdamped { kinetic, gamma, .. } = &fhd.motion else { panic!() };
        let own = own_noise(&fhd, Integrator::Baoab, NoiseScale::ZERO, 0.1).unwrap();
        let (mut ours, mut theirs) = ([0.3, -2.0], [0.3, -2.0]);
        own.apply(&[1.0, 5.0], &mut ours);
        kinetic.relax(*gamma, 0.1, &[1.0, 5.0], &mut theirs);
        assert_eq!(ours, theirs);
    }

    /// For f = λx²/2 at α = 2, the variance of x from the covariances of one step is 1/(λβ) up to
    /// σ² times λη²/4.
    #[test]
    fn baoab_has_the_variance_of_a_gaussian_target() {
        let (gamma, beta, lambda, eta, noise) = (3.0, 2.0, 1.5, 0.1, 2.0);
        let system = System::fuld(parameters(2.0)).unwrap();
        let own = own_noise(&system, Integrator::Baoab, sigma(noise), eta).unwrap();
        let whole = LinearStep::exact(Alpha::GAUSS, f64::powf(beta, -0.5), gamma, eta);
        assert!(own.scale < 0.9 * whole.scale, "the noise of the gradient is not negligible");
        let kicked = 2.0 * (eta * noise).powi(2);
        let variance = |own_variance: f64| {
            // Covariances (xx, xv, vv) of half a kick, half a drift, O, half a drift, half a kick;
            // x and v of the recorded point. The noise of the kick belongs to the gradient at that
            // point, whose first half is in the next step.
            let (mut xx, mut xv, mut vv) = (1.0, 0.0, 1.0);
            for _ in 0..4000 {
                (xv, vv) = (own.decay * xv, own.decay * own.decay * vv + own_variance);
                for half in 0..2 {
                    (xx, xv) = (xx + eta * xv + 0.25 * eta * eta * vv, xv + 0.5 * eta * vv);
                    if half == 0 {
                        let push = eta * lambda;
                        (xv, vv) =
                            (xv - push * xx, vv - 2.0 * push * xv + push * push * xx + kicked);
                    }
                }
            }
            // From the end of a cycle, before O, to the position of the next kick.
            let (xv, vv) = (own.decay * xv, own.decay * own.decay * vv + own_variance);
            xx + eta * xv + 0.25 * eta * eta * vv
        };
        let exact = 1.0 / (lambda * beta);
        let relative = variance(2.0 * own.scale * own.scale) / exact - 1.0;
        assert!(relative.abs() < lambda * eta * eta / 4.0, "{relative}");
        let uncorrected = variance(2.0 * whole.scale * whole.scale) / exact - 1.0;
        assert!(uncorrected > 0.1, "{uncorrected}");
        let asymmetric =
            variance(2.0 * (whole.scale.powi(2) - (eta * noise).powi(2))) / exact - 1.0;
        assert!(asymmetric < -10.0 * relative.abs(), "{asymmetric} {relative}");
    }

    #[test]
    fn too_much_noise_names_the_largest_step() {
        for alpha in [1.2, 1.5, 2.0] {
            let system = System::fuld(parameters(alpha)).unwrap();
            for integrator in [Integrator::Euler, Integrator::Baoab, Integrator::Aboba] {
                let error = own_noise(&system, integrator, sigma(30.0), 0.2).unwrap_err();
                let GradientNoiseError::Step { largest, step: 0.2 } = error else {
                    panic!("{error}")
                };
                assert!(
                    own_noise(&system, integrator, sigma(30.0), largest).is_ok(),
                    "{integrator} {alpha}"
                );
                assert!(own_noise(&system, integrator, sigma(30.0), 1.01 * largest).is_err());
                let text = error.to_string();
                assert!(
                    text.starts_with(&format!("step must be at most {largest}, got 0.2: ")),
                    "{text}"
                );
                assert!(largest.to_string().len() < 14, "{text}");
            }
        }
    }

    /// At α ≤ 1 the noise of a gradient is no smaller than that of the dynamics at small steps.
    #[test]
    fn smaller_steps_do_not_help_below_alpha_1() {
        let system = System::fuld(parameters(0.8)).unwrap();
        let error = own_noise(&system, Integrator::Aboba, sigma(9.0), 0.01).unwrap_err();
        assert_eq!(error, GradientNoiseError::NoStep { noise_scale: 9.0, step: 0.01 });
        assert!(error.to_string().ends_with("and at smaller steps; take a larger gamma"));
        let frictionless = Underdamped { gamma: Friction::ZERO, ..parameters(1.5) };
        let system = System::fuld(frictionless).unwrap();
        let error = own_noise(&system, Integrator::Baoab, sigma(0.1), 0.01).unwrap_err();
        assert_eq!(error, GradientNoiseError::NoStep { noise_scale: 0.1, step: 0.01 });
    }

    #[test]
    fn other_systems_are_refused_by_name() {
        let refused = |system: Result<System, _>, integrator| {
            own_noise(&system.unwrap(), integrator, sigma(0.1), 0.01).unwrap_err().to_string()
        };
        let gaussian = refused(System::fuld_gaussian(parameters(1.5)), Integrator::Baoab);
        assert!(
            gaussian.contains("fuld-gaussian at alpha = 2 only, got fuld-gaussian, alpha 1.5"),
            "{gaussian}"
        );
        let beta = Beta::ONE;
        let overdamped =
            refused(System::overdamped_langevin(OverdampedGaussian { beta }), Integrator::Euler);
        assert!(
            overdamped.ends_with("such as fuld, got overdamped-langevin, beta 1"),
            "{overdamped}"
        );
        let gamma = Friction::new(1.0).unwrap();
        let momentum = refused(System::momentum(Noiseless { gamma }), Integrator::Baoab);
        assert!(momentum.starts_with("noise_scale requires a system with noise"), "{momentum}");
        assert!(
            refused(System::fuld(parameters(1.5)), Integrator::Exact).contains("exact sampling")
        );
        let langevin = System::underdamped_langevin(UnderdampedGaussian { gamma, beta }).unwrap();
        let at_two = [langevin, System::fuld_gaussian(parameters(2.0)).unwrap()];
        assert!(
            at_two.iter().all(|one| own_noise(one, Integrator::Baoab, sigma(0.1), 0.01).is_ok())
        );
    }
}

//! One step of a dynamics.

use crate::Potential;
use crate::batch::Batch;
use crate::system::{Motion, System};
use crate::unknown_name::{UnknownName, by_name};
use levy_stable::Sampler;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// How a system is discretised.
///
/// Underdamped systems split into three flows, A: x ← x + t h(v), B: v ← v − t∇f(x) and O: friction and noise; a symmetric
/// composition of these is of second order in the step where Euler's is of first. Each takes one gradient a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Euler–Maruyama as the paper has it: v from the old v and x, then x from the new v.
    Euler,
    /// Euler–Maruyama with the drift of the position tamed: for overdamped systems, whose drifts grow so fast that after one
    /// large jump the plain step would overshoot to infinity (see [`Drift::tamed`](crate::Drift::tamed)).
    TamedEuler,
    /// B½ A½ O A½ B½.
    #[default]
    Baoab,
    /// A½ B½ O B½ A½.
    Aboba,
}

/// The integrator cannot be used on this system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{integrator} {reason}, and so does not suit {system}: use {instead}")]
pub struct Unsuited {
    integrator: Integrator,
    system: String,
    reason: &'static str,
    instead: &'static str,
}

impl Integrator {
    /// Those for systems with a velocity last.
    pub const ALL: [Self; 4] = [Self::Euler, Self::TamedEuler, Self::Baoab, Self::Aboba];

    /// What it is called in settings.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Euler => ("euler", "Euler-Maruyama, as in the paper: first order"),
            Self::TamedEuler => {
                ("tamed-euler", "The same with a drift that cannot overshoot, for systems without velocity")
            }
            Self::Baoab => ("baoab", "Symmetric splitting, second order, for systems with a velocity"),
            Self::Aboba => ("aboba", "The other symmetric splitting"),
        }
    }

    /// The weak order in the step size.
    pub fn order(self) -> u32 {
        match self {
            Self::Euler | Self::TamedEuler => 1,
            Self::Baoab | Self::Aboba => 2,
        }
    }

    /// Whether it is for systems that have a velocity, or have none: Euler for both, tamed Euler for those without, the
    /// splittings for those with one.
    pub fn suits(self, has_velocity: bool) -> bool {
        match self {
            Self::Euler => true,
            Self::TamedEuler => !has_velocity,
            Self::Baoab | Self::Aboba => has_velocity,
        }
    }

    /// Whether it can integrate a system, which it must [suit](Self::suits).
    pub fn check(self, system: &System) -> Result<(), Unsuited> {
        if self.suits(system.is_underdamped()) {
            return Ok(());
        }
        let (reason, instead) = if system.is_underdamped() {
            ("bounds the drift of a position", "BAOAB, ABOBA or Euler")
        } else {
            ("splits off the motion of a velocity", "Euler or tamed Euler")
        };
        Err(Unsuited { integrator: self, system: format!("{system:?}"), reason, instead })
    }

    /// Whether a step begins with the gradient at the present position, as left by the step before.
    pub(crate) fn carries_gradient(self) -> bool {
        self == Self::Baoab
    }

    /// Step k, of size η. The integrator has been checked to suit the system, and carries a gradient if it must.
    pub(crate) fn step(
        self,
        system: &System,
        potential: &dyn Potential,
        sampler: &Sampler,
        eta: f64,
        k: u64,
        batch: &mut Batch,
    ) {
        let alpha = system.alpha();
        batch.draw_noise(sampler, k);
        match &system.motion {
            Motion::Overdamped { drift, amplitude } => {
                batch.update_gradient(potential, k);
                let scale = amplitude * libm::pow(eta, 1.0 / alpha);
                let tame = self == Self::TamedEuler;
                let drift = |x: &[f64], gradient: &[f64], out: &mut [f64]| {
                    if tame { drift.tamed(x, gradient, eta, out) } else { drift.drift(x, gradient, out) }
                };
                batch.wander(drift, eta, scale);
            }
            Motion::Underdamped { kinetic, gamma, weight } => {
                let kinetic = &**kinetic;
                let half = 0.5 * eta;
                match self {
                    // `check` keeps the tamed one away from here.
                    Self::Euler | Self::TamedEuler => {
                        batch.update_gradient(potential, k);
                        let scale = kinetic.amplitude() * libm::pow(eta * gamma, 1.0 / alpha);
                        batch.push(kinetic, eta, *gamma, *weight, scale);
                        batch.drift(kinetic, eta);
                    }
                    Self::Baoab => {
                        batch.kick(half * weight);
                        batch.drift(kinetic, half);
                        batch.relax(kinetic, *gamma, eta);
                        batch.drift(kinetic, half);
                        batch.update_gradient(potential, k + 1);
                        batch.kick(half * weight);
                    }
                    Self::Aboba => {
                        batch.drift(kinetic, half);
                        batch.update_gradient(potential, k);
                        batch.kick(half * weight);
                        batch.relax(kinetic, *gamma, eta);
                        batch.kick(half * weight);
                        batch.drift(kinetic, half);
                    }
                }
            }
        }
    }
}

impl FromStr for Integrator {
    type Err = UnknownName;

    /// By [name](Self::name); capitals do not matter, and an underscore is as good as a hyphen.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        by_name("integrator", name, &Self::ALL, |integrator| integrator.name()).copied()
    }
}

/// For people, and as checkpoints have it.
impl fmt::Display for Integrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Euler => "Euler",
            Self::TamedEuler => "tamed Euler",
            Self::Baoab => "BAOAB",
            Self::Aboba => "ABOBA",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_round() {
        for integrator in Integrator::ALL {
            assert_eq!(integrator.name().parse(), Ok(integrator));
            assert_eq!(integrator.name().to_uppercase().replace('-', "_").parse(), Ok(integrator));
            // As people are told of it.
            assert_eq!(integrator.to_string().parse(), Ok(integrator));
        }
        assert_eq!(
            "eular".parse::<Integrator>().unwrap_err().to_string(),
            "no integrator is called `eular` (did you mean `euler`?); there are euler, tamed-euler, baoab, aboba"
        );
    }
}

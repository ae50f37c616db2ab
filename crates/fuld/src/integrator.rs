//! One step of a dynamics.

use crate::Potential;
use crate::batch::Batch;
use crate::system::{Motion, System};
use levy_stable::Sampler;
use std::fmt;
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
    /// The weak order in the step size.
    pub fn order(self) -> u32 {
        match self {
            Self::Euler | Self::TamedEuler => 1,
            Self::Baoab | Self::Aboba => 2,
        }
    }

    /// Whether it can integrate a system: Euler any, tamed Euler those without a velocity, the splittings those with one.
    pub fn check(self, system: &System) -> Result<(), Unsuited> {
        let (reason, instead) = match (self, system.is_underdamped()) {
            (Self::Euler, _) | (Self::TamedEuler, false) | (Self::Baoab | Self::Aboba, true) => return Ok(()),
            (Self::TamedEuler, true) => ("bounds the drift of a position", "BAOAB, ABOBA or Euler"),
            (Self::Baoab | Self::Aboba, false) => {
                ("splits off the motion of a velocity", "Euler or tamed Euler")
            }
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

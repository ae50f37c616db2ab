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
    /// B½ A½ O A½ B½.
    #[default]
    Baoab,
    /// A½ B½ O B½ A½.
    Aboba,
}

/// The integrator cannot be used on this system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{integrator} splits off the motion of a velocity, and {system} has none: use Euler")]
pub struct Unsuited {
    integrator: Integrator,
    system: String,
}

impl Integrator {
    /// The weak order in the step size.
    pub fn order(self) -> u32 {
        match self {
            Self::Euler => 1,
            Self::Baoab | Self::Aboba => 2,
        }
    }

    /// Whether it can integrate a system: Euler any, the splittings those that have a velocity.
    pub fn check(self, system: &System) -> Result<(), Unsuited> {
        if self == Self::Euler || system.is_underdamped() {
            Ok(())
        } else {
            Err(Unsuited { integrator: self, system: format!("{system:?}") })
        }
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
                batch.wander(|x, gradient, out| drift.drift(x, gradient, out), eta, scale);
            }
            Motion::Underdamped { kinetic, gamma, weight } => {
                let kinetic = &**kinetic;
                let half = 0.5 * eta;
                match self {
                    Self::Euler => {
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
            Self::Baoab => "BAOAB",
            Self::Aboba => "ABOBA",
        })
    }
}

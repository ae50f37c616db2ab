//! Integrators: one step of a dynamics.
//!
//! Underdamped systems split into three flows,
//!
//! | flow | |
//! |---|---|
//! | A | x ← x + t h(v) |
//! | B | v ← v − t∇f(x) |
//! | O | friction and noise over a time t |
//!
//! Their symmetric compositions are of second order in the step; Euler's scheme is of first order.
//! The integrators are kept in one table, [`Integrator::facts`], where the sequence of its flows
//! defines a splitting.

use crate::batch::Batch;
use crate::dynamics::LinearStep;
use crate::potential::Potential;
use crate::system::{Motion, System};
use levy_stable::Sampler;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// The discretisation of a system. Every integrator evaluates one gradient per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Euler–Maruyama as in the paper: v from the old v and x, then x from the new v.
    Euler,
    /// Euler–Maruyama with a tamed drift, for overdamped systems.
    ///
    /// Their drifts grow so fast that after one large jump the plain step would overshoot to
    /// infinity (see [`Drift::tamed`](crate::Drift::tamed)).
    TamedEuler,
    /// B½ A½ O A½ B½.
    #[default]
    Baoab,
    /// A½ B½ O B½ A½.
    Aboba,
    /// Generalised Hamiltonian Monte Carlo: leapfrog steps that are accepted or rejected, without
    /// bias at any step size.
    Exact,
}

/// A flow of an underdamped system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    A,
    B,
    O,
}

/// The scheme of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    /// All forces at once, then the position.
    Euler { tamed: bool },
    /// A sequence of flows. A flow that occurs n times advances by 1/n of the step each time; O
    /// occurs once.
    Splitting(&'static [Flow]),
    /// Proposals that are accepted or rejected: see `exact`.
    Metropolis,
}

/// The systems that an integrator is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suits {
    All,
    WithVelocity,
    WithoutVelocity,
}

/// Number and size of a step, and its noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepOf {
    /// k
    pub(crate) number: u64,
    /// η
    pub(crate) eta: f64,
    /// Friction and noise where the gradient supplies a part of the noise: see `gradient_noise`.
    /// None if it supplies none.
    pub(crate) own_noise: Option<LinearStep>,
}

/// The entry of an integrator in the table.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// The name in settings.
    name: &'static str,
    /// The name in text.
    title: &'static str,
    summary: &'static str,
    /// The weak order in the step size.
    order: u32,
    suits: Suits,
    scheme: Scheme,
}

/// An error for an integrator that does not suit a system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{integrator} {reason}, so it does not suit {system}; use {instead}")]
pub struct Unsuited {
    integrator: Integrator,
    system: String,
    reason: &'static str,
    instead: &'static str,
}

impl Integrator {
    /// All integrators, those for systems with a velocity last.
    pub const ALL: &'static [Self] =
        &[Self::Euler, Self::TamedEuler, Self::Baoab, Self::Aboba, Self::Exact];

    /// Returns the entry of the table.
    fn facts(self) -> Facts {
        use Flow::{A, B, O};
        match self {
            Self::Euler => Facts {
                name: "euler",
                title: "Euler",
                summary: "Euler-Maruyama, as in the paper: first order",
                order: 1,
                suits: Suits::All,
                scheme: Scheme::Euler { tamed: false },
            },
            Self::TamedEuler => Facts {
                name: "tamed-euler",
                title: "tamed Euler",
                summary: "The same with a drift that cannot overshoot, for systems without velocity",
                order: 1,
                suits: Suits::WithoutVelocity,
                scheme: Scheme::Euler { tamed: true },
            },
            Self::Baoab => Facts {
                name: "baoab",
                title: "BAOAB",
                summary: "Symmetric splitting, second order, for systems with a velocity",
                order: 2,
                suits: Suits::WithVelocity,
                scheme: Scheme::Splitting(&[B, A, O, A, B]),
            },
            Self::Aboba => Facts {
                name: "aboba",
                title: "ABOBA",
                summary: "The other symmetric splitting",
                order: 2,
                suits: Suits::WithVelocity,
                scheme: Scheme::Splitting(&[A, B, O, B, A]),
            },
            Self::Exact => Facts {
                name: "exact",
                title: "exact",
                summary: "Leapfrog steps, accepted or rejected: exact at any step, for systems with a velocity",
                order: 2,
                suits: Suits::WithVelocity,
                scheme: Scheme::Metropolis,
            },
        }
    }

    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns one line of description.
    pub fn summary(self) -> &'static str {
        self.facts().summary
    }

    /// Returns the weak order in the step size.
    pub fn order(self) -> u32 {
        self.facts().order
    }

    /// Returns whether the integrator is for systems with a velocity, or for those without one.
    pub fn suits(self, has_velocity: bool) -> bool {
        match self.facts().suits {
            Suits::All => true,
            Suits::WithVelocity => has_velocity,
            Suits::WithoutVelocity => !has_velocity,
        }
    }

    /// Checks that the integrator [suits](Self::suits) a system.
    pub fn check(self, system: &System) -> Result<(), Unsuited> {
        let exact = match &system.motion {
            Motion::Underdamped { kinetic, .. } => kinetic.exact().is_some(),
            Motion::Overdamped { .. } => false,
        };
        let accepts = self == Self::Exact;
        if self.suits(system.is_underdamped()) && (exact || !accepts) {
            return Ok(());
        }
        let (reason, instead) = if accepts && system.is_underdamped() {
            (
                "requires friction and noise that leave the law of v invariant",
                "BAOAB, ABOBA or Euler",
            )
        } else if accepts {
            ("requires a velocity", "Euler or tamed Euler")
        } else if system.is_underdamped() {
            ("bounds the drift of a position", "BAOAB, ABOBA or Euler")
        } else {
            ("splits off the motion of a velocity", "Euler or tamed Euler")
        };
        Err(Unsuited { integrator: self, system: system.to_string(), reason, instead })
    }

    /// Returns whether a step begins with the gradient that the previous step computed at the
    /// present position.
    pub(crate) fn carries_gradient(self) -> bool {
        matches!(self.facts().scheme, Scheme::Splitting([Flow::B, ..]))
    }

    /// Returns whether the integrator composes the flows of friction and noise, of the force and of
    /// the position.
    pub(crate) fn is_splitting(self) -> bool {
        matches!(self.facts().scheme, Scheme::Splitting(_))
    }

    /// Performs a step.
    ///
    /// The caller must have checked that the integrator suits the system, and have computed the
    /// first gradient if the integrator carries it.
    pub(crate) fn step(
        self,
        system: &System,
        potential: &dyn Potential,
        sampler: &Sampler,
        step: StepOf,
        batch: &mut Batch,
    ) {
        let StepOf { number: k, eta, own_noise } = step;
        let alpha = system.alpha().get();
        let scheme = self.facts().scheme;
        batch.draw_noise(sampler, k);
        match &system.motion {
            Motion::Overdamped { drift, amplitude } => {
                batch.update_gradient(potential, k);
                let scale = amplitude * libm::pow(eta, 1.0 / alpha);
                let tamed = scheme == Scheme::Euler { tamed: true };
                let drift = |x: &[f64], gradient: &[f64], out: &mut [f64]| {
                    if tamed {
                        drift.tamed(x, gradient, eta, out)
                    } else {
                        drift.drift(x, gradient, out)
                    }
                };
                batch.diffuse(drift, eta, scale);
            }
            Motion::Underdamped { kinetic, gamma, weight } => {
                let kinetic = &**kinetic;
                match scheme {
                    Scheme::Euler { .. } => {
                        batch.update_gradient(potential, k);
                        let whole = || kinetic.amplitude() * libm::pow(eta * gamma, 1.0 / alpha);
                        let scale = own_noise.map_or_else(whole, |own| own.scale);
                        batch.push(kinetic, eta, *gamma, *weight, scale);
                        batch.drift(kinetic, eta);
                    }
                    Scheme::Metropolis => unreachable!("exact sampling has transitions of its own"),
                    Scheme::Splitting(flows) => {
                        let time = |flow: Flow| {
                            eta / flows.iter().filter(|&&other| other == flow).count() as f64
                        };
                        // A step that begins with a carried gradient computes the gradient of the
                        // next step.
                        let evaluation = if self.carries_gradient() { k + 1 } else { k };
                        let mut moved = false;
                        for &flow in flows {
                            match flow {
                                Flow::A => {
                                    batch.drift(kinetic, time(flow));
                                    moved = true;
                                }
                                Flow::B => {
                                    if std::mem::take(&mut moved) {
                                        batch.update_gradient(potential, evaluation);
                                    }
                                    batch.kick(time(flow) * weight);
                                }
                                Flow::O => match own_noise {
                                    Some(own) => batch.relax_linearly(own),
                                    None => batch.relax(kinetic, *gamma, time(flow)),
                                },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Writes the name in text.
impl fmt::Display for Integrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialised_names_are_those_of_the_table() {
        for &integrator in Integrator::ALL {
            assert_eq!(serde_json::to_value(integrator).unwrap(), integrator.name());
        }
    }

    /// Splittings are symmetric and evaluate the gradient once per step.
    #[test]
    fn splittings_are_symmetric() {
        for &integrator in Integrator::ALL {
            let Scheme::Splitting(flows) = integrator.facts().scheme else { continue };
            assert!(flows.iter().eq(flows.iter().rev()), "{integrator}");
            assert_eq!(flows.iter().filter(|&&flow| flow == Flow::O).count(), 1);
        }
    }
}

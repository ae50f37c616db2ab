//! The forms of the step: parametrisations of learning rate, momentum and field.

use super::{Authors, Coordinates, Matched, NoiseMatched, Paper, RuleError, Sgd};
use serde::{Deserialize, Serialize};

/// The parametrisation of the step, which also determines the meaning of the learning rate passed
/// to each step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// The paper's form (eulerv2_optim), in which the learning rate of a step is η.
    ///
    /// > v ← (1 − γη)v − ηg,  x ← x + η β^(1/α−1) ∇G_α(β^(1/α) v)
    Paper {
        /// Friction γ.
        gamma: f64,
        /// Inverse temperature β; 1 gives the paper's field.
        beta: f64,
    },
    /// The paper's recursion with the field of its authors' code, which differs from the paper's:
    /// [`Coordinates::authors`].
    Authors {
        /// Friction γ.
        gamma: f64,
    },
    /// SGD's coordinates: the paper's form with lr = η², μ = 1 − γη and β = 1.
    ///
    /// > b ← μb + g,  x ← x − √lr ∇G_α(√lr b)
    Sgd {
        /// Momentum μ.
        momentum: f64,
    },
    /// The matched form: SGD's learning rate and momentum, and a field of slope 1 with a knee.
    ///
    /// > b ← μb + g,  x ← x − √lr · h(√lr b),  h(v) = κ/slope · ∇G_α(v/κ)
    Matched {
        /// Momentum μ.
        momentum: f64,
        /// Knee of the field.
        knee: Knee,
    },
}

/// The knee of the matched form: where its field departs from its tangent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Knee {
    /// The knee is at |v| ~ κ, where v = −√lr b.
    Kappa(f64),
    /// The knee follows from the scale σ_g of the gradient noise: κ = √lr σ_g (1 − μ)^(−1/α).
    NoiseScale(f64),
}

impl Form {
    /// Returns the coordinates of a step with this learning rate (η in the paper's form).
    pub fn coordinates(self, alpha: f64, learning_rate: f64) -> Result<Coordinates, RuleError> {
        match self {
            Self::Paper { gamma, beta } => {
                Coordinates::paper(Paper { alpha, eta: learning_rate, gamma, beta })
            }
            Self::Authors { gamma } => {
                Coordinates::authors(Authors { alpha, eta: learning_rate, gamma })
            }
            Self::Sgd { momentum } => Coordinates::sgd(Sgd { alpha, learning_rate, momentum }),
            Self::Matched { momentum, knee: Knee::Kappa(kappa) } => {
                Coordinates::matched(Matched { alpha, learning_rate, momentum, kappa })
            }
            Self::Matched { momentum, knee: Knee::NoiseScale(noise_scale) } => {
                Coordinates::noise_matched(NoiseMatched {
                    alpha,
                    learning_rate,
                    momentum,
                    noise_scale,
                })
            }
        }
    }
}

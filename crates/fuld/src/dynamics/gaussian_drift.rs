//! The friction that stable noise needs when the kinetic energy is Gaussian.

use super::drift_flow::{DriftFlow, FlowError};
use crate::numerics::kummer::{kummer, kummer_scaled};
use crate::parameters::{Beta, ParameterError};
use levy_stable::Alpha;
use libm::{log, pow, tgamma};
use std::f64::consts::PI;

/// c(v) = 𝒟^(α−2)(ψ g′)/ψ of fractional underdamped Langevin dynamics for g = v²/2, ψ = e^(−βv²/2) (Theorem 2 of the paper,
/// at every temperature):
///
/// > c(v) = β^((α−3)/2) c₁(√β v),  c₁(v) = 2^(α/2) Γ((α+1)/2)/√π · v · ₁F₁((2−α)/2; 3/2; v²/2).
///
/// All of it holds for 0 < α ≤ 2. (For α ≤ 1 the order α − 2 is below −1, where |ω|^(α−2) alone is not integrable at 0;
/// but ψg′ is odd, so its transform vanishes there as ω.) Every factor is positive: c is odd, increases, and grows like
/// v^(−α) e^(βv²/2) unless α = 2, where c(v) = v. The relative error is below 1e-14 (1 + βv²) up to where c overflows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianDrift {
    alpha: f64,
    /// (2 − α)/2
    a: f64,
    /// √β
    stretch: f64,
    /// c′(0)
    slope: f64,
}

impl GaussianDrift {
    /// The drift for 0 < α ≤ 2 at inverse temperature β > 0.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, ParameterError> {
        let (alpha, beta) = (Alpha::new(alpha)?.get(), Beta::new(beta)?.get());
        let slope = if alpha == 2.0 {
            1.0
        } else {
            pow(2.0, 0.5 * alpha) * tgamma(0.5 * (alpha + 1.0)) / PI.sqrt() * pow(beta, 0.5 * alpha - 1.0)
        };
        Ok(Self { alpha, a: 0.5 * (2.0 - alpha), stretch: beta.sqrt(), slope })
    }

    /// c(v).
    pub fn at(&self, v: f64) -> f64 {
        if self.alpha == 2.0 {
            return v;
        }
        let scaled = self.stretch * v;
        // At extreme temperatures slope·v may underflow where c overflows.
        self.slope * (v * kummer(self.a, 1.5, 0.5 * scaled * scaled))
    }

    /// ln c(v) for v > 0, also where c overflows.
    pub fn ln_at(&self, v: f64) -> f64 {
        if self.alpha == 2.0 {
            return log(v);
        }
        let scaled = self.stretch * v;
        let z = 0.5 * scaled * scaled;
        log(self.slope * v) + z + log(kummer_scaled(self.a, 1.5, z))
    }

    /// c′(0) = 2^(α/2) Γ((α+1)/2)/√π · β^((α−2)/2).
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// The tail index of the noise.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The exact flow of v′ = −γ c(v).
    ///
    /// Explicit steps explode on this drift. Its flow comes down from any velocity, infinite ones too, in no time:
    ///
    /// ```
    /// use fuld::dynamics::GaussianDrift;
    /// let flow = GaussianDrift::new(1.5, 1.0).unwrap().flow().unwrap();
    /// let mut v = [0.1, 50.0, f64::NEG_INFINITY];
    /// flow.flow(0.01, &mut v);
    /// assert!(v[1] < 5.0 && v[2] == -v[1], "{v:?}");
    /// ```
    pub fn flow(&self) -> Result<DriftFlow, FlowError> {
        if self.alpha == 2.0 {
            return DriftFlow::linear(self.slope);
        }
        DriftFlow::new(|v| self.at(v), self.slope, f64::INFINITY)
    }
}

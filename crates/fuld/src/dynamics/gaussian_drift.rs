//! The friction of the Gaussian kinetic energy under stable noise.

use super::drift_flow::{DriftFlow, FlowError, OddDrift};
use crate::numerics::kummer::{kummer, kummer_scaled};
use crate::parameters::Beta;
use levy_stable::Alpha;
use libm::{log, pow, tgamma};
use std::f64::consts::PI;

/// c(v) = 𝒟^(α−2)(ψ g′)/ψ of fractional underdamped Langevin dynamics for g = v²/2, ψ = e^(−βv²/2)
/// (Theorem 2 of the paper, at every β):
///
/// > c(v) = β^((α−3)/2) c₁(√β v),  c₁(v) = 2^(α/2) Γ((α+1)/2)/√π · v · ₁F₁((2−α)/2; 3/2; v²/2).
///
/// The formula holds for 0 < α ≤ 2. (For α ≤ 1 the order α − 2 is below −1, where |ω|^(α−2) alone
/// is not integrable at 0. But ψg′ is odd, so its transform vanishes there as ω.) Every factor is
/// positive. Hence c is odd, increases, and grows like v^(−α) e^(βv²/2) unless α = 2, where c(v) =
/// v. The relative error is below 1e-14 (1 + βv²) until c overflows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianDrift {
    alpha: Alpha,
    /// (2 − α)/2
    a: f64,
    /// √β
    stretch: f64,
    /// c′(0)
    slope: f64,
}

impl GaussianDrift {
    /// Creates the friction for noise of tail index α at inverse temperature β.
    pub fn new(alpha: Alpha, beta: Beta) -> Self {
        let (a, b) = (alpha.get(), beta.get());
        let slope = if alpha == Alpha::GAUSS {
            1.0
        } else {
            pow(2.0, 0.5 * a) * tgamma(0.5 * (a + 1.0)) / PI.sqrt() * pow(b, 0.5 * a - 1.0)
        };
        Self { alpha, a: 0.5 * (2.0 - a), stretch: b.sqrt(), slope }
    }

    /// Returns c(v).
    pub fn at(&self, v: f64) -> f64 {
        if self.alpha == Alpha::GAUSS {
            return v;
        }
        let scaled = self.stretch * v;
        // At extreme β slope·v may underflow where c overflows.
        self.slope * (v * kummer(self.a, 1.5, 0.5 * scaled * scaled))
    }

    /// Returns ln c(v) for v > 0, also where c overflows.
    pub fn ln_at(&self, v: f64) -> f64 {
        if self.alpha == Alpha::GAUSS {
            return log(v);
        }
        let scaled = self.stretch * v;
        let z = 0.5 * scaled * scaled;
        log(self.slope * v) + z + log(kummer_scaled(self.a, 1.5, z))
    }

    /// Returns c′(0) = 2^(α/2) Γ((α+1)/2)/√π · β^((α−2)/2).
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// Returns the tail index of the noise.
    pub fn alpha(&self) -> Alpha {
        self.alpha
    }

    /// Tabulates the exact flow of v′ = −γ c(v).
    ///
    /// Explicit steps explode on this drift. Its flow brings any velocity, even an infinite one,
    /// down within one step:
    ///
    /// ```
    /// use fuld::{Alpha, Beta, dynamics::GaussianDrift};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let flow = GaussianDrift::new(Alpha::new(1.5)?, Beta::ONE).flow()?;
    /// let mut v = [0.1, 50.0, f64::NEG_INFINITY];
    /// flow.flow(0.01, &mut v);
    /// assert!(v[1] < 5.0 && v[2] == -v[1], "{v:?}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn flow(&self) -> Result<DriftFlow, FlowError> {
        if self.alpha == Alpha::GAUSS {
            return DriftFlow::linear(self.slope);
        }
        DriftFlow::new(OddDrift { drift: |v| self.at(v), slope: self.slope, reach: f64::INFINITY })
    }
}

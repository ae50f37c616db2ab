//! The α-stable kinetic energy: the friction is linear, the transport field is ∇G_α.

use super::kinetic::{ExactKinetic, Kinetic, relax_linearly};
use crate::parameters::{Beta, ParameterError, noise_amplitude};
use levy_stable::table::EnergyTable;
use levy_stable::{Alpha, FieldTable};

/// The g for which e^(−βg) is the density of SαS((αβ)^(−1/α)), the law that linear friction with
/// stable noise leaves invariant.
///
/// Its friction is c(v) = v, and its transport field is h(v) = β^(1/α − 1) ∇G_α(β^(1/α) v).
#[derive(Clone, Debug)]
pub struct StableKinetic {
    table: FieldTable,
    energy: EnergyTable,
    alpha: Alpha,
    beta: Beta,
    amplitude: f64,
    /// h(v) = outer · ∇G_α(inner · v)
    inner: f64,
    outer: f64,
}

impl StableKinetic {
    /// Creates the energy for 0.1 ≤ α ≤ 2, the range of [`FieldTable`]. The x-marginal is e^(−βf)
    /// at every β.
    pub fn new(alpha: Alpha, beta: Beta) -> Result<Self, ParameterError> {
        let (inner, outer) = Self::field_factors(alpha, beta)?;
        Self::scaled(alpha, beta, inner, outer)
    }

    /// Returns `inner` = β^(1/α) and `outer` = β^(1/α − 1) of the transport field h(v) = outer ·
    /// ∇G_α(inner · v).
    pub fn field_factors(alpha: Alpha, beta: Beta) -> Result<(f64, f64), ParameterError> {
        let amplitude = noise_amplitude(alpha, beta)?;
        Ok((1.0 / amplitude, 1.0 / amplitude / beta.get()))
    }

    /// Creates the energy with the transport field ∇G_α(v) that the paper prints, which is exact
    /// only at β = 1 or α = 2.
    pub fn beta_free(alpha: Alpha, beta: Beta) -> Result<Self, ParameterError> {
        Self::scaled(alpha, beta, 1.0, 1.0)
    }

    fn scaled(alpha: Alpha, beta: Beta, inner: f64, outer: f64) -> Result<Self, ParameterError> {
        let amplitude = noise_amplitude(alpha, beta)?;
        let (table, energy) = (FieldTable::new(alpha.get())?, EnergyTable::new(alpha.get())?);
        Ok(Self { table, energy, alpha, beta, amplitude, inner, outer })
    }
}

impl Kinetic for StableKinetic {
    fn transport(&self, v: &[f64], out: &mut [f64]) {
        if self.inner == 1.0 && self.outer == 1.0 {
            self.table.eval_into(v, out);
            return;
        }
        // In pieces through the stack, so that nothing is allocated.
        let mut scaled = [0.0; 64];
        for (v, out) in v.chunks(64).zip(out.chunks_mut(64)) {
            let scaled = &mut scaled[..v.len()];
            for (s, v) in scaled.iter_mut().zip(v) {
                *s = self.inner * v;
            }
            self.table.eval_into(scaled, out);
            for out in out {
                *out *= self.outer;
            }
        }
    }

    fn friction(&self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
    }

    fn amplitude(&self) -> f64 {
        self.amplitude
    }

    /// Applies friction and noise exactly.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        relax_linearly(self.alpha, self.amplitude, gamma, t, noise, v);
    }

    fn alpha(&self) -> Alpha {
        self.alpha
    }

    fn linear_friction(&self) -> Option<f64> {
        Some(1.0)
    }

    /// The paper's field without β belongs to the law of v at β = 1 or α = 2 only.
    fn exact(&self) -> Option<&dyn ExactKinetic> {
        let belongs = self.inner == 1.0 / self.amplitude || self.alpha == Alpha::GAUSS;
        belongs.then_some(self as &dyn ExactKinetic)
    }
}

impl ExactKinetic for StableKinetic {
    fn beta(&self) -> f64 {
        self.beta.get()
    }

    fn energy(&self, v: &[f64]) -> f64 {
        self.energy.sum(1.0 / self.amplitude, v)
    }

    fn refreshing_alpha(&self) -> Alpha {
        self.alpha
    }

    fn refresh(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        self.relax(gamma, t, noise, v);
    }
}

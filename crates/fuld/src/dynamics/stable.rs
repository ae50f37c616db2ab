//! The α-stable kinetic energy: friction stays linear, transport bends.

use super::kinetic::{Kinetic, relax_linearly};
use crate::parameters::{ParameterError, noise_amplitude};
use levy_stable::FieldTable;

/// Which inverse temperature the transport field belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temperature {
    /// h_β(v) = β^(1/α − 1) ∇G_α(β^(1/α) v): the x-marginal is e^(−βf) at every β.
    #[default]
    Exact,
    /// ∇G_α(v) as the paper prints it, right at β = 1 (or α = 2) only.
    BetaFree,
}

/// g with e^(−βg) the density of SαS((αβ)^(−1/α)), the law that linear friction with stable noise leaves invariant:
/// c(v) = v, and h bends where the noise says that large velocities belong to it.
#[derive(Clone, Debug)]
pub struct StableKinetic {
    table: FieldTable,
    amplitude: f64,
    /// h(v) = outer · ∇G_α(inner · v)
    inner: f64,
    outer: f64,
}

impl StableKinetic {
    /// The energy for 0.1 ≤ α ≤ 2 (what [`FieldTable`] covers) and β > 0, exact at that temperature.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, ParameterError> {
        Self::with_temperature(alpha, beta, Temperature::Exact)
    }

    /// The energy with the field of the given kind.
    pub fn with_temperature(alpha: f64, beta: f64, temperature: Temperature) -> Result<Self, ParameterError> {
        let amplitude = noise_amplitude(alpha, beta)?;
        let (inner, outer) = match temperature {
            Temperature::Exact => (1.0 / amplitude, 1.0 / amplitude / beta),
            Temperature::BetaFree => (1.0, 1.0),
        };
        Ok(Self { table: FieldTable::new(alpha)?, amplitude, inner, outer })
    }
}

impl Kinetic for StableKinetic {
    fn transport(&self, v: &[f64], out: &mut [f64]) {
        if self.inner == 1.0 && self.outer == 1.0 {
            self.table.eval_into(v, out);
            return;
        }
        // In pieces through the stack: nothing is allocated.
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

    /// Exact.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        relax_linearly(self.alpha(), self.amplitude, gamma, t, noise, v);
    }

    fn alpha(&self) -> f64 {
        self.table.alpha()
    }
}

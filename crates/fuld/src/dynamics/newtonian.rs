//! Velocities as they are: h(v) = v, c(v) = v, whatever the noise.

use super::kinetic::{Kinetic, relax_linearly};
use crate::parameters::{ParameterError, noise_amplitude};

/// g = |v|²/2 with linear friction. Right for Gaussian noise; with stable noise this is the *uncorrected* dynamics, whose
/// stationary law is not e^(−βf).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newtonian {
    alpha: f64,
    amplitude: f64,
    factor: f64,
}

impl Newtonian {
    /// Noise of tail index α with the amplitude β^(−1/α), which at α = 2 is that of Langevin dynamics.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, ParameterError> {
        Ok(Self { alpha, amplitude: noise_amplitude(alpha, beta)?, factor: 1.0 })
    }

    /// No noise: the velocity of SGD with momentum and of its differential equation.
    pub fn silent() -> Self {
        Self { alpha: 2.0, amplitude: 0.0, factor: 1.0 }
    }

    /// With h(v) = c(v) = `factor`·v, factor > 0, as fractional Hamiltonian dynamics has them after its approximation.
    pub fn times(self, factor: f64) -> Result<Self, ParameterError> {
        Ok(Self { factor: positive(factor)?, ..self })
    }

    /// With noise of another amplitude > 0.
    pub fn with_amplitude(self, amplitude: f64) -> Result<Self, ParameterError> {
        Ok(Self { amplitude: positive(amplitude)?, ..self })
    }
}

fn positive(factor: f64) -> Result<f64, ParameterError> {
    if factor > 0.0 && factor.is_finite() { Ok(factor) } else { Err(ParameterError::Factor(factor)) }
}

impl Kinetic for Newtonian {
    fn transport(&self, v: &[f64], out: &mut [f64]) {
        for (out, v) in out.iter_mut().zip(v) {
            *out = self.factor * v;
        }
    }

    fn friction(&self, v: &[f64], out: &mut [f64]) {
        self.transport(v, out);
    }

    fn amplitude(&self) -> f64 {
        self.amplitude
    }

    /// Exact.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        if self.amplitude == 0.0 {
            let decay = libm::exp(-gamma * self.factor * t);
            v.iter_mut().for_each(|v| *v *= decay);
            return;
        }
        // dv = −γf v dt + γ^(1/α) s dL is the process of friction γf with the amplitude s f^(−1/α).
        let amplitude = self.amplitude * libm::pow(self.factor, -1.0 / self.alpha);
        relax_linearly(self.alpha, amplitude, gamma * self.factor, t, noise, v);
    }

    fn alpha(&self) -> f64 {
        self.alpha
    }
}

//! The Newtonian kinetic energy with linear friction: h(v) = v and c(v) = v under any noise.

use super::kinetic::{ExactKinetic, Kinetic, LinearStep};
use crate::parameters::{Beta, ParameterError, noise_amplitude};
use levy_stable::Alpha;

/// g = |v|²/2 with linear friction.
///
/// It is exact for Gaussian noise. With stable noise it gives the *uncorrected* dynamics, whose
/// stationary law is not e^(−βf).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newtonian {
    alpha: Alpha,
    amplitude: f64,
    factor: f64,
}

impl Newtonian {
    /// Creates the energy with noise of amplitude β^(−1/α), which at α = 2 is the amplitude of
    /// Langevin dynamics.
    pub fn new(alpha: Alpha, beta: Beta) -> Result<Self, ParameterError> {
        Ok(Self { alpha, amplitude: noise_amplitude(alpha, beta)?, factor: 1.0 })
    }

    /// Creates the energy without noise, as in SGD with momentum and its differential equation.
    pub fn noiseless() -> Self {
        Self { alpha: Alpha::GAUSS, amplitude: 0.0, factor: 1.0 }
    }

    /// Sets h(v) = c(v) = `factor`·v with factor > 0, as in fractional Hamiltonian dynamics after
    /// its approximation.
    pub fn times(self, factor: f64) -> Result<Self, ParameterError> {
        Ok(Self { factor: positive(factor)?, ..self })
    }

    /// Sets the amplitude of the noise, which must be positive.
    pub fn with_amplitude(self, amplitude: f64) -> Result<Self, ParameterError> {
        Ok(Self { amplitude: positive(amplitude)?, ..self })
    }
}

fn positive(factor: f64) -> Result<f64, ParameterError> {
    if factor > 0.0 && factor.is_finite() {
        Ok(factor)
    } else {
        Err(ParameterError::Factor(factor))
    }
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

    /// Applies friction and noise exactly.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        if self.amplitude == 0.0 {
            let decay = libm::exp(-gamma * self.factor * t);
            v.iter_mut().for_each(|v| *v *= decay);
            return;
        }
        LinearStep::with_rate(self.alpha, self.amplitude, gamma, self.factor, t).apply(noise, v);
    }

    fn alpha(&self) -> Alpha {
        self.alpha
    }

    fn linear_friction(&self) -> Option<f64> {
        (self.amplitude > 0.0).then_some(self.factor)
    }

    /// Linear friction keeps the law of v only under Gaussian noise.
    fn exact(&self) -> Option<&dyn ExactKinetic> {
        let gaussian = self.alpha == Alpha::GAUSS && self.amplitude > 0.0 && self.factor == 1.0;
        gaussian.then_some(self as &dyn ExactKinetic)
    }
}

impl ExactKinetic for Newtonian {
    fn beta(&self) -> f64 {
        1.0 / (self.amplitude * self.amplitude)
    }

    fn energy(&self, v: &[f64]) -> f64 {
        0.5 * ExactKinetic::beta(self) * v.iter().map(|v| v * v).sum::<f64>()
    }

    fn refreshing_alpha(&self) -> Alpha {
        Alpha::GAUSS
    }

    fn refresh(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        self.relax(gamma, t, noise, v);
    }
}

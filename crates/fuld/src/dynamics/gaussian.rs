//! The Gaussian kinetic energy: the transport field is linear, the friction grows exponentially.

use super::drift_flow::DriftFlow;
use super::error::KineticError;
use super::gaussian_drift::GaussianDrift;
use super::kinetic::{ExactKinetic, Kinetic, relax_by_flow, relax_linearly};
use crate::parameters::{Beta, noise_amplitude};
use levy_stable::Alpha;

/// g = |v|²/2 with the friction c of [`GaussianDrift`], which keeps v ~ N(0, 1/β) under noise of
/// any tail index.
#[derive(Clone, Debug)]
pub struct GaussianKinetic {
    drift: GaussianDrift,
    flow: DriftFlow,
    amplitude: f64,
    beta: Beta,
}

impl GaussianKinetic {
    /// Creates the energy and tabulates the flow of its friction.
    pub fn new(alpha: Alpha, beta: Beta) -> Result<Self, KineticError> {
        let drift = GaussianDrift::new(alpha, beta);
        Ok(Self { drift, flow: drift.flow()?, amplitude: noise_amplitude(alpha, beta)?, beta })
    }
}

impl Kinetic for GaussianKinetic {
    fn transport(&self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
    }

    fn friction(&self, v: &[f64], out: &mut [f64]) {
        for (out, &v) in out.iter_mut().zip(v) {
            *out = self.drift.at(v);
        }
    }

    fn amplitude(&self) -> f64 {
        self.amplitude
    }

    /// Applies half of the friction's flow, the noise, and the other half: second order.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        relax_by_flow(&self.flow, self.alpha(), self.amplitude, gamma * t, noise, v);
    }

    fn alpha(&self) -> Alpha {
        self.drift.alpha()
    }

    /// Under Gaussian noise the friction is c(v) = v.
    fn linear_friction(&self) -> Option<f64> {
        (self.alpha() == Alpha::GAUSS).then_some(1.0)
    }

    fn exact(&self) -> Option<&dyn ExactKinetic> {
        Some(self)
    }
}

/// Exact sampling refreshes v by Gaussian noise, whatever α: every refreshment that keeps N(0, 1/β)
/// gives the same target.
impl ExactKinetic for GaussianKinetic {
    fn beta(&self) -> f64 {
        self.beta.get()
    }

    fn energy(&self, v: &[f64]) -> f64 {
        0.5 * ExactKinetic::beta(self) * v.iter().map(|v| v * v).sum::<f64>()
    }

    fn refreshing_alpha(&self) -> Alpha {
        Alpha::GAUSS
    }

    fn refresh(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        relax_linearly(Alpha::GAUSS, self.beta.get().sqrt().recip(), gamma, t, noise, v);
    }
}

//! The Gaussian kinetic energy: transport stays linear, friction bends.

use super::drift_flow::DriftFlow;
use super::error::KineticError;
use super::gaussian_drift::GaussianDrift;
use super::kinetic::{Kinetic, relax_by_flow};
use crate::parameters::noise_amplitude;

/// g = |v|²/2 with the friction c of [`GaussianDrift`]: v ~ N(0, 1/β) under noise of any tail index.
#[derive(Clone, Debug)]
pub struct GaussianKinetic {
    drift: GaussianDrift,
    flow: DriftFlow,
    amplitude: f64,
}

impl GaussianKinetic {
    /// The energy for 0 < α ≤ 2 and β > 0.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, KineticError> {
        let drift = GaussianDrift::new(alpha, beta)?;
        Ok(Self { drift, flow: drift.flow()?, amplitude: noise_amplitude(alpha, beta)? })
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

    /// Half the flow of the friction, the jump, the other half: of second order.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        relax_by_flow(&self.flow, self.alpha(), self.amplitude, gamma * t, noise, v);
    }

    fn alpha(&self) -> f64 {
        self.drift.alpha()
    }
}

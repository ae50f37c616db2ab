//! The numbers of one BAOAB step of FULD, for the sampler of torch.

use crate::error::value_error;
use fuld::dynamics::StableKinetic;
use fuld::{
    Alpha, Beta, Friction, GradientNoiseError, NoiseScale, ParameterError, Step, Underdamped,
    fuld_relaxation,
};
use pyo3::prelude::*;

/// Returns `inner` and `outer` of the velocity of the position, h(v) = outer ∇G_α(inner v).
#[pyfunction]
pub(crate) fn field_factors(alpha: f64, beta: f64) -> PyResult<(f64, f64)> {
    let factors = || -> Result<_, ParameterError> {
        StableKinetic::field_factors(Alpha::new(alpha)?, Beta::new(beta)?)
    };
    factors().map_err(value_error)
}

/// Returns `decay` and `scale` of v ← decay v + scale ξ, friction and noise of a step whose
/// gradients carry noise.
#[pyfunction]
pub(crate) fn velocity_step(
    alpha: f64,
    beta: f64,
    gamma: f64,
    step: f64,
    noise_scale: f64,
) -> PyResult<(f64, f64)> {
    let relaxation = || -> Result<_, GradientNoiseError> {
        let alpha = Alpha::new(alpha).map_err(ParameterError::from)?;
        let parameters =
            Underdamped { alpha, gamma: Friction::new(gamma)?, beta: Beta::new(beta)? };
        fuld_relaxation(parameters, Step::new(step)?, NoiseScale::new(noise_scale)?)
    };
    relaxation().map(|step| (step.decay, step.scale)).map_err(value_error)
}

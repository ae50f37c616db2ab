//! The estimates that the optimizer uses for settings that are `auto`.

use fuld::optimizer::Estimates;
use serde::{Deserialize, Serialize};

/// The estimated values of the `auto` settings for one layer after some steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerCalibration {
    /// Steps taken.
    pub iteration: u64,
    /// The layer, counted from 1 at the inputs.
    pub layer: usize,
    /// Estimated tail index of the gradient noise.
    pub noise_alpha: f64,
    /// Estimated scale of the gradient noise.
    pub noise_scale: f64,
    /// Tail index in use.
    pub alpha: f64,
    /// The knee of the field, in units of v = −√lr b.
    pub kappa: f64,
    /// Largest gradient component let through.
    pub limit: f64,
    /// Share of the weights beyond the knee.
    pub beyond_knee: f64,
}

impl LayerCalibration {
    pub(super) fn of(iteration: u64, layer: usize, learning_rate: f64, estimates: &Estimates) -> Self {
        let Estimates { noise_alpha, noise_scale, alpha, momentum_knee, limit, beyond_knee } = *estimates;
        let kappa = if alpha == 2.0 { f64::INFINITY } else { learning_rate.sqrt() * momentum_knee };
        Self { iteration, layer, noise_alpha, noise_scale, alpha, kappa, limit, beyond_knee }
    }
}

//! Settings of the update rule whose tail index and knee are estimated.

use super::Options;

/// Settings of an [`AutoRule`](super::AutoRule) other than its learning rate. A [`Calibration`](super::Calibration) reads them to reproduce the argument of the field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoSettings {
    /// Momentum μ in [0, 1].
    pub momentum: f64,
    /// Options of the rule.
    pub options: Options,
    /// Tail index α in (0, 2], or None to estimate it.
    pub alpha: Option<f64>,
    /// Scale σ_g of the gradient noise, or None to estimate the knee and the limit. If it is given, the knee is at
    /// σ_g (1 − μ)^(−1/α), and gradients are not limited.
    pub noise_scale: Option<f64>,
}

impl AutoSettings {
    /// Returns settings with this momentum, in which everything else is estimated and all options are off.
    pub fn new(momentum: f64) -> Self {
        Self { momentum, options: Options::default(), alpha: None, noise_scale: None }
    }
}

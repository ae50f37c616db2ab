//! Estimates of tail index, knee and limit from the running sums.

use super::Calibration;
use super::state::{INITIAL_ALPHA, State};
use std::f64::consts::LN_2;

/// Smallest α̂ in use.
pub(super) const MIN_ALPHA: f64 = 1.1;
/// α̂ from which on the tail index in use is 2.
pub(super) const GAUSSIAN: f64 = 1.95;
/// Spacing of the tail indices in use: few values, so that few tables are built.
pub(super) const GRID: f64 = 1.0 / 32.0;
/// α̂ from which on the differences of gradients are fully attributed to noise.
pub(super) const NOISE: f64 = 1.15;
/// α̂ up to which they are not attributed to noise at all.
pub(super) const NO_NOISE: f64 = 1.05;
/// Weight of the covariance between neighbours in the denominator of the trust ρ.
pub(super) const SHARED: f64 = 2.0;
/// Distance of log K per unit of the spread τ of the momentum's scales.
pub(super) const KNEE_SPREAD: f64 = 1.25;
/// Largest ε in log K, for noise whose jumps are limited.
pub(super) const KNEE_LIMITED: f64 = 1.6;
/// Rate at which ε falls as the mean of log|b| falls behind log(limit/√(1 − μ²)) + [`KNEE_SHORT`].
pub(super) const KNEE_BEHIND: f64 = 3.0;
/// Offset of that comparison; limited noise exceeds it by a half.
pub(super) const KNEE_SHORT: f64 = -1.28;
/// Least distance of log K from the log root mean square, where the momentum is not noise.
pub(super) const KNEE_ROOT: f64 = 0.4;
/// Distance of the log limit from the log scale of the gradients.
pub(super) const LIMIT: f64 = -0.5;
/// Distance of the log limit per unit of the spread τ of the gradients' scales, where they are not noise.
pub(super) const LIMIT_SPREAD: f64 = 3.0;
/// Reduction of [`LIMIT_SPREAD`] where they are noise.
pub(super) const LIMIT_SPREAD_NOISE: f64 = 1.5;
/// Least distance of the log limit from the log root mean square, where the gradients are not noise.
pub(super) const LIMIT_ROOT: f64 = 3.4;
/// The limit diverges as 1/(1 − (α/2)^(2^n)) for α → 2; this is n.
pub(super) const LIMIT_SQUARES: u32 = 5;

impl Calibration {
    /// Number of tail indices below 2 that may be in use.
    pub(in super::super) const INDICES: usize = (2.0 / GRID) as usize;

    /// Returns the index on the grid of a tail index below 2.
    pub(in super::super) fn index(alpha: f64) -> Option<usize> {
        let index = alpha / GRID;
        (index.fract() == 0.0 && alpha < 2.0).then_some(index as usize)
    }
}

impl State {
    /// Returns α, momentum knee and limit in use.
    pub(super) fn in_use(&self) -> (f64, f64, f64) {
        (self.alpha.into(), self.momentum_knee.into(), self.limit_in_use().into())
    }

    /// Returns the limit in use; nothing is limited at α = 2.
    pub(super) fn limit_in_use(&self) -> f32 {
        if self.alpha == 2.0 { f32::INFINITY } else { self.limit }
    }

    /// Returns the trust ρ in [0, 1]: the degree to which stable noise explains the gradients.
    pub(super) fn trust(&self) -> f64 {
        // The growth of a stable law is at least that of the Gaussian.
        let raw = LN_2 / self.noise.growth().max(LN_2 / 2.0);
        let spread = self.momentum.spread(raw.clamp(MIN_ALPHA, 2.0));
        let shared = self.noise.shared().max(0.0);
        let noise = ((raw - NO_NOISE) / (NOISE - NO_NOISE)).clamp(0.0, 1.0);
        noise / (1.0 + spread * spread + SHARED * shared)
    }

    /// Returns the tail index to use: α̂ of the noise in proportion to the trust.
    pub(super) fn estimated_alpha(&self, trust: f64) -> f64 {
        let growth = self.noise.growth();
        // A growth below that of every stable law counts as Gaussian.
        if growth < LN_2 / GAUSSIAN {
            return 2.0;
        }
        let alpha = (LN_2 / growth).max(MIN_ALPHA);
        let alpha =
            if alpha < INITIAL_ALPHA { INITIAL_ALPHA + (alpha - INITIAL_ALPHA) * trust } else { alpha };
        (alpha / GRID).round() * GRID
    }

    /// Returns the momentum knee K = α^(1/α) s e^(1.25 τ + ρ ε), and at least e^0.4 times its root mean square where the
    /// momentum is not noise.
    ///
    /// ε is 1.5 where the momentum is that of limited noise. It goes to 0 as the momentum falls behind the limit, as happens where
    /// noise moves the weights so far that the gradients grow with them.
    pub(super) fn estimated_momentum_knee(&self, alpha: f64, trust: f64, momentum: f64) -> f64 {
        let full = libm::log(f64::from(self.limit_in_use())) - 0.5 * libm::log(1.0 - momentum * momentum);
        let ahead = KNEE_BEHIND * (self.momentum.mean() - full - KNEE_SHORT);
        let further = ahead.clamp(0.0, KNEE_LIMITED) * trust;
        let distance = |spread| libm::log(alpha) / alpha + KNEE_SPREAD * spread + further;
        self.momentum.threshold(alpha, trust, KNEE_ROOT, distance)
    }

    /// Returns the limit λ s e^((3 − 1.5 ρ) τ − 0.5) of the gradients, and at least e^3.4 times their root mean square where they are
    /// not noise.
    pub(super) fn estimated_limit(&self, alpha: f64, trust: f64) -> f64 {
        if alpha == 2.0 {
            return f64::INFINITY;
        }
        let inverse_lambda = 1.0 - (0..LIMIT_SQUARES).fold(alpha / 2.0, |power, _| power * power);
        let spread_factor = LIMIT_SPREAD - LIMIT_SPREAD_NOISE * trust;
        let distance = |spread| LIMIT - libm::log(inverse_lambda) + spread_factor * spread;
        self.gradients.threshold(alpha, trust, LIMIT_ROOT, distance)
    }
}

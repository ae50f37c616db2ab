//! How the laws that were seen set tail index, bend and limit.

use super::Calibration;
use super::head::Head;
use std::f64::consts::LN_2;

/// The index to which α goes where stable noise does not explain what is seen, and from which it starts.
pub(super) const MILD: f64 = 1.85;
/// Below this no α̂ is followed.
pub(super) const LEAST: f64 = 1.1;
/// From here on the tail index is 2.
pub(super) const GAUSSIAN: f64 = 1.95;
/// Tail indices in use are multiples of this, so that few tables are needed.
pub(super) const GRID: f64 = 1.0 / 32.0;
/// From such an α̂ on noise is believed to be noise,
pub(super) const NOISE: f64 = 1.15;
/// and up to this one it is not.
pub(super) const NO_NOISE: f64 = 1.05;
/// How much less if neighbours rise and fall together.
pub(super) const SHARED: f64 = 2.0;
/// The bend is beyond this many τ of the coordinates,
pub(super) const BEND_SPREAD: f64 = 1.25;
/// by up to this, in logarithms, where they are noise, whose jumps were limited;
pub(super) const BEND_LIMITED: f64 = 1.6;
/// by so many times as much less
pub(super) const BEND_BEHIND: f64 = 3.0;
/// as the mean of log|b| falls behind limit/√(1 − μ²) times e to this, which limited noise exceeds by a half;
pub(super) const BEND_SHORT: f64 = -1.28;
/// by this beyond their root mean square where they are not.
pub(super) const BEND_ROOT: f64 = 0.4;
/// The limit is by this, in logarithms, beyond the scale of the gradients,
pub(super) const LIMIT: f64 = -0.5;
/// beyond so many τ where they are not noise,
pub(super) const LIMIT_SPREAD: f64 = 3.0;
/// so many less where they are,
pub(super) const LIMIT_SPREAD_NOISE: f64 = 1.5;
/// and by this beyond their root mean square where they are not.
pub(super) const LIMIT_ROOT: f64 = 3.4;
/// How late the limit gives way as α goes to 2: a power of α/2, by this many squares.
pub(super) const LIMIT_SQUARES: u32 = 5;

impl Calibration {
    /// How many tail indices below 2 it may find.
    pub(in super::super) const INDICES: usize = (2.0 / GRID) as usize;

    /// The number of such a tail index.
    pub(in super::super) fn index(alpha: f64) -> Option<usize> {
        let index = alpha / GRID;
        (index.fract() == 0.0 && alpha < 2.0).then_some(index as usize)
    }
}

impl Head {
    /// α, bend and limit that were set.
    pub(super) fn in_use(&self) -> (f64, f64, f64) {
        (self.alpha.into(), self.bend.into(), self.limit_in_use().into())
    }

    /// At α = 2 nothing is limited.
    pub(super) fn limit_in_use(&self) -> f32 {
        if self.alpha == 2.0 { f32::INFINITY } else { self.limit }
    }

    /// ρ: how far stable noise explains what is seen, from 0 to 1.
    pub(super) fn trust(&self) -> f64 {
        // No stable law grows less than the Gaussian.
        let raw = LN_2 / self.noise.growth().max(LN_2 / 2.0);
        let spread = self.momentum.spread(raw.clamp(LEAST, 2.0));
        let shared = self.noise.shared().max(0.0);
        let noise = ((raw - NO_NOISE) / (NOISE - NO_NOISE)).clamp(0.0, 1.0);
        noise / (1.0 + spread * spread + SHARED * shared)
    }

    /// The tail index to use: that of the noise as far as it explains what is seen.
    pub(super) fn found_alpha(&self, trust: f64) -> f64 {
        let growth = self.noise.growth();
        // Less growth than any stable law has is that of 2.
        if growth < LN_2 / GAUSSIAN {
            return 2.0;
        }
        let alpha = (LN_2 / growth).max(LEAST);
        let alpha = if alpha < MILD { MILD + (alpha - MILD) * trust } else { alpha };
        (alpha / GRID).round() * GRID
    }

    /// K = α^(1/α) s e^(1.25 τ + ρ ε) of the momentum, and at least e^0.4 of its r.m.s. where it is not noise.
    ///
    /// ε is 1.5 where the momentum is what limited noise makes of it, and goes to 0 as it falls behind: the limit runs away from it then, as it does where
    /// noise throws the weights about and the gradients grow with them.
    pub(super) fn found_bend(&self, alpha: f64, trust: f64, momentum: f64) -> f64 {
        let full = libm::log(f64::from(self.limit_in_use())) - 0.5 * libm::log(1.0 - momentum * momentum);
        let ahead = BEND_BEHIND * (self.momentum.mean() - full - BEND_SHORT);
        let further = ahead.clamp(0.0, BEND_LIMITED) * trust;
        let beyond = |spread| libm::log(alpha) / alpha + BEND_SPREAD * spread + further;
        self.momentum.place(alpha, trust, BEND_ROOT, beyond)
    }

    /// λ s e^((3 − 1.5 ρ) τ − 0.5) of the gradients, and at least e^3.4 of their r.m.s. where they are not noise.
    pub(super) fn found_limit(&self, alpha: f64, trust: f64) -> f64 {
        if alpha == 2.0 {
            return f64::INFINITY;
        }
        let late = 1.0 - (0..LIMIT_SQUARES).fold(alpha / 2.0, |power, _| power * power);
        let beyond = |spread| LIMIT - libm::log(late) + (LIMIT_SPREAD - LIMIT_SPREAD_NOISE * trust) * spread;
        self.gradients.place(alpha, trust, LIMIT_ROOT, beyond)
    }
}

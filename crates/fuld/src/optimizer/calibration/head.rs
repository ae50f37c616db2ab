//! What a calibration keeps beside the gradients of a quadruple.

use super::log_sums::LogSums;
use super::noise_sums::NoiseSums;
use super::settings::MILD;
use std::ops::Range;

/// Sums, what was last set, and where in a quadruple it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Head {
    pub(super) gradients: LogSums,
    pub(super) momentum: LogSums,
    pub(super) noise: NoiseSums,
    pub(super) alpha: f32,
    pub(super) bend: f32,
    pub(super) limit: f32,
    /// Share beyond the bend.
    pub(super) bent: f32,
    /// Gradients seen, up to where single precision counts; then from 0 again.
    gradients_seen: f32,
}

impl Head {
    pub(super) const COUNT: usize = 18;
    /// As far as single precision counts.
    pub(super) const COUNTED: u32 = 1 << 24;

    pub(super) fn new() -> Self {
        Self {
            gradients: LogSums::default(),
            momentum: LogSums::default(),
            noise: NoiseSums::guess(MILD),
            alpha: MILD as f32,
            bend: f32::INFINITY,
            limit: f32::INFINITY,
            bent: 0.0,
            gradients_seen: 0.0,
        }
    }

    pub(super) fn to_numbers(self) -> [f32; Self::COUNT] {
        let Self { gradients: g, momentum: m, noise: n, alpha, bend, limit, bent, gradients_seen } = self;
        let ([g0, g1, g2, g3], [m0, m1, m2, m3]) = (g.to_numbers(), m.to_numbers());
        let [n0, n1, n2, n3, n4] = [n.weight, n.growth, n.seen, n.log, n.shared];
        [gradients_seen, alpha, bend, limit, bent, g0, g1, g2, g3, m0, m1, m2, m3, n0, n1, n2, n3, n4]
    }

    pub(super) fn from_numbers(numbers: [f32; Self::COUNT]) -> Self {
        let [gradients_seen, alpha, bend, limit, bent, rest @ ..] = numbers;
        let [g0, g1, g2, g3, m0, m1, m2, m3, weight, growth, seen, log, shared] = rest;
        Self {
            gradients: LogSums::from_numbers([g0, g1, g2, g3]),
            momentum: LogSums::from_numbers([m0, m1, m2, m3]),
            noise: NoiseSums { weight, growth, seen, log, shared },
            alpha,
            bend,
            limit,
            bent,
            gradients_seen,
        }
    }

    /// Which of so many places the laws of the next step are looked at: all at first, later a quarter of them, another for each gradient of a
    /// quadruple.
    pub(super) fn looked_at(&self, count: usize) -> Range<usize> {
        let phase = self.phase() as usize;
        if self.gradients_seen < LogSums::STEPS {
            0..count
        } else {
            count * phase / 4..count * (phase + 1) / 4
        }
    }

    /// Which gradient of a quadruple comes next.
    pub(super) fn phase(&self) -> u32 {
        self.gradients_seen as u32 % 4
    }

    /// Which quadruple it is.
    pub(super) fn quadruple(&self) -> u32 {
        self.gradients_seen as u32 / 4
    }

    pub(super) fn turn(&mut self) {
        self.gradients_seen = (self.gradients_seen + 1.0) % Self::COUNTED as f32;
    }

    /// Adds what is beyond the bend to the average share.
    pub(super) fn count_bent(&mut self, followed: &[f32]) {
        if followed.is_empty() {
            return;
        }
        let beyond: f32 = followed.iter().map(|b| if b.abs() > self.bend { 1.0 } else { 0.0 }).sum();
        let share = beyond / followed.len() as f32;
        self.bent += (share - self.bent) / self.gradients_seen.clamp(1.0, LogSums::STEPS);
    }
}

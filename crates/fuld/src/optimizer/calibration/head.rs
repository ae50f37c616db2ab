//! What a calibration keeps beside the gradients of a quadruple.

use super::MILD;
use super::log_sums::{LogSums, NoiseSums};

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
        let [g, m] = [g, m].map(|sums| [sums.weight, sums.sum, sums.squares, sums.root]);
        let n = [n.weight, n.growth, n.seen, n.log, n.shared];
        let mut numbers = [0.0; Self::COUNT];
        let all = [[gradients_seen, alpha, bend, limit, bent].as_slice(), &g, &m, &n].concat();
        numbers.copy_from_slice(&all);
        numbers
    }

    pub(super) fn from_numbers(numbers: [f32; Self::COUNT]) -> Self {
        let [gradients_seen, alpha, bend, limit, bent, rest @ ..] = numbers;
        let [g0, g1, g2, g3, m0, m1, m2, m3, weight, growth, seen, log, shared] = rest;
        Self {
            gradients: LogSums { weight: g0, sum: g1, squares: g2, root: g3 },
            momentum: LogSums { weight: m0, sum: m1, squares: m2, root: m3 },
            noise: NoiseSums { weight, growth, seen, log, shared },
            alpha,
            bend,
            limit,
            bent,
            gradients_seen,
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
        let beyond = followed.iter().filter(|b| b.abs() > self.bend).count();
        let share = beyond as f32 / followed.len().max(1) as f32;
        self.bent += (share - self.bent) / self.gradients_seen.clamp(1.0, LogSums::STEPS);
    }
}

//! Averages over quadruples that forget: the law of the gradients' noise.

use super::blocks::{LANES, Lanes, blocks, each};
use super::log_abs::{counts, log_if_counted};
use super::places::ROW;
use crate::tail_index::Quadruples;
use std::f64::consts::LN_2;

/// What differences of gradients, and differences of those, say of the noise; over the last quadruples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NoiseSums {
    /// Of quadruples, and of a guess that counts as one of them at first.
    pub(super) weight: f32,
    /// Of the growth of log|·| from differences to their differences.
    pub(super) growth: f32,
    /// Of quadruples alone.
    pub(super) seen: f32,
    /// Of log|difference|.
    pub(super) log: f32,
    /// Of the covariance of log|difference| between neighbours.
    pub(super) shared: f32,
}

impl NoiseSums {
    /// Quadruples that are averaged over.
    pub(super) const QUADRUPLES: f32 = 64.0;

    /// Before anything is known but a guess of α.
    pub(super) fn guess(alpha: f64) -> Self {
        Self { weight: 1.0, growth: (LN_2 / alpha) as f32, seen: 0.0, log: 0.0, shared: 0.0 }
    }

    /// Adds a quadruple: the differences of its two pairs.
    pub(super) fn look_at(&mut self, first: &[f32], second: &[f32]) {
        let (mut number, mut log_a, mut log_b) = (Lanes::NONE, Lanes::NONE, Lanes::NONE);
        let mut neighbours = Neighbours { pairs: Lanes::NONE, product: Lanes::NONE, sum: Lanes::NONE };
        for (a, b) in blocks(first).zip(blocks(second)) {
            let logs = each(|lane| log_if_counted(a[lane]));
            let pairs = each(|lane| counts(a[lane]) * counts(b[lane]));
            number.add(|lane| pairs[lane]);
            log_a.add(|lane| pairs[lane] * logs[lane]);
            log_b.add(|lane| pairs[lane] * log_if_counted(b[lane]));
            neighbours.look_at(&each(|lane| counts(a[lane])), &logs);
        }
        let number = number.sum();
        if number == 0.0 {
            return;
        }
        // Each pair in units of its own mean: what all coordinates of a step have in common is no tail.
        let (a, b) = (log_a.sum() / number, log_b.sum() / number);
        let (mean, half) = ((a + b) / 2.0, (b - a) / 2.0);
        let (up, down) = (libm::expf(half), libm::expf(-half));
        let (mut both, mut log) = (Lanes::NONE, Lanes::NONE);
        for (a, b) in blocks(first).zip(blocks(second)) {
            let contrasts = each(|lane| a[lane] * up + b[lane] * down);
            let all = each(|lane| counts(a[lane]) * counts(b[lane]) * counts(contrasts[lane]));
            both.add(|lane| all[lane]);
            log.add(|lane| all[lane] * log_if_counted(contrasts[lane]));
        }
        let both = both.sum();
        if both == 0.0 {
            return;
        }
        let weight = number / first.len() as f32;
        let keep = 1.0 - 1.0 / Self::QUADRUPLES;
        self.weight = keep * self.weight + weight;
        self.growth = keep * self.growth + weight * (log.sum() / both - mean);
        self.seen = keep * self.seen + weight;
        self.log = keep * self.log + weight * mean;
        self.shared = keep * self.shared + weight * neighbours.covariance(a);
    }

    /// What neighbours have in common: the mean covariance of log|difference|; 0 before there was one.
    pub(super) fn shared(&self) -> f64 {
        if self.seen > 0.0 { f64::from(self.shared / self.seen) } else { 0.0 }
    }

    /// Mean of the growth.
    pub(super) fn growth(&self) -> f64 {
        f64::from(self.growth) / f64::from(self.weight)
    }

    /// As an estimate takes it: the mean of log|difference| is NaN before there was one.
    pub(super) fn quadruples(&self) -> Quadruples {
        let mean_log = f64::from(self.log) / f64::from(self.seen);
        let growth = self.growth();
        Quadruples { mean_log, growth, mean_log_variance: 0.0, growth_variance: 0.0, covariance: 0.0 }
    }
}

/// Sums over pairs of neighbours within a row.
struct Neighbours {
    pairs: Lanes,
    product: Lanes,
    sum: Lanes,
}

impl Neighbours {
    #[inline(always)]
    fn look_at(&mut self, counts: &[f32; LANES], logs: &[f32; LANES]) {
        // That of the lane after this one; none after the last of a row.
        let next = |of: &[f32; LANES]| each(|lane| if lane % ROW == ROW - 1 { 0.0 } else { of[lane + 1] });
        let (next_counts, next_logs) = (next(counts), next(logs));
        let pairs = each(|lane| counts[lane] * next_counts[lane]);
        self.pairs.add(|lane| pairs[lane]);
        self.product.add(|lane| pairs[lane] * logs[lane] * next_logs[lane]);
        self.sum.add(|lane| pairs[lane] * (logs[lane] + next_logs[lane]));
    }

    /// The mean of (l − m)(l′ − m).
    fn covariance(&self, mean: f32) -> f32 {
        let (pairs, product, sum) = (self.pairs.sum(), self.product.sum(), self.sum.sum());
        let [pairs, product, sum, mean] = [pairs, product, sum, mean].map(f64::from);
        if pairs > 0.0 { ((product - mean * sum) / pairs + mean * mean) as f32 } else { 0.0 }
    }
}

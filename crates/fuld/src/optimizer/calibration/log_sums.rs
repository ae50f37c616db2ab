//! Averages of logarithms that forget.

use super::log_abs;
use super::places::ROW;
use crate::tail_index::{log_variance, scale_of};
use std::f64::consts::LN_2;

/// Whether a number has a logarithm to be counted: exact zeros are blank pixels and dead units, not small noise; NaN and ∞ are
/// accidents.
#[inline(always)]
fn counts(x: f32) -> bool {
    x.abs() >= f32::MIN_POSITIVE && x.abs() <= f32::MAX
}

/// Number, sum and sum of squares of log|x|, over the last steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LogSums {
    pub(super) weight: f32,
    pub(super) sum: f32,
    pub(super) squares: f32,
    /// Of the logarithm of the root mean square.
    pub(super) root: f32,
}

impl LogSums {
    /// Steps that are averaged over.
    pub(super) const STEPS: f32 = 20.0;

    /// Adds the numbers of a step. They weigh as much as there are of them.
    pub(super) fn look_at(&mut self, numbers: &[f32]) {
        const LANES: usize = 16;
        let mut sums = [[0f32; LANES]; 3];
        let mut add = |lane: usize, x: f32| {
            let counts = counts(x);
            let log = if counts { log_abs(x) } else { 0.0 };
            sums[0][lane] += if counts { 1.0 } else { 0.0 };
            sums[1][lane] += log;
            sums[2][lane] += log * log;
        };
        let (blocks, rest) = numbers.as_chunks::<LANES>();
        for block in blocks {
            (0..LANES).for_each(|lane| add(lane, block[lane]));
        }
        rest.iter().enumerate().for_each(|(lane, &x)| add(lane, x));
        let [weight, sum, squares] =
            sums.map(|lanes| lanes.iter().sum::<f32>() / numbers.len().max(1) as f32);
        // What does not move says nothing: the law stays that of the last time it did.
        if weight > 0.0 {
            let middle = sum / weight;
            let unit = libm::expf(-middle);
            let square = |&x: &f32| if counts(x) { (x * unit) * (x * unit) } else { 0.0 };
            let mean = numbers.iter().map(square).sum::<f32>() / (weight * numbers.len() as f32);
            let root = middle + 0.5 * log_abs(mean.min(f32::MAX));
            let keep = 1.0 - 1.0 / Self::STEPS;
            self.weight = keep * self.weight + weight;
            self.sum = keep * self.sum + sum;
            self.squares = keep * self.squares + squares;
            self.root = keep * self.root + weight * root;
        }
    }

    /// Scale s and spread τ for a law that is SαS(s) up to a spread of scales. None if nothing was seen.
    pub(super) fn law(&self, alpha: f64) -> Option<(f64, f64)> {
        let mean = f64::from(self.sum) / f64::from(self.weight);
        (self.weight > 0.0).then(|| (scale_of(mean, alpha), self.spread(alpha)))
    }

    /// The root mean square: of each step, averaged by its logarithm.
    pub(super) fn root_mean_square(&self) -> f64 {
        libm::exp(f64::from(self.root) / f64::from(self.weight))
    }

    /// τ = √(V − (π²/6)(1/α² + 1/2)), 0 where that is negative.
    pub(super) fn spread(&self, alpha: f64) -> f64 {
        let weight = f64::from(self.weight);
        let mean = f64::from(self.sum) / weight;
        let variance = f64::from(self.squares) / weight - mean * mean;
        libm::sqrt((variance - log_variance(alpha)).max(0.0))
    }
}

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
        let (mut count, mut logs) = (0f32, [0f32; 2]);
        for (&a, &b) in first.iter().zip(second) {
            if counts(a) && counts(b) {
                count += 1.0;
                logs[0] += log_abs(a);
                logs[1] += log_abs(b);
            }
        }
        if count == 0.0 {
            return;
        }
        // Each pair in units of its own mean: what all coordinates of a step have in common is no tail.
        let [a, b] = logs.map(|log| log / count);
        let (mean, half) = ((a + b) / 2.0, (b - a) / 2.0);
        let (up, down) = (libm::expf(half), libm::expf(-half));
        // What neighbours have in common.
        let (mut pairs, mut product) = (0f32, 0f32);
        for row in first.chunks(ROW) {
            for two in row.windows(2) {
                if counts(two[0]) && counts(two[1]) {
                    pairs += 1.0;
                    product += (log_abs(two[0]) - a) * (log_abs(two[1]) - a);
                }
            }
        }
        let shared = if pairs > 0.0 { product / pairs } else { 0.0 };
        let (mut both, mut log) = (0f32, 0f32);
        for (&a, &b) in first.iter().zip(second) {
            let contrast = a * up + b * down;
            if counts(a) && counts(b) && counts(contrast) {
                both += 1.0;
                log += log_abs(contrast);
            }
        }
        if both == 0.0 {
            return;
        }
        let weight = count / first.len() as f32;
        let keep = 1.0 - 1.0 / Self::QUADRUPLES;
        self.weight = keep * self.weight + weight;
        self.growth = keep * self.growth + weight * (log / both - mean);
        self.seen = keep * self.seen + weight;
        self.log = keep * self.log + weight * mean;
        self.shared = keep * self.shared + weight * shared;
    }

    /// What neighbours have in common: the mean covariance of log|difference|; 0 before there was one.
    pub(super) fn shared(&self) -> f64 {
        if self.seen > 0.0 { f64::from(self.shared / self.seen) } else { 0.0 }
    }

    /// Mean of log|difference|, NaN before there was one, and of the growth.
    pub(super) fn means(&self) -> (f64, f64) {
        let (log, growth) = (f64::from(self.log), f64::from(self.growth));
        (log / f64::from(self.seen), growth / f64::from(self.weight))
    }
}

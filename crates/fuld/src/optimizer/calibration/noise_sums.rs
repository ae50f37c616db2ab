//! Exponentially weighted averages over quadruples of gradients, which describe the gradient noise.

use super::blocks::{LANES, Lanes, blocks, each};
use super::log_abs::{counts, log_if_counted};
use super::sampled_rows::ROW;
use levy_stable::tail_index::Quadruples;
use std::f64::consts::LN_2;

/// Sums over first and second differences of the gradients of the last quadruples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NoiseSums {
    /// Weight of the quadruples and of a prior that counts as one of them.
    weight: f32,
    /// Sum of the growth of log|·| from first to second differences.
    growth: f32,
    /// Weight of the quadruples alone.
    observed: f32,
    /// Sum of log|difference|.
    log: f32,
    /// Sum of the covariance of log|difference| between neighbours.
    shared: f32,
}

impl NoiseSums {
    /// Quadruples averaged over, the time constant of the weights.
    pub(super) const QUADRUPLES: f32 = 64.0;

    /// Returns the sums before the first quadruple, with a prior for α.
    pub(super) fn prior(alpha: f64) -> Self {
        Self { weight: 1.0, growth: (LN_2 / alpha) as f32, observed: 0.0, log: 0.0, shared: 0.0 }
    }

    pub(super) fn to_numbers(self) -> [f32; 5] {
        [self.weight, self.growth, self.observed, self.log, self.shared]
    }

    pub(super) fn from_numbers([weight, growth, observed, log, shared]: [f32; 5]) -> Self {
        Self { weight, growth, observed, log, shared }
    }

    /// Adds a quadruple, given the differences of its two pairs.
    pub(super) fn add(&mut self, first: &[f32], second: &[f32]) {
        let (mut number, mut log_a, mut log_b) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
        let mut neighbours = Neighbours { pairs: Lanes::ZERO, product: Lanes::ZERO, sum: Lanes::ZERO };
        for (a, b) in blocks(first).zip(blocks(second)) {
            let logs = each(|lane| log_if_counted(a[lane]));
            let pairs = each(|lane| counts(a[lane]) * counts(b[lane]));
            number.add(|lane| pairs[lane]);
            log_a.add(|lane| pairs[lane] * logs[lane]);
            log_b.add(|lane| pairs[lane] * log_if_counted(b[lane]));
            neighbours.add(&each(|lane| counts(a[lane])), &logs);
        }
        let number = number.sum();
        if number == 0.0 {
            return;
        }
        // Each pair in units of its own mean, so that a factor common to all coordinates of a step does not count as a tail.
        let (a, b) = (log_a.sum() / number, log_b.sum() / number);
        let (mean, half) = ((a + b) / 2.0, (b - a) / 2.0);
        let (up, down) = (libm::expf(half), libm::expf(-half));
        let (mut both, mut log) = (Lanes::ZERO, Lanes::ZERO);
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
        self.observed = keep * self.observed + weight;
        self.log = keep * self.log + weight * mean;
        self.shared = keep * self.shared + weight * neighbours.covariance(a);
    }

    /// Returns the mean covariance of log|difference| between neighbours, or 0 before the first quadruple.
    pub(super) fn shared(&self) -> f64 {
        if self.observed > 0.0 { f64::from(self.shared / self.observed) } else { 0.0 }
    }

    /// Returns the mean growth.
    pub(super) fn growth(&self) -> f64 {
        f64::from(self.growth) / f64::from(self.weight)
    }

    /// Returns the means in the form the estimator takes. The mean of log|difference| is NaN before the first quadruple.
    pub(super) fn quadruples(&self) -> Quadruples {
        let mean_log = f64::from(self.log) / f64::from(self.observed);
        let growth = self.growth();
        Quadruples { mean_log, growth, mean_log_variance: 0.0, growth_variance: 0.0, covariance: 0.0 }
    }
}

/// Sums over pairs of neighbours within a sampled row.
struct Neighbours {
    pairs: Lanes,
    product: Lanes,
    sum: Lanes,
}

impl Neighbours {
    #[inline(always)]
    fn add(&mut self, counts: &[f32; LANES], logs: &[f32; LANES]) {
        // The value of the next lane; 0 after the last lane of a row.
        let next = |of: &[f32; LANES]| each(|lane| if lane % ROW == ROW - 1 { 0.0 } else { of[lane + 1] });
        let (next_counts, next_logs) = (next(counts), next(logs));
        let pairs = each(|lane| counts[lane] * next_counts[lane]);
        self.pairs.add(|lane| pairs[lane]);
        self.product.add(|lane| pairs[lane] * logs[lane] * next_logs[lane]);
        self.sum.add(|lane| pairs[lane] * (logs[lane] + next_logs[lane]));
    }

    /// Returns the mean of (l − m)(l′ − m).
    fn covariance(&self, mean: f32) -> f32 {
        let (pairs, product, sum) = (self.pairs.sum(), self.product.sum(), self.sum.sum());
        let [pairs, product, sum, mean] = [pairs, product, sum, mean].map(f64::from);
        if pairs > 0.0 { ((product - mean * sum) / pairs + mean * mean) as f32 } else { 0.0 }
    }
}

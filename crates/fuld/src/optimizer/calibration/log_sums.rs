//! Exponentially weighted averages of log|x|, which describe the distribution of gradients or momentum.

use super::THRESHOLDS;
use super::blocks::{Lanes, blocks, each};
use super::log_abs::{counts, log_abs, log_if_counted};
use levy_stable::tail_index::{log_scale_of, log_variance};

/// Weighted number, sum and sum of squares of log|x| over the last steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LogSums {
    weight: f32,
    sum: f32,
    squares: f32,
    /// Sum of the logarithm of each step's root mean square.
    root: f32,
}

impl LogSums {
    /// Steps averaged over, the time constant of the weights.
    pub(super) const STEPS: f32 = 20.0;

    pub(super) fn to_numbers(self) -> [f32; 4] {
        [self.weight, self.sum, self.squares, self.root]
    }

    pub(super) fn from_numbers([weight, sum, squares, root]: [f32; 4]) -> Self {
        Self { weight, sum, squares, root }
    }

    /// Adds the numbers of a step, weighted by the share of them that count.
    pub(super) fn add(&mut self, numbers: &[f32]) {
        let (mut number, mut sum, mut squares) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
        for block in blocks(numbers) {
            let logs = each(|lane| log_if_counted(block[lane]));
            number.add(|lane| counts(block[lane]));
            sum.add(|lane| logs[lane]);
            squares.add(|lane| logs[lane] * logs[lane]);
        }
        let all = numbers.len().max(1) as f32;
        let (weight, sum, squares) = (number.sum() / all, sum.sum() / all, squares.sum() / all);
        // Without any numbers that count the sums stay as they are.
        if weight > 0.0 {
            let middle = sum / weight;
            let unit = libm::expf(-middle);
            let mut square = Lanes::ZERO;
            for block in blocks(numbers) {
                let scaled = each(|lane| if counts(block[lane]) == 0.0 { 0.0 } else { block[lane] * unit });
                square.add(|lane| scaled[lane] * scaled[lane]);
            }
            let root = middle + 0.5 * log_abs((square.sum() / (weight * all)).min(f32::MAX));
            let keep = 1.0 - 1.0 / Self::STEPS;
            self.weight = keep * self.weight + weight;
            self.sum = keep * self.sum + sum;
            self.squares = keep * self.squares + squares;
            self.root = keep * self.root + weight * root;
        }
    }

    /// Returns s e^distance(τ) for a law that is SαS(s) up to a spread of scales τ. Without trust in noise it is at least e^`roots` times
    /// the root mean square, averaged over steps by its logarithm. Infinite before any number that counts.
    pub(super) fn threshold(&self, alpha: f64, trust: f64, roots: f64, distance: impl Fn(f64) -> f64) -> f64 {
        if self.weight <= 0.0 {
            return f64::INFINITY;
        }
        let [mean, root] = [self.sum, self.root].map(|sum| f64::from(sum) / f64::from(self.weight));
        let noise = log_scale_of(mean, alpha) + distance(self.spread(alpha));
        let signal = roots + root;
        libm::exp(noise + (1.0 - trust) * (signal - noise).max(0.0))
            .clamp(*THRESHOLDS.start(), *THRESHOLDS.end())
    }

    /// Returns the mean of the logarithms.
    pub(super) fn mean(&self) -> f64 {
        f64::from(self.sum) / f64::from(self.weight)
    }

    /// Returns τ = √(V − (π²/6)(1/α² + 1/2)), or 0 where that is negative.
    pub(super) fn spread(&self, alpha: f64) -> f64 {
        let weight = f64::from(self.weight);
        let mean = f64::from(self.sum) / weight;
        let variance = f64::from(self.squares) / weight - mean * mean;
        (variance - log_variance(alpha)).max(0.0).sqrt()
    }
}

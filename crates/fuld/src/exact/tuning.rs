//! The numbers that exact sampling adapts.

use serde::{Deserialize, Serialize};

/// Step size, path length and scales of exact sampling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Step size η of the leapfrog steps, in scaled coordinates.
    pub step: f64,
    /// Mean time of an iteration: it takes 2uT/η leapfrog steps, with u spread evenly over (0, 1). At most η: one step.
    pub path: f64,
    /// Scale of each coordinate.
    pub scales: Vec<f64>,
}

/// Most leapfrog steps per iteration, as many as NUTS takes at its default depth.
const MOST_STEPS: f64 = 1024.0;

impl Tuning {
    /// Returns one leapfrog step per iteration in unscaled coordinates.
    pub(crate) fn plain(step: f64, path: f64, dim: usize) -> Self {
        Self { step, path, scales: vec![1.0; dim] }
    }

    /// Returns u of iteration k: van der Corput's sequence, which fills (0, 1) evenly.
    pub(crate) fn fraction(k: u64) -> f64 {
        ((k + 1).reverse_bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns the number of leapfrog steps of iteration k.
    pub(crate) fn steps(&self, k: u64) -> u64 {
        (2.0 * Self::fraction(k) * self.path / self.step).ceil().clamp(1.0, MOST_STEPS) as u64
    }

    /// Returns the longest path that the number of steps allows.
    pub(crate) fn longest_path(&self) -> f64 {
        0.5 * MOST_STEPS * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_steps_have_the_path_as_mean() {
        let tuning = Tuning::plain(0.01, 1.0, 1);
        let mean = (0..1024).map(|k| tuning.steps(k)).sum::<u64>() as f64 / 1024.0;
        // Rounding up adds half a step.
        assert!((mean - 100.5).abs() < 0.5, "{mean}");
        assert_eq!(Tuning::plain(0.1, 0.0, 1).steps(5), 1);
        assert_eq!([0, 1, 2, 3].map(Tuning::fraction), [0.5, 0.25, 0.75, 0.125]);
    }
}

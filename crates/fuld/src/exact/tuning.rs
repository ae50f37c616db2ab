//! The numbers that exact sampling adapts.

use serde::{Deserialize, Serialize};

/// Number of paths.
pub(crate) const PATHS: usize = 32;

/// Step size, paths and scales of exact sampling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Step size η of the leapfrog steps, in scaled coordinates.
    pub step: f64,
    /// Longest times of an iteration, in ascending order. An iteration takes a random fraction of
    /// one of them, at least one step.
    pub paths: [f64; PATHS],
    /// Scale of each coordinate.
    pub scales: Vec<f64>,
}

/// Most leapfrog steps per iteration, as many as NUTS takes at its default depth.
pub(crate) const MOST_STEPS: u64 = 1024;

impl Tuning {
    /// Returns unscaled coordinates and iterations of mean time `path`.
    pub(crate) fn plain(step: f64, path: f64, dim: usize) -> Self {
        Self { step, paths: [2.0 * path; PATHS], scales: vec![1.0; dim] }
    }

    /// Returns the mean time of an iteration, if that is not shorter than a step.
    pub fn path(&self) -> f64 {
        0.5 * self.paths.iter().sum::<f64>() / PATHS as f64
    }

    /// Returns the mean number of leapfrog steps, and so of gradients, per iteration.
    pub fn mean_steps(&self) -> f64 {
        // Rounding up adds half a step.
        let steps = |path: &f64| (0.5 * path / self.step + 0.5).clamp(1.0, MOST_STEPS as f64);
        self.paths.iter().map(steps).sum::<f64>() / PATHS as f64
    }

    /// Returns the number of leapfrog steps of iteration k. Path and fraction follow Halton's
    /// sequence, which fills the unit square evenly.
    pub(crate) fn steps(&self, k: u64) -> u64 {
        let path = self.paths[(radical_inverse::<3>(k + 1) * PATHS as f64) as usize];
        (radical_inverse::<2>(k + 1) * path / self.step).ceil().clamp(1.0, MOST_STEPS as f64) as u64
    }

    /// Sets the paths to quantiles of turning times. Without any they stay as they are.
    pub(crate) fn set_paths(&mut self, turns: &mut [f64]) {
        turns.sort_unstable_by(f64::total_cmp);
        for (i, path) in self.paths.iter_mut().enumerate().filter(|_| !turns.is_empty()) {
            *path = turns[(2 * i + 1) * turns.len() / (2 * PATHS)];
        }
    }
}

/// Returns the digits of n in base B behind the point, in reverse order (van der Corput's
/// sequence).
fn radical_inverse<const B: u64>(mut n: u64) -> f64 {
    let (mut value, mut unit) = (0.0, 1.0);
    while n > 0 {
        unit /= B as f64;
        value += unit * (n % B) as f64;
        n /= B;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_steps_have_the_path_as_mean() {
        let tuning = Tuning::plain(0.01, 1.0, 1);
        let mean =
            |tuning: &Tuning| (0..1296).map(|k| tuning.steps(k)).sum::<u64>() as f64 / 1296.0;
        assert!((mean(&tuning) - 100.5).abs() < 0.5, "{}", mean(&tuning));
        assert_eq!((tuning.path(), Tuning::plain(0.1, 0.0, 1).steps(5)), (1.0, 1));
        // Turning times 0.05, 0.15, …, 99.95 have mean 50.
        let mut turns: Vec<f64> = (0..1000).rev().map(|i| 0.1 * (f64::from(i) + 0.5)).collect();
        let mut tuning = Tuning::plain(0.5, 1.0, 1);
        tuning.set_paths(&mut turns);
        assert!((tuning.path() - 25.0).abs() < 0.1 && tuning.paths.is_sorted(), "{tuning:?}");
        assert!((mean(&tuning) / tuning.mean_steps() - 1.0).abs() < 0.01, "{}", mean(&tuning));
        let before = tuning.clone();
        tuning.set_paths(&mut []);
        assert_eq!(tuning, before);
    }

    #[test]
    fn radical_inverses_reverse_the_digits() {
        assert_eq!([1, 2, 3, 4].map(radical_inverse::<2>), [0.5, 0.25, 0.75, 0.125]);
        assert!((radical_inverse::<3>(5) - (2.0 / 3.0 + 1.0 / 9.0)).abs() < 1e-15);
    }
}

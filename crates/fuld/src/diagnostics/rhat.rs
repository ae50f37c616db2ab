//! The convergence diagnostic R̂.

use super::moments::{mean, variance};
use super::rank::NormalScores;
use levy_stable::quantiles::quantile_by_selection;

use super::{Chains, chains::Split};

impl Chains<'_> {
    /// Returns the rank-normalised split R̂ of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021).
    ///
    /// It is the larger of R̂ of the draws, which detects chains at different locations, and R̂ of |x − median|, which detects
    /// chains of different spread. Each is
    ///
    /// > R̂ = √((B/W + n − 1)/n)
    ///
    /// computed from the normal scores of the halves of all chains, with B/n the variance of their means and W the mean of their
    /// variances. Converged chains give 1 up to noise; above 1.01 they have not converged. No moment of the target need exist.
    ///
    /// As in ArviZ, it is NaN for a single chain, if a draw is NaN, and if all draws are equal. It is infinite if every half is
    /// constant but they differ.
    pub fn r_hat(&self) -> f64 {
        if self.count() < 2 || self.has_nan() {
            return f64::NAN;
        }
        let mut bulk = self.split(|x| x);
        let median = quantile_by_selection(&mut bulk.values.clone(), 0.5);
        let mut folded = bulk.clone();
        folded.values.iter_mut().for_each(|x| *x = (*x - median).abs());
        let scores = NormalScores::new(bulk.values.len());
        scores.replace(&mut bulk.values);
        let bulk = reduction(&bulk);
        // The distance of an infinite draw from an infinite median is undefined.
        if folded.values.iter().any(|x| x.is_nan()) {
            return f64::NAN;
        }
        scores.replace(&mut folded.values);
        let folded = reduction(&folded);
        // If folding makes all draws equal, only the draws themselves are compared.
        if folded > bulk { folded } else { bulk }
    }
}

/// √((B/W + n − 1)/n)
fn reduction(split: &Split) -> f64 {
    let n = split.draws as f64;
    let means: Vec<f64> = split.halves().map(mean).collect();
    let variances: Vec<f64> = split.halves().map(variance).collect();
    let between = n * variance(&means);
    ((between / mean(&variances) + n - 1.0) / n).sqrt()
}

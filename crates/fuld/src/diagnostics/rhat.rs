//! R̂: do the chains agree?

use super::moments::{mean, variance};
use super::rank::NormalScores;
use levy_stable::quantiles::quantile_by_selection;

use super::{Chains, chains::Split};

impl Chains<'_> {
    /// The rank-normalised split R̂ of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021): the larger of that of
    /// the draws, which sees chains in different places, and that of |x − median|, which sees chains of different
    /// spread. Each is
    ///
    /// > R̂ = √((B/W + n − 1)/n)
    ///
    /// on the normal scores of the halves of all chains, with B/n the variance of their means and W the mean of their
    /// variances. Chains that agree give 1 up to noise; above 1.01 they do not agree yet. No moment of the target
    /// needs to exist.
    ///
    /// As in ArviZ: NaN for a single chain, with a NaN among the draws, and where no draw differs from any other;
    /// infinite where no half moves but they stand in different places.
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
        // Infinite draws with an infinite median have no distance from it.
        if folded.values.iter().any(|x| x.is_nan()) {
            return f64::NAN;
        }
        scores.replace(&mut folded.values);
        let folded = reduction(&folded);
        // Folding two places into one leaves nothing to compare: then the draws alone decide.
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

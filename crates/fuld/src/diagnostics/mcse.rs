//! Monte Carlo standard errors of means and quantiles.

use super::beta::beta_quantile;
use super::error::probability;
use super::moments::variance;
use super::{Chains, DiagnosticError};

/// Φ(−1) and Φ(1), with as many digits as in ArviZ.
const ONE_DEVIATION: [f64; 2] = [0.1586553, 0.8413447];

impl Chains<'_> {
    /// Returns the standard error of the mean, sd/√[`ess_mean`](Self::ess_mean). It is meaningful
    /// only if the variance is finite; for heavier tails use that of the median,
    /// [`mcse_quantile`](Self::mcse_quantile) at 0.5.
    pub fn mcse_mean(&self) -> f64 {
        (variance(&self.pooled()) / self.ess_mean()).sqrt()
    }

    /// Returns the standard error of the quantile at 0 ≤ p ≤ 1. It requires no moments.
    ///
    /// With N = [`ess_quantile`](Self::ess_quantile) draws, F(q̂_p) has the law
    /// Beta(Np + 1, N(1−p) + 1). The empirical quantile function maps the quantiles Φ(−1) and Φ(1)
    /// of that law to the scale of the draws; the error is half the distance between them.
    pub fn mcse_quantile(&self, p: f64) -> Result<f64, DiagnosticError> {
        let n = self.indicator_ess(probability(p)?);
        if n.is_nan() {
            return Ok(f64::NAN);
        }
        let mut draws = self.pooled();
        let last = draws.len() - 1;
        let rank =
            |q: f64| beta_quantile(q, n * p + 1.0, n * (1.0 - p) + 1.0) * draws.len() as f64 - 1.0;
        let low = rank(ONE_DEVIATION[0]).floor().max(0.0) as usize;
        let high = (rank(ONE_DEVIATION[1]).ceil().max(0.0) as usize).min(last);
        let low = *draws.select_nth_unstable_by(low.min(last), f64::total_cmp).1;
        let high = *draws.select_nth_unstable_by(high, f64::total_cmp).1;
        Ok(0.5 * (high - low))
    }
}

//! Effective sample size: how many independent draws would say as much?

use super::error::probability;
use super::fourier::mean_autocovariance;
use super::moments::{mean, variance};
use super::rank::NormalScores;
use levy_stable::quantiles::quantile_by_selection;

use super::{Chains, DiagnosticError, chains::Split};

/// Draws closer together than this count as one and the same, as in ArviZ. It is no relative measure: draws of a
/// quantity of this size should be given in another unit.
const RESOLUTION: f64 = 1e-15;

impl Chains<'_> {
    /// Effective draws for the centre of the law: of the rank-normalised draws (Vehtari et al. 2021). Needs no moments.
    pub fn ess_bulk(&self) -> f64 {
        if self.has_nan() {
            return f64::NAN;
        }
        let mut split = self.split(|x| x);
        NormalScores::new(split.values.len()).replace(&mut split.values);
        effective(&split)
    }

    /// Effective draws for the tails: the smaller of [`ess_quantile`](Self::ess_quantile) at 0.05 and 0.95.
    pub fn ess_tail(&self) -> f64 {
        let low = self.indicator_ess(0.05);
        let high = self.indicator_ess(0.95);
        if high < low { high } else { low }
    }

    /// Effective draws for the estimate of the quantile at 0 ≤ p ≤ 1: those of the indicator x ≤ q_p.
    pub fn ess_quantile(&self, p: f64) -> Result<f64, DiagnosticError> {
        Ok(self.indicator_ess(probability(p)?))
    }

    /// Effective draws for the mean, of the draws as they are. It means something only where the variance is finite.
    pub fn ess_mean(&self) -> f64 {
        effective(&self.split(|x| x))
    }

    pub(super) fn indicator_ess(&self, p: f64) -> f64 {
        if self.has_nan() {
            return f64::NAN;
        }
        let quantile = quantile_by_selection(&mut self.pooled(), p);
        effective(&self.split(|x| if x <= quantile { 1.0 } else { 0.0 }))
    }
}

/// S/τ for S draws, with τ = −1 + 2 Σ_{t ≤ T} ρ̂ₜ + ρ̂_{T+1}, where T is the end of Geyer's initial positive sequence
/// and ρ̂ is made monotone up to there. At most S log₁₀ S (antithetic chains), S if no draw differs, NaN if one is.
///
/// ρ̂ₜ = 1 − (W − Cₜ)/V with Cₜ the mean autocovariance, W = C₀ n/(n−1) and V = C₀ + variance of the means.
fn effective(split: &Split) -> f64 {
    if split.values.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let (low, high) =
        split.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    let size = split.values.len() as f64;
    if high - low < RESOLUTION {
        return size;
    }
    let n = split.draws as f64;
    let covariance = mean_autocovariance(split.halves());
    let means: Vec<f64> = split.halves().map(mean).collect();
    let within = covariance[0] * n / (n - 1.0);
    let total = covariance[0] + if split.count() > 1 { variance(&means) } else { 0.0 };
    let rho = |t: usize| 1.0 - (within - covariance[t]) / total;
    let tau = correlation_time(rho, split.draws);
    // NaN must survive the bound.
    let least = 1.0 / libm::log10(size);
    size / if tau < least { least } else { tau }
}

/// τ from ρ̂₀ = 1 and ρ̂ₜ at 0 < t < n, by pairs (ρ̂₂ₖ, ρ̂₂ₖ₊₁): the sum of such a pair of a reversible chain is
/// positive and falls with k, so the estimate is cut where it is not and kept from rising before.
fn correlation_time(rho: impl Fn(usize) -> f64, n: usize) -> f64 {
    let mut pair = (1.0, rho(1));
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let mut t = 1;
    // Ends with the first pair that is not kept: one of negative sum, or the last that there are lags for.
    while t + 3 < n && pair.0 + pair.1 > 0.0 {
        kept.push(pair);
        pair = (rho(t + 1), rho(t + 2));
        t += 2;
    }
    if (pair.0 + pair.1).is_nan() {
        return f64::NAN;
    }
    // Half of it still belongs to the sum, unless both halves say it is noise.
    let last = if pair.0 > 0.0 || pair.0 + pair.1 >= 0.0 { pair.0 } else { 0.0 };
    let mut sum = 0.0;
    let mut before = f64::INFINITY;
    for (even, odd) in kept {
        before = (even + odd).min(before);
        sum += before;
    }
    2.0 * sum - 1.0 + last
}

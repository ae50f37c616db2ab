//! Effective sample sizes: the number of independent draws with the same Monte Carlo error.

use super::error::probability;
use super::fourier::mean_autocovariance;
use super::moments::{mean, variance};
use super::rank::NormalScores;
use levy_stable::quantiles::quantile_by_selection;

use super::{Chains, DiagnosticError, chains::Split};

/// Range of draws below which they count as constant, as in ArviZ. It is absolute: rescale
/// quantities of this magnitude.
const RESOLUTION: f64 = 1e-15;

impl Chains<'_> {
    /// Returns the effective sample size for the centre of the law, that of the rank-normalised
    /// draws (Vehtari et al. 2021). It requires no moments.
    pub fn ess_bulk(&self) -> f64 {
        if self.has_nan() {
            return f64::NAN;
        }
        let mut split = self.split(|x| x);
        NormalScores::new(split.values.len()).replace(&mut split.values);
        effective(&split)
    }

    /// Returns the effective sample size for the tails, the smaller of
    /// [`ess_quantile`](Self::ess_quantile) at 0.05 and 0.95.
    pub fn ess_tail(&self) -> f64 {
        let low = self.indicator_ess(0.05);
        let high = self.indicator_ess(0.95);
        if high < low { high } else { low }
    }

    /// Returns the effective sample size for the quantile at 0 ≤ p ≤ 1, that of the indicator x ≤
    /// q_p.
    pub fn ess_quantile(&self, p: f64) -> Result<f64, DiagnosticError> {
        Ok(self.indicator_ess(probability(p)?))
    }

    /// Returns the effective sample size for the mean, which is meaningful only if the variance is
    /// finite.
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

/// Returns S/τ for S draws, with τ = −1 + 2 Σ_{t ≤ T} ρ̂ₜ + ρ̂_{T+1}, where T is the end of Geyer's
/// initial positive sequence and ρ̂ is made monotone up to T. The result is at most S log₁₀ S
/// (antithetic chains), S if all draws are equal, and NaN if one is NaN.
///
/// ρ̂ₜ = 1 − (W − Cₜ)/V with Cₜ the mean autocovariance, W = C₀ n/(n−1) and V = C₀ + variance of
/// the means.
fn effective(split: &Split) -> f64 {
    if split.values.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    let (low, high) = split
        .values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
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
    // The bound must preserve NaN.
    let least = 1.0 / libm::log10(size);
    size / if tau < least { least } else { tau }
}

/// Returns τ from ρ̂₀ = 1 and ρ̂ₜ at 0 < t < n. For a reversible chain the sum of a pair (ρ̂₂ₖ,
/// ρ̂₂ₖ₊₁) is positive and decreases with k, so the sum ends at the first pair that is not
/// positive, and pairs before it are made monotone.
fn correlation_time(rho: impl Fn(usize) -> f64, n: usize) -> f64 {
    let mut pair = (1.0, rho(1));
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let mut t = 1;
    // Ends with the first omitted pair: one with a negative sum, or the last available one.
    while t + 3 < n && pair.0 + pair.1 > 0.0 {
        kept.push(pair);
        pair = (rho(t + 1), rho(t + 2));
        t += 2;
    }
    if (pair.0 + pair.1).is_nan() {
        return f64::NAN;
    }
    // The first member of the omitted pair still counts, unless both members indicate noise.
    let last = if pair.0 > 0.0 || pair.0 + pair.1 >= 0.0 { pair.0 } else { 0.0 };
    let mut sum = 0.0;
    let mut before = f64::INFINITY;
    for (even, odd) in kept {
        before = (even + odd).min(before);
        sum += before;
    }
    2.0 * sum - 1.0 + last
}

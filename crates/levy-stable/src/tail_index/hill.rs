//! Hill's estimator.

use super::{Estimate, Sample, TailIndexError, TailIndexEstimator};

/// The mean excess of log|X| over its (k+1)-th largest value, over the k largest:
///
/// > 1/α̂ = (1/k) Σ_{i ≤ k} log(|X|₍ᵢ₎ / |X|₍ₖ₊₁₎).
///
/// It assumes a power tail P(|X| > x) ∝ x^(−α) beyond |X|₍ₖ₊₁₎ and nothing else: no stability, no finite range of α, no
/// scale. So α̂ is not cut off at 2, and for stable laws it is often above: as α → 2 the power tail has a weight ∝ 2 − α and
/// begins beyond all but a few of the numbers, and what Hill sees before is the steeper end of the Gaussian bulk. With the
/// default k and n = 20 000 it says 2.0 for α = 1.75, 3.1 for α = 1.9 and 7.9 for α = 2. Use it below α = 1.5, or for tails that
/// are not stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hill {
    /// The number k of order statistics. `None` is the integer part of n^(2/3)/2 for n numbers, but at least 2: the rate at
    /// which squared bias and variance 1/k balance where the next term of the tail is x^(−2α), as for stable laws.
    pub k: Option<usize>,
}

impl TailIndexEstimator for Hill {
    fn fit(&self, sample: &Sample) -> Result<Estimate, TailIndexError> {
        let mut sizes: Vec<f64> = sample.pooled().iter().filter(|&&x| x != 0.0).map(|x| x.abs()).collect();
        let n = sample.pooled().len();
        let k = self.k.unwrap_or_else(|| (0.5 * libm::pow(n as f64, 2.0 / 3.0)).max(2.0) as usize);
        if k == 0 {
            return Err(TailIndexError::OrderStatistics(k));
        }
        if k >= sizes.len() {
            return Err(TailIndexError::TooFew { needed: k.saturating_add(1), got: sizes.len() });
        }
        let (top, &mut threshold, _) = sizes.select_nth_unstable_by(k, |a, b| b.total_cmp(a));
        // Sorted, so that the sum does not depend on how the selection left them.
        top.sort_unstable_by(f64::total_cmp);
        let base = libm::log(threshold);
        let excess = top.iter().map(|&x| libm::log(x) - base).sum::<f64>() / k as f64;
        if excess > 0.0 {
            Ok(Estimate { alpha: 1.0 / excess, scale: None, zeros: n - sizes.len() })
        } else {
            Err(TailIndexError::NoTail(threshold))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of a Pareto law with index 3, both signs.
    #[test]
    fn pareto_quantiles_have_their_index() {
        let n = 20_000;
        let quantile = |i: usize| ((i as f64 + 0.5) / n as f64).powf(-1.0 / 3.0);
        let x: Vec<f64> = (0..n).flat_map(|i| [quantile(i), -quantile(i)]).collect();
        for k in [None, Some(100), Some(5000)] {
            let alpha = Hill { k }.estimate(&x).unwrap().alpha;
            assert!((alpha - 3.0).abs() < 0.1, "k = {k:?}: {alpha}");
        }
    }
}

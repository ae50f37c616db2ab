//! The block log-moment estimator, from the growth of sums of stable numbers.

use super::log_moments::Logs;
use super::sample::sorted;
use super::{Estimate, TailIndexError, TailIndexEstimator, TailSample};
use crate::quantiles::quantile_of_sorted;

/// Estimates α from the growth of sums.
///
/// The sum of m independent SαS(σ) numbers is SαS(m^(1/α) σ), so that, with Y the sums of blocks of
/// m,
///
/// > 1/α̂ = (mean log|Y| − mean log|X|) / log m
///
/// (Mohammadi, Mohammadpour and Ogata 2015). The estimate is the median over several m. σ follows
/// from the mean of log|X| as in [`LogMoments`](super::LogMoments). α̂ is cut off at 2. Numbers
/// after the last whole block enter X only. Exact zeros in X and Y are excluded.
///
/// The partition of a sample into blocks is arbitrary, so several are averaged: a block consists of
/// numbers 1, 2, 3 … apart. At α = 1.75, eight lags reduce the standard deviation of the original
/// method, which has one, by a third.
///
/// The method uses stability and not the shape of the law: for a law in the domain of attraction of
/// a stable one, the estimate approaches the index of the stable law as m grows. It assumes
/// independence, because sums of correlated numbers grow at another rate. Rows of vectors are
/// summed coordinate by coordinate, so the coordinates may depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLogMoments {
    /// The block sizes m ≥ 2; the sample must contain at least two blocks of each. The variance of
    /// 1/α̂ is nearly ∝ m/log² m, which is smallest at m = e² ≈ 7. Larger m are less accurate for
    /// stable data and less biased for other data.
    pub sizes: Vec<usize>,
    /// The largest distance between successive numbers of a block; 1 (or 0) is the original method.
    /// Distances for which no block fits into the sample are not used.
    pub lags: usize,
}

/// Block sizes around the m of smallest variance.
impl Default for BlockLogMoments {
    fn default() -> Self {
        Self { sizes: vec![4, 6, 8, 12, 16], lags: 8 }
    }
}

impl TailIndexEstimator for BlockLogMoments {
    fn fit(&self, sample: &TailSample) -> Result<Estimate, TailIndexError> {
        let largest = *self.sizes.iter().max().ok_or(TailIndexError::NoBlockSize)?;
        if let Some(&m) = self.sizes.iter().find(|&&m| m < 2) {
            return Err(TailIndexError::BlockSize(m));
        }
        if sample.len() / 2 < largest {
            return Err(TailIndexError::TooFew {
                needed: largest.saturating_mul(2),
                got: sample.len(),
            });
        }
        let logs = Logs::of(sample.pooled())?;
        let slopes = self
            .sizes
            .iter()
            .map(|&m| slope(sample, logs.mean, m, self.lags))
            .collect::<Result<Vec<_>, _>>()?;
        let alpha = 1.0 / quantile_of_sorted(&sorted(&slopes), 0.5).max(0.5);
        Ok(Estimate { alpha, scale: Some(logs.scale(alpha)), zeros: logs.zeros })
    }
}

/// Returns 1/α̂ from blocks of m ≥ 2 numbers, at least two of which fit into the sample.
fn slope(sample: &TailSample, mean_log: f64, m: usize, lags: usize) -> Result<f64, TailIndexError> {
    // Means instead of sums, which could overflow: log|Y| = log m + log|mean|.
    let size = m as f64;
    let mut means = Vec::new();
    for lag in 1..=lags.clamp(1, sample.len() / m) {
        for span in sample.coordinates().flat_map(|x| x.chunks_exact(m * lag)) {
            // A span holds `lag` interleaved blocks, whose j-th numbers are adjacent.
            let first = means.len();
            means.resize(first + lag, 0.0);
            for row in span.chunks_exact(lag) {
                means[first..].iter_mut().zip(row).for_each(|(mean, x)| *mean += x / size);
            }
        }
    }
    Ok(1.0 + (Logs::of(&means)?.mean - mean_log) / libm::log(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of m equal numbers grows as m, which is index 1.
    #[test]
    fn equal_numbers_in_a_block_grow_linearly() {
        let x: Vec<f64> = (0..400).map(|i| f64::from(i / 4) - 49.5).collect();
        let estimate = BlockLogMoments { sizes: vec![4], lags: 1 }.estimate(&x).unwrap();
        assert!((estimate.alpha - 1.0).abs() < 1e-12, "{estimate:?}");
    }

    #[test]
    fn sizes_are_checked() {
        let x: Vec<f64> = (0..100).map(f64::from).collect();
        let fit = |sizes: &[usize]| {
            BlockLogMoments { sizes: sizes.to_vec(), lags: 8 }.estimate(&x).unwrap_err()
        };
        assert_eq!(fit(&[]), TailIndexError::NoBlockSize);
        assert_eq!(fit(&[4, 1]), TailIndexError::BlockSize(1));
        assert_eq!(fit(&[51]), TailIndexError::TooFew { needed: 102, got: 100 });
        assert_eq!(fit(&[51, 60, 4]), TailIndexError::TooFew { needed: 120, got: 100 });
        assert_eq!(fit(&[usize::MAX]), TailIndexError::TooFew { needed: usize::MAX, got: 100 });
    }
}

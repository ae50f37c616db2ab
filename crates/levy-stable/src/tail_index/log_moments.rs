//! The log-moment estimator, from the first two moments of log|X|.

use super::{Estimate, TailIndexError, TailIndexEstimator, TailSample};
use std::f64::consts::PI;

/// Euler's constant C.
pub(super) const EULER: f64 = 0.577_215_664_901_532_9;

/// Estimates α and σ from the mean and variance of log|X|, which are finite for every α:
///
/// > E log|X| = C(1/α − 1) + log σ,  Var log|X| = (π²/6)(1/α² + 1/2),  C = 0.5772… (Euler's constant).
///
/// α̂ is cut off at 2, where the variance is π²/8; no stable law has a smaller one. Exact zeros are
/// excluded and counted in [`Estimate::zeros`]. Many zeros, or many numbers near zero, mean that
/// the law is not stable, and α̂ is then too small. Near α = 2 the variance of the estimate is
/// large, because numbers near the centre contribute most to that of log|X|.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogMoments;

impl TailIndexEstimator for LogMoments {
    fn fit(&self, sample: &TailSample) -> Result<Estimate, TailIndexError> {
        let logs = Logs::of(sample.pooled())?;
        let alpha = 1.0 / libm::sqrt((6.0 / (PI * PI) * logs.variance - 0.5).max(0.25));
        Ok(Estimate { alpha, scale: Some(logs.scale(alpha)), zeros: logs.zeros })
    }
}

/// Mean and variance of log|x| over all x ≠ 0.
pub(super) struct Logs {
    pub(super) mean: f64,
    pub(super) variance: f64,
    pub(super) zeros: usize,
}

impl Logs {
    /// Computes them; at least two numbers must differ from 0.
    pub(super) fn of(x: &[f64]) -> Result<Self, TailIndexError> {
        let logs: Vec<f64> = x.iter().filter(|&&x| x != 0.0).map(|x| libm::log(x.abs())).collect();
        if logs.len() < 2 {
            return Err(TailIndexError::TooFew { needed: 2, got: logs.len() });
        }
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / (n - 1.0);
        Ok(Self { mean, variance, zeros: x.len() - logs.len() })
    }

    /// Returns σ of the law with this α.
    pub(super) fn scale(&self, alpha: f64) -> f64 {
        scale_of(self.mean, alpha)
    }
}

/// Returns σ = exp(E log|X| − C(1/α − 1)), clamped to the positive normal doubles.
pub(super) fn scale_of(mean_log: f64, alpha: f64) -> f64 {
    libm::exp(log_scale_of(mean_log, alpha)).clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// Returns log σ = E log|X| − C(1/α − 1), with C Euler's constant.
pub fn log_scale_of(mean_log: f64, alpha: f64) -> f64 {
    mean_log - EULER * (1.0 / alpha - 1.0)
}

/// Returns Var log|X| = (π²/6)(1/α² + 1/2).
pub fn log_variance(alpha: f64) -> f64 {
    PI * PI / 6.0 * (1.0 / (alpha * alpha) + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of the Cauchy law instead of draws: log|X| has mean 0 and variance π²/4.
    #[test]
    fn cauchy_quantiles_have_index_one() {
        let n = 100_000;
        let x: Vec<f64> =
            (0..n).map(|i| 3.0 * (PI * ((i as f64 + 0.5) / n as f64 - 0.5)).tan()).collect();
        let estimate = LogMoments.estimate(&x).unwrap();
        assert!((estimate.alpha - 1.0).abs() < 1e-3, "{estimate:?}");
        assert!((estimate.scale.unwrap() - 3.0).abs() < 1e-3, "{estimate:?}");
    }

    #[test]
    fn too_little_spread_is_gaussian() {
        let x: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(LogMoments.estimate(&x).unwrap().alpha, 2.0);
    }
}

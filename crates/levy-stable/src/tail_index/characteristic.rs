//! The estimator of Koutrouvelis: regression on the empirical characteristic function.

use super::{Estimate, LogMoments, TailIndexError, TailIndexEstimator, TailSample};
use std::f64::consts::PI;

/// Spacing of the regression points t for data of unit scale (Koutrouvelis 1980).
const SPACING: f64 = PI / 25.0;
/// Numbers processed together, so that the inner loop is vectorised.
const BLOCK: usize = 64;

/// Estimates α and σ by regression on the empirical characteristic function (Koutrouvelis 1980,
/// symmetric case).
///
/// From |φ(t)|² = exp(−2|σt|^α) follows the straight line
///
/// > log(−log|φ(t)|²) = log 2 + α log σ + α log|t|.
///
/// φₙ(t) is the mean of e^(itX) over the data divided by the current σ. Least squares through the
/// points t = kπ/25, k = 1 … K, give the next α and σ. K depends on α and n by the table of
/// Koutrouvelis, which minimises the variance. The iteration starts from [`LogMoments`]. α̂ is cut
/// off at 2, and σ̂ is then the least-squares scale for α = 2.
///
/// This is the most accurate of the estimators on stable data. It is sensitive to the centre of the
/// law (the K points extend to |φ| ≈ 0.3), so for data that are not stable it describes the bulk,
/// not the tail. |φₙ| does not depend on the location.
///
/// For samples of 10 to 15 numbers the iteration diverges, and returns an error, in up to 3 % of
/// samples. It diverged for none of 300 samples of 20 or more numbers with α = 0.5, 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacteristicRegression {
    /// Largest number of regressions (0 counts as 1). The iteration stops earlier when σ changes by
    /// less than 10⁻³ of itself.
    pub rounds: usize,
}

impl Default for CharacteristicRegression {
    fn default() -> Self {
        Self { rounds: 10 }
    }
}

impl TailIndexEstimator for CharacteristicRegression {
    fn fit(&self, sample: &TailSample) -> Result<Estimate, TailIndexError> {
        let x = sample.pooled();
        let mut current = Line::from(LogMoments.fit(sample)?);
        for _ in 0..self.rounds.max(1) {
            let next = regression(x, &current)?;
            let moved = libm::fabs(libm::log(next.scale / current.scale));
            current = next;
            if moved < 1e-3 {
                break;
            }
        }
        Ok(Estimate { alpha: current.alpha, scale: Some(current.scale), zeros: 0 })
    }
}

/// The parameters between two regressions.
struct Line {
    alpha: f64,
    scale: f64,
}

impl From<Estimate> for Line {
    fn from(start: Estimate) -> Self {
        Self { alpha: start.alpha, scale: start.scale.unwrap_or(1.0) }
    }
}

/// Performs one regression on the data divided by the current scale.
fn regression(x: &[f64], unit: &Line) -> Result<Line, TailIndexError> {
    let squares = characteristic_squares(x, unit.scale, points(unit.alpha, x.len()));
    let line: Vec<(f64, f64)> = (1..)
        .zip(squares)
        .filter(|&(_, square)| square > 0.0 && square < 1.0)
        .map(|(k, square)| (libm::log(f64::from(k) * SPACING), libm::log(-libm::log(square))))
        .collect();
    if line.len() < 2 {
        return Err(TailIndexError::Characteristic(line.len()));
    }
    let n = line.len() as f64;
    let (mean_t, mean_y) =
        (line.iter().map(|p| p.0).sum::<f64>() / n, line.iter().map(|p| p.1).sum::<f64>() / n);
    let (mut cross, mut square) = (0.0, 0.0);
    for (t, y) in line {
        cross += (t - mean_t) * (y - mean_y);
        square += (t - mean_t) * (t - mean_t);
    }
    // Data that are not stable can give a slope ≤ 0. The lower bound keeps 1/α moderate.
    let alpha = (cross / square).clamp(0.01, 2.0);
    let scale = unit.scale * libm::exp((mean_y - alpha * mean_t - std::f64::consts::LN_2) / alpha);
    Ok(Line { alpha, scale: scale.clamp(f64::MIN_POSITIVE, f64::MAX) })
}

/// |φₙ(kπ/25)|² for k = 1 … `points`, of x/`scale`.
fn characteristic_squares(x: &[f64], scale: f64, points: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); points];
    for x in x.chunks(BLOCK) {
        // The unused entries of the last block have weight 0.
        let (mut cos, mut sin, mut re, mut im) =
            ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for (i, x) in x.iter().enumerate() {
            let angle = (SPACING * (x / scale)).clamp(-1e300, 1e300);
            (sin[i], cos[i]) = libm::sincos(angle);
            re[i] = 1.0;
        }
        for sum in &mut sums {
            let (mut sum_re, mut sum_im) = (0.0, 0.0);
            for i in 0..BLOCK {
                (re[i], im[i]) = (re[i] * cos[i] - im[i] * sin[i], re[i] * sin[i] + im[i] * cos[i]);
            }
            for i in 0..BLOCK {
                sum_re += re[i];
                sum_im += im[i];
            }
            *sum = (sum.0 + sum_re, sum.1 + sum_im);
        }
    }
    let n = x.len() as f64;
    sums.into_iter().map(|(re, im)| (re * re + im * im) / (n * n)).collect()
}

/// Koutrouvelis's number of points K(α, n), linear between the entries of his table and constant
/// beyond.
fn points(alpha: f64, n: usize) -> usize {
    const ALPHAS: [f64; 8] = [0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.9];
    const SIZES: [f64; 3] = [200.0, 800.0, 1600.0];
    const POINTS: [[f64; 8]; 3] = [
        [134.0, 86.0, 30.0, 28.0, 24.0, 22.0, 11.0, 9.0],
        [124.0, 68.0, 24.0, 22.0, 18.0, 16.0, 11.0, 9.0],
        [118.0, 56.0, 20.0, 18.0, 15.0, 14.0, 11.0, 10.0],
    ];
    let at_alpha = POINTS.map(|row| interpolate(&ALPHAS, &row, alpha));
    interpolate(&SIZES, &at_alpha, n as f64).round() as usize
}

/// Through (x, y) by straight lines, constant outside.
fn interpolate(x: &[f64], y: &[f64], at: f64) -> f64 {
    let at = at.clamp(x[0], x[x.len() - 1]);
    let i = x.partition_point(|&x| x < at).max(1);
    y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_the_tabulated_ones() {
        assert_eq!(points(1.5, 200), 11);
        assert_eq!(points(0.5, 800), 68);
        assert_eq!(points(0.1, 1_000_000), 118);
        assert_eq!(points(2.0, 10), 9);
        assert_eq!(points(1.2, 1200), 16);
    }

    /// Compares the rotations with sines and cosines, for a length that is not a multiple of the
    /// block.
    #[test]
    fn rotations_follow_the_exponential() {
        let x: Vec<f64> = (0..149).map(|i| 40.0 * f64::from(i * i % 149) / 149.0 - 17.0).collect();
        for (k, square) in (1..).zip(characteristic_squares(&x, 1.7, 134)) {
            let t = f64::from(k) * SPACING / 1.7;
            let (re, im) =
                x.iter().fold((0.0, 0.0), |(re, im), x| (re + (t * x).cos(), im + (t * x).sin()));
            assert!((square - (re * re + im * im) / (149.0 * 149.0)).abs() < 1e-12, "k = {k}");
        }
    }
}

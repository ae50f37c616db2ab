//! The known answers of the mixing study: moments or quantiles of each coordinate, and how far
//! draws are from them.
//!
//! Most are closed forms. Where f is quadratic in all coordinates but one, [`conditionally_normal`]
//! integrates the others exactly and the last one by quadrature. The logistic regression and the
//! stochastic-volatility model have neither; their moments in `references.csv` come from NUTS runs
//! that are a hundred times as long as those of the study.

use fuld::Potential;
use fuld::diagnostics::{Chains, DiagnosticError};
use std::ops::Range;

/// Moments from long runs: target, coordinate, mean, sd, and the Monte Carlo standard errors of
/// both.
const REFERENCES: &str = include_str!("references.csv");

/// What is known of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    /// Mean and standard deviation, with the errors to which they are known.
    Moments { mean: f64, sd: f64, mean_error: f64, sd_error: f64 },
    /// The median and the quantile at 0.95, for laws whose moments do not exist or cannot be
    /// estimated.
    Quantiles { median: f64, q95: f64 },
}

impl Answer {
    /// Returns exact moments.
    pub(super) fn moments(mean: f64, sd: f64) -> Self {
        Self::Moments { mean, sd, mean_error: 0.0, sd_error: 0.0 }
    }

    /// Returns the larger of the two errors of the draws, in units of its Monte Carlo standard
    /// error.
    pub(super) fn z(&self, draws: &[Vec<f64>]) -> Result<f64, DiagnosticError> {
        let chains = Chains::new(draws)?;
        Ok(match *self {
            Self::Moments { mean, sd, mean_error, sd_error } => {
                let found = Moments::of(draws)?;
                let [a, b] = [
                    (found.mean - mean, found.mean_error, mean_error),
                    (found.sd - sd, found.sd_error, sd_error),
                ]
                .map(|(distance, mcse, error)| distance.abs() / mcse.hypot(error));
                a.max(b)
            }
            Self::Quantiles { median, q95 } => {
                let mut pooled = chains.pooled();
                let mut z = 0.0f64;
                for (p, exact) in [(0.5, median), (0.95, q95)] {
                    let place = (p * (pooled.len() - 1) as f64).round() as usize;
                    let found = *pooled.select_nth_unstable_by(place, f64::total_cmp).1;
                    z = z.max((found - exact).abs() / chains.mcse_quantile(p)?);
                }
                z
            }
        })
    }
}

/// Estimated moments with their Monte Carlo standard errors.
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) sd: f64,
    pub(super) mean_error: f64,
    pub(super) sd_error: f64,
}

impl Moments {
    pub(super) fn of(draws: &[Vec<f64>]) -> Result<Self, DiagnosticError> {
        let chains = Chains::new(draws)?;
        let pooled = chains.pooled();
        let mean = pooled.iter().sum::<f64>() / pooled.len() as f64;
        let squares: Vec<Vec<f64>> = draws
            .iter()
            .map(|chain| chain.iter().map(|x| (x - mean) * (x - mean)).collect())
            .collect();
        let sd = (squares.iter().flatten().sum::<f64>() / pooled.len() as f64).sqrt();
        // The error of the variance s² is 2s times that of s.
        let sd_error = Chains::new(&squares)?.mcse_mean() / (2.0 * sd);
        Ok(Self { mean, sd, mean_error: chains.mcse_mean(), sd_error })
    }
}

/// Returns the moments of all coordinates where f is a quadratic function of all of them but `one`,
/// which is integrated over `range` by the trapezoidal rule. The quadratic function is read from
/// the gradients.
pub(super) fn conditionally_normal(
    potential: &dyn Potential,
    one: usize,
    range: Range<f64>,
) -> Vec<Answer> {
    /// Intervals of the rule. Its error falls exponentially for a smooth integrand that vanishes at
    /// both ends.
    const INTERVALS: usize = 4000;
    let dim = potential.dim();
    let others: Vec<usize> = (0..dim).filter(|&i| i != one).collect();
    let (mut logs, mut moments) = (Vec::new(), Vec::new());
    for i in 0..=INTERVALS {
        let mut x = vec![0.0; dim];
        x[one] = range.start + (range.end - range.start) * i as f64 / INTERVALS as f64;
        let gradient = |x: &[f64]| {
            let mut gradient = vec![0.0; dim];
            potential.gradient(x, &mut gradient);
            others.iter().map(|&i| gradient[i]).collect::<Vec<f64>>()
        };
        let at_zero = gradient(&x);
        let hessian = others.iter().map(|&j| {
            let mut x = x.clone();
            x[j] = 1.0;
            gradient(&x).iter().zip(&at_zero).map(|(g, zero)| g - zero).collect::<Vec<f64>>()
        });
        let factor = Cholesky::new(hessian.collect());
        let means: Vec<f64> = factor.solve(&at_zero).iter().map(|x| -x).collect();
        // ∫ exp(−f) over the others is exp(−f(0) − ½ ∇f(0)·m) √(2π)^(d−1)/√det.
        let exponent: f64 = at_zero.iter().zip(&means).map(|(g, m)| g * m).sum();
        logs.push(-potential.value(&x) - 0.5 * exponent - 0.5 * factor.log_determinant());
        let mut first_and_second: Vec<(f64, f64)> = (0..others.len())
            .map(|i| (means[i], means[i] * means[i] + factor.inverse_diagonal(i)))
            .collect();
        first_and_second.insert(one, (x[one], x[one] * x[one]));
        moments.push(first_and_second);
    }
    let most = logs.iter().fold(f64::NEG_INFINITY, |a: f64, b| a.max(*b));
    let weights: Vec<f64> = logs.iter().map(|log| libm::exp(log - most)).collect();
    (0..dim)
        .map(|i| {
            let mean = weighted_mean(&weights, moments.iter().map(|m| m[i].0));
            // About the mean, where few digits cancel.
            let about_mean =
                |(first, second): (f64, f64)| second - 2.0 * mean * first + mean * mean;
            let variance = weighted_mean(&weights, moments.iter().map(|m| about_mean(m[i])));
            Answer::moments(mean, variance.sqrt())
        })
        .collect()
}

fn weighted_mean(weights: &[f64], values: impl Iterator<Item = f64>) -> f64 {
    weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>()
        / weights.iter().sum::<f64>()
}

/// The lower triangular factor L of a symmetric positive definite matrix L Lᵀ.
struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    fn new(mut a: Vec<Vec<f64>>) -> Self {
        for i in 0..a.len() {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
                a[i][j] = if i == j { (a[i][i] - sum).sqrt() } else { (a[i][j] - sum) / a[j][j] };
            }
        }
        Self(a)
    }

    fn log_determinant(&self) -> f64 {
        2.0 * (0..self.0.len()).map(|i| libm::log(self.0[i][i])).sum::<f64>()
    }

    /// Returns L⁻¹b.
    fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut y = b.to_vec();
        for i in 0..y.len() {
            let sum: f64 = (0..i).map(|k| self.0[i][k] * y[k]).sum();
            y[i] = (y[i] - sum) / self.0[i][i];
        }
        y
    }

    /// Returns (L Lᵀ)⁻¹b.
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.forward(b);
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|k| self.0[k][i] * x[k]).sum();
            x[i] = (x[i] - sum) / self.0[i][i];
        }
        x
    }

    /// Returns a diagonal entry of the inverse, |L⁻¹eᵢ|².
    fn inverse_diagonal(&self, i: usize) -> f64 {
        let unit: Vec<f64> = (0..self.0.len()).map(|j| f64::from(u8::from(i == j))).collect();
        self.forward(&unit).iter().map(|y| y * y).sum()
    }
}

/// Returns the 95 % quantile of the second coordinate of the funnel of scale 3: that of N(0, e^v)
/// averaged over v ~ N(0, 3²).
pub(super) fn funnel_quantile() -> f64 {
    // Distribution function at e^y, less 0.95, by the trapezoidal rule over v/3 from −9 to 9.
    let excess = |y: f64| {
        let term = |i: i32| {
            let u = f64::from(i) / 50.0;
            let weight = libm::exp(-0.5 * u * u) / (50.0 * (2.0 * core::f64::consts::PI).sqrt());
            weight
                * (0.5 * libm::erfc(-libm::exp(y - 1.5 * u) * core::f64::consts::FRAC_1_SQRT_2)
                    - 0.95)
        };
        (-450..=450).map(term).sum::<f64>()
    };
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    libm::exp(low)
}

/// Returns the moments of a target in `references.csv`.
pub(super) fn references(target: &str) -> Vec<Answer> {
    let rows = REFERENCES.lines().filter_map(|line| line.strip_prefix(target)?.strip_prefix(','));
    let answer = |row: &str| {
        let mut cells = row.split(',').skip(1).filter_map(|cell| cell.parse().ok());
        let [mean, sd, mean_error, sd_error] = [(); 4].map(|()| cells.next().unwrap_or(f64::NAN));
        Answer::Moments { mean, sd, mean_error, sd_error }
    };
    rows.map(answer).collect()
}

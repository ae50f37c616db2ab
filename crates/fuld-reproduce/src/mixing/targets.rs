//! The targets of the mixing study, with their known answers.

use super::answers::{Answer, conditionally_normal, funnel_quantile, references};
use super::{ALPHAS, PlannedRun, models};
use fuld::gibbs::Gibbs;
use fuld::potential::{Cauchy, DoubleWell, Funnel, GaussianMixture, Harmonic};
use fuld::{Beta, Potential};
use std::sync::Arc;

/// Dimension of the Gaussians.
const DIM: usize = 20;
/// Distance of neighbouring modes of the mixture, in units of their standard deviation.
const SPACING: f64 = 8.0;

/// The target with many modes, on which tempering is measured too.
pub(super) const MODES: &str = "25 modes";
/// Runs per method where they are short …
pub(super) const RUNS: u64 = 3;
/// … and where they take several seconds.
pub(super) const ONCE: u64 = 1;
/// Their least tail index.
pub(super) const LEAST_FOR_ONCE: f64 = 1.5;

/// A target.
pub(super) struct Problem {
    /// Its name in the tables.
    pub(super) name: &'static str,
    pub(super) potential: Arc<dyn Potential>,
    /// Runs per method. Tables and figures show their median.
    pub(super) runs: u64,
    /// What is known of each coordinate.
    pub(super) answers: Vec<Answer>,
}

impl Problem {
    /// Returns the tail indices at which the target is sampled: all, or those with longer steps where
    /// a run takes several seconds.
    pub(super) fn alphas(&self) -> impl Iterator<Item = f64> {
        let least = if self.runs == ONCE { LEAST_FOR_ONCE } else { 0.0 };
        ALPHAS.into_iter().filter(move |&alpha| alpha >= least)
    }
}

impl PlannedRun<'_> {
    /// Returns about how long the run takes, in any unit.
    pub(super) fn work(&self) -> f64 {
        if self.problem.runs == ONCE { 5.0 } else { 1.0 }
    }
}

/// Returns the standard deviations of the Gaussians: from 0.1 to 10, so that the covariance has the
/// condition number 10⁴.
fn scales() -> [f64; DIM] {
    core::array::from_fn(|i| libm::exp10(2.0 * i as f64 / (DIM - 1) as f64 - 1.0))
}

/// Returns an orthogonal matrix, row after row: random rows made orthonormal one after the other.
fn rotation() -> anyhow::Result<Vec<Vec<f64>>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for row in models::normals(7, DIM * DIM)?.chunks_exact(DIM) {
        let mut row = row.to_vec();
        for earlier in &rows {
            let product: f64 = row.iter().zip(earlier).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(earlier).for_each(|(a, b)| *a -= product * b);
        }
        let norm = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        rows.push(row.iter().map(|a| a / norm).collect());
    }
    Ok(rows)
}

/// Returns all targets.
pub(super) fn problems() -> anyhow::Result<Vec<Problem>> {
    let scales = scales();
    let rotation = rotation()?;
    // Σₖ Qₖᵢ sₖ^p Qₖⱼ: the covariance for p = 2, the precision for p = −2.
    let rotated = |i: usize, j: usize, power: i32| -> f64 {
        (0..DIM).map(|k| rotation[k][i] * scales[k].powi(power) * rotation[k][j]).sum()
    };
    let precision = (0..DIM * DIM).map(|ij| rotated(ij / DIM, ij % DIM, -2)).collect();
    let schools = models::eight_schools();
    let linear = models::linear_regression()?;
    let well = DoubleWell::new(1, 1.0, 1.0)?;
    let second_moment = Gibbs::new(&well, Beta::ONE)?.expectation(|x| x * x);
    let places = || (-2..=2).map(|i| SPACING * f64::from(i));
    let means: Vec<Vec<f64>> = places().flat_map(|a| places().map(move |b| vec![a, b])).collect();
    let across = (1.0 + 2.0 * SPACING * SPACING).sqrt();

    let normal = |sd: f64| Answer::moments(0.0, sd);
    Ok(vec![
        Problem {
            name: "Gaussian",
            runs: RUNS,
            potential: Arc::new(Harmonic::new(scales.map(|s| 1.0 / (s * s)))?),
            answers: scales.map(normal).into(),
        },
        Problem {
            name: "rotated Gaussian",
            runs: ONCE,
            potential: models::normal(precision, DIM),
            answers: (0..DIM).map(|i| normal(rotated(i, i, 2).sqrt())).collect(),
        },
        Problem {
            name: "eight schools",
            runs: RUNS,
            // τ between e^(−20) and e^(12): the half-Cauchy prior leaves less than 10⁻⁸ outside.
            answers: conditionally_normal(&*schools, 1, -20.0..12.0),
            potential: schools,
        },
        Problem {
            name: "logistic regression",
            runs: ONCE,
            potential: models::logistic_regression()?,
            answers: references("logistic regression"),
        },
        Problem {
            name: "linear regression",
            runs: RUNS,
            // ln σ is 0.405 ± 0.016 or so.
            answers: conditionally_normal(&*linear, 5, 0.2..0.6),
            potential: linear,
        },
        Problem {
            name: "funnel",
            runs: RUNS,
            potential: Arc::new(Funnel::new(2, 3.0)?),
            answers: vec![normal(3.0), Answer::Quantiles { median: 0.0, q95: funnel_quantile() }],
        },
        Problem {
            name: "banana",
            runs: RUNS,
            potential: models::banana(),
            // The variance of 0.03 a² is 0.03² · 2 · 10⁴ = 18.
            answers: vec![normal(10.0), normal(19f64.sqrt())],
        },
        Problem {
            name: "Student t₂",
            runs: RUNS,
            potential: models::student(),
            answers: vec![Answer::Quantiles { median: 0.0, q95: 0.9 / 0.095f64.sqrt() }],
        },
        Problem {
            name: "Cauchy",
            runs: RUNS,
            potential: Arc::new(Cauchy::new(1, 1.0)?),
            answers: vec![Answer::Quantiles {
                median: 0.0,
                q95: libm::tan(0.45 * core::f64::consts::PI),
            }],
        },
        Problem {
            name: "double well",
            runs: RUNS,
            potential: Arc::new(well),
            answers: vec![normal(second_moment.sqrt())],
        },
        Problem {
            name: MODES,
            runs: RUNS,
            potential: Arc::new(GaussianMixture::new(&[1.0; 25], &means, &[1.0; 25])?),
            answers: vec![normal(across); 2],
        },
        Problem {
            name: "stochastic volatility",
            runs: ONCE,
            potential: models::stochastic_volatility()?,
            answers: references("stochastic volatility"),
        },
    ])
}

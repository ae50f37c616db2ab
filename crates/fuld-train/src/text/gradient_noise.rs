//! The tails of the gradient noise of each tensor, at fixed weights.
//!
//! Quadruples of independent minibatches give differences of two gradients and contrasts of four. The tail index follows from how much
//! wider the contrasts are than the differences.

use super::language::Language;
use super::spec::TextSpec;
use super::transformer::Transformer;
use burn::backend::Flex;
use levy_stable::tail_index::{QuadrupleEstimate, Quadruples};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Quadruples of minibatches.
const QUADRUPLES: u64 = 32;
/// Most coordinates of a tensor that are used.
const COORDINATES: usize = 2048;
/// Number of the first minibatch, beyond those of any training run.
const FIRST_MINIBATCH: u64 = 1 << 32;

/// The gradient noise of one tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorNoise {
    /// Name of the tensor.
    pub tensor: String,
    /// Whether the tensor has a row or a column for every word.
    pub per_word: bool,
    /// Estimated tail index.
    pub alpha: f64,
    /// Its standard error.
    pub alpha_error: f64,
    /// Estimated noise scale.
    pub noise_scale: f64,
    /// Its standard error.
    pub noise_scale_error: f64,
    /// Share of the quadruples in which two of the four gradients are equal, mostly 0. They carry no information.
    pub silent: f64,
}

/// Mean logarithms over the coordinates of a tensor in one quadruple.
#[derive(Clone, Copy)]
struct MeanLogs {
    difference: f64,
    growth: f64,
    silent: f64,
}

/// Estimates the gradient noise of every tensor.
pub(super) fn gradient_noise(
    spec: &TextSpec,
    language: &Language,
    model: &Transformer<Flex>,
) -> Vec<TensorNoise> {
    let quadruples: Vec<Vec<MeanLogs>> = (0..QUADRUPLES)
        .into_par_iter()
        .map(|quadruple| {
            let four: [Vec<Vec<f32>>; 4] = std::array::from_fn(|n| {
                let step = FIRST_MINIBATCH + 4 * quadruple + n as u64;
                let (_, gradients) =
                    model.gradients(&spec.task.minibatch(language, spec.task.evaluation_seed, step));
                gradients.into_iter().map(|g| g.into_data().iter::<f32>().collect()).collect()
            });
            (0..four[0].len())
                .map(|tensor| mean_logs(std::array::from_fn(|n| &four[n][tensor][..])))
                .collect()
        })
        .collect();
    let noise = |(n, (tensor, rows, columns)): (usize, (&'static str, usize, usize))| {
        let logs: Vec<MeanLogs> = quadruples.iter().map(|all| all[n]).collect();
        let QuadrupleEstimate { alpha, alpha_error, scale, scale_error } = estimate(&logs);
        TensorNoise {
            tensor: tensor.into(),
            per_word: [rows, columns].contains(&spec.task.shape.words),
            alpha,
            alpha_error,
            noise_scale: scale,
            noise_scale_error: scale_error,
            silent: logs.iter().map(|logs| logs.silent).sum::<f64>() / logs.len() as f64,
        }
    };
    spec.task.shape.tensors().into_iter().enumerate().map(noise).collect()
}

/// Averages over the coordinates in which all differences and contrasts are nonzero.
fn mean_logs(gradients: [&[f32]; 4]) -> MeanLogs {
    // An odd step, so that it does not divide the number of columns and visits all of them.
    let step = gradients[0].len().div_ceil(COORDINATES) | 1;
    let (mut difference, mut growth, mut used, mut visited) = (0.0, 0.0, 0.0, 0.0);
    for i in (0..gradients[0].len()).step_by(step) {
        visited += 1.0;
        let [a, b, c, d] = gradients.map(|g| f64::from(g[i]));
        let log = |numbers: &[f64]| numbers.iter().map(|x| x.abs().ln()).sum::<f64>() / numbers.len() as f64;
        let differences = log(&[a - b, c - d, a - c, b - d, a - d, b - c]);
        let contrasts = log(&[a + b - c - d, a - b + c - d, a - b - c + d]);
        if differences.is_finite() && contrasts.is_finite() {
            difference += differences;
            growth += contrasts - differences;
            used += 1.0;
        }
    }
    MeanLogs { difference: difference / used, growth: growth / used, silent: 1.0 - used / visited }
}

/// Estimates tail index and scale. Coordinates of one minibatch are dependent, quadruples are not, so standard errors come from the
/// spread over quadruples.
fn estimate(logs: &[MeanLogs]) -> QuadrupleEstimate {
    let known: Vec<&MeanLogs> = logs.iter().filter(|logs| logs.growth.is_finite()).collect();
    let count = known.len() as f64;
    let mean = |of: &dyn Fn(&MeanLogs) -> f64| known.iter().map(|logs| of(logs)).sum::<f64>() / count;
    let (mean_log, growth) = (mean(&|logs| logs.difference), mean(&|logs| logs.growth));
    let moment = |of: &dyn Fn(f64, f64) -> f64| {
        mean(&|logs| of(logs.difference - mean_log, logs.growth - growth)) / (count - 1.0)
    };
    let quadruples = Quadruples {
        mean_log,
        growth,
        mean_log_variance: moment(&|a, _| a * a),
        growth_variance: moment(&|_, b| b * b),
        covariance: moment(&|a, b| a * b),
    };
    quadruples.estimate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuld::random::{Purpose, Stream};
    use levy_stable::SymmetricStable;

    /// Coordinates whose centres and scales differ by orders of magnitude, every third of them silent: within 4 standard errors (one false
    /// alarm in 16,000 seeds for each α).
    #[test]
    fn estimates_match_the_noise() {
        for alpha in [1.0, 1.5, 1.9] {
            let sampler = SymmetricStable::new(alpha).unwrap().sampler();
            let vector = |n: u64| -> Vec<f32> {
                let (mut words, mut draws) = (vec![0; 500], vec![0.0; 500]);
                Stream::new(5, n, Purpose::Noise).fill(0, &mut words);
                sampler.transform(&words, &mut draws);
                let at = |(i, x): (usize, f64)| match i % 3 {
                    0 => 0.0,
                    _ => 10f64.powi(-(i as i32 % 5)) * (x + i as f64 / 50.0),
                };
                draws.into_iter().enumerate().map(|draw| at(draw) as f32).collect()
            };
            let quadruple = |n: u64| {
                let four: [Vec<f32>; 4] = std::array::from_fn(|k| vector(4 * n + k as u64));
                mean_logs(std::array::from_fn(|k| &four[k][..]))
            };
            let all: Vec<MeanLogs> = (0..32).map(quadruple).collect();
            assert!((all[0].silent - 1.0 / 3.0).abs() < 0.01);
            let estimated = estimate(&all);
            assert!((estimated.alpha - alpha).abs() < 4.0 * estimated.alpha_error, "{alpha}: {estimated:?}");
            assert!(estimated.alpha_error < 0.1, "{estimated:?}");
        }
    }
}

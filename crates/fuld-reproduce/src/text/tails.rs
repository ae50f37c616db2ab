//! How heavy the tails of the gradient noise are, tensor by tensor, at fixed parameters.

use super::plan::Plan;
use burn::backend::Flex;
use fuld_train::language::Language;
use fuld_train::transformer::Transformer;
use levy_stable::tail_index::{QuadrupleEstimate, Quadruples};
use rayon::prelude::*;

/// Four minibatches each.
const QUADRUPLES: u64 = 32;
/// At most so many coordinates of a tensor are looked at.
const COORDINATES: usize = 2048;
/// Minibatches that no run has seen: after as many steps as no run takes.
const FIRST: u64 = 1 << 32;

/// What was found of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tail {
    pub(super) tensor: &'static str,
    /// Whether it has a row or a column for every word.
    pub(super) of_words: bool,
    pub(super) estimate: QuadrupleEstimate,
    /// Of all quadruples of a coordinate, the share in which two of the four gradients were equal, mostly 0, and which tell nothing.
    pub(super) silent: f64,
}

/// The mean logarithms of a tensor in one quadruple of minibatches.
#[derive(Clone, Copy)]
struct Logs {
    difference: f64,
    growth: f64,
    silent: f64,
}

/// The tails of every tensor.
pub(super) fn tails(plan: &Plan, language: &Language, model: &Transformer<Flex>, seed: u64) -> Vec<Tail> {
    let quadruples: Vec<Vec<Logs>> = (0..QUADRUPLES)
        .into_par_iter()
        .map(|quadruple| {
            let four: [Vec<Vec<f32>>; 4] = std::array::from_fn(|n| {
                let step = FIRST + 4 * quadruple + n as u64;
                let (_, gradients) = model.gradients(&plan.minibatch(language, seed, step));
                gradients.into_iter().map(|g| g.into_data().iter::<f32>().collect()).collect()
            });
            (0..four[0].len()).map(|tensor| logs(std::array::from_fn(|n| &four[n][tensor][..]))).collect()
        })
        .collect();
    let tail = |(n, (tensor, rows, columns)): (usize, (&'static str, usize, usize))| {
        let logs: Vec<Logs> = quadruples.iter().map(|all| all[n]).collect();
        let silent = logs.iter().map(|logs| logs.silent).sum::<f64>() / logs.len() as f64;
        let of_words = [rows, columns].contains(&plan.shape.words);
        Tail { tensor, of_words, estimate: estimate(&logs), silent }
    };
    plan.shape.tensors().into_iter().enumerate().map(tail).collect()
}

/// Of the coordinates in which all four gradients differ, and so do their sums of two.
fn logs(gradients: [&[f32]; 4]) -> Logs {
    // A step that divides the columns would look at a few of them only.
    let step = gradients[0].len().div_ceil(COORDINATES) | 1;
    let (mut difference, mut growth, mut used, mut seen) = (0.0, 0.0, 0.0, 0.0);
    for i in (0..gradients[0].len()).step_by(step) {
        seen += 1.0;
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
    Logs { difference: difference / used, growth: growth / used, silent: 1.0 - used / seen }
}

/// Coordinates of one minibatch depend on each other, quadruples do not: errors are from the spread of these.
fn estimate(logs: &[Logs]) -> QuadrupleEstimate {
    let known: Vec<&Logs> = logs.iter().filter(|logs| logs.growth.is_finite()).collect();
    let count = known.len() as f64;
    let mean = |of: &dyn Fn(&Logs) -> f64| known.iter().map(|logs| of(logs)).sum::<f64>() / count;
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
    fn tails_are_those_of_the_noise() {
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
                logs(std::array::from_fn(|k| &four[k][..]))
            };
            let all: Vec<Logs> = (0..32).map(quadruple).collect();
            assert!((all[0].silent - 1.0 / 3.0).abs() < 0.01);
            let found = estimate(&all);
            assert!((found.alpha - alpha).abs() < 4.0 * found.alpha_error, "{alpha}: {found:?}");
            assert!(found.alpha_error < 0.1, "{found:?}");
        }
    }
}

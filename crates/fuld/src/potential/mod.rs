//! Potentials f, whose Gibbs measure exp(−βf) is the target.
//!
//! - [`Formula`]: from text, with symbolic gradients.
//! - [`FromFn`], [`FromFn1`]: from closures.
//! - [`DoubleWell`], [`Harmonic`], [`Cauchy`], [`GaussianMixture`], [`Rosenbrock`], [`Funnel`]: classics.
//! - [`LogisticRegression`]: a posterior with minibatches.

mod cauchy;
mod closure;
mod double_well;
mod error;
mod formula;
mod funnel;
mod harmonic;
mod logistic;
mod mixture;
mod rosenbrock;

pub use cauchy::Cauchy;
pub use closure::{FromFn, FromFn1};
pub use double_well::DoubleWell;
pub use error::PotentialError;
pub use formula::{Expression, Formula, FormulaError, Problem};
pub use funnel::Funnel;
pub use harmonic::Harmonic;
pub use logistic::LogisticRegression;
pub use mixture::GaussianMixture;
pub use rosenbrock::Rosenbrock;

use crate::durable::fingerprint;

/// A potential f on ℝ^d with its gradient.
///
/// Only the first three methods are needed. A *stochastic* potential overrides [`sampled_gradient`](Self::sampled_gradient): its gradient
/// is that of a minibatch, chosen by a word of random bits that the chain supplies, so that runs stay reproducible.
pub trait Potential: Send + Sync {
    /// The dimension d.
    fn dim(&self) -> usize;

    /// f(x).
    fn value(&self, x: &[f64]) -> f64;

    /// ∇f(x) into `gradient`, both of length d.
    fn gradient(&self, x: &[f64], gradient: &mut [f64]);

    /// Whether [`sampled_gradient`](Self::sampled_gradient) depends on its word.
    fn is_stochastic(&self) -> bool {
        false
    }

    /// An unbiased estimate of ∇f(x), chosen by `word`; ∇f(x) itself unless overridden.
    fn sampled_gradient(&self, x: &[f64], word: u64, gradient: &mut [f64]) {
        let _ = word;
        self.gradient(x, gradient);
    }

    /// What tells it from another: values and gradients at three points, unless overridden. It goes into checkpoints.
    fn fingerprint(&self) -> u64 {
        let dim = self.dim();
        let mut gradient = vec![0.0; dim];
        let mut bytes = Vec::new();
        for size in [0.3, 0.7, 1.1] {
            let x: Vec<f64> = (0..dim).map(|i| size * (1.0 - 0.3 * (i % 5) as f64)).collect();
            self.gradient(&x, &mut gradient);
            bytes.extend_from_slice(&self.value(&x).to_le_bytes());
            gradient.iter().for_each(|g| bytes.extend_from_slice(&g.to_le_bytes()));
        }
        fingerprint(&bytes)
    }

    /// Whether all chains should come in one call of [`gradients`](Self::gradients), from the thread that runs: for potentials whose
    /// calls are dear and whose points are cheap, as in an interpreter.
    fn takes_all_chains(&self) -> bool {
        false
    }

    /// Whether an evaluation failed for good, not for its point but for all: the run then ends with an error.
    fn has_failed(&self) -> bool {
        false
    }

    /// Gradients at many points, one after the other: what a batch of chains asks for. Override to vectorise. A
    /// potential that is not stochastic may be handed any words.
    fn gradients(&self, points: &[f64], words: &[u64], gradients: &mut [f64]) {
        let d = self.dim();
        for ((x, g), &word) in points.chunks_exact(d).zip(gradients.chunks_exact_mut(d)).zip(words) {
            self.sampled_gradient(x, word, g);
        }
    }
}

//! Potentials f, whose Gibbs measure exp(−βf) is the target.
//!
//! - [`Formula`]: from text, with symbolic gradients.
//! - [`FromFn`], [`FromFn1`]: from closures.
//! - [`DoubleWell`], [`Harmonic`], [`Cauchy`], [`GaussianMixture`], [`Rosenbrock`], [`Funnel`]:
//!   standard test potentials.
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

use crate::Specification;

/// A potential f on ℝ^d with its gradient.
///
/// The first three methods are required. A *stochastic* potential overrides
/// [`sampled_gradient`](Self::sampled_gradient): its gradient is that of a minibatch, chosen by a
/// word of random bits that the chain supplies, so that runs stay reproducible.
pub trait Potential: Send + Sync {
    /// Returns the dimension d.
    fn dim(&self) -> usize;

    /// Returns f(x).
    fn value(&self, x: &[f64]) -> f64;

    /// Writes ∇f(x) to `gradient`; both slices have length d.
    fn gradient(&self, x: &[f64], gradient: &mut [f64]);

    /// Returns whether [`sampled_gradient`](Self::sampled_gradient) depends on its word.
    fn is_stochastic(&self) -> bool {
        false
    }

    /// Writes an unbiased estimate of ∇f(x), chosen by `word`; ∇f(x) itself unless overridden.
    fn sampled_gradient(&self, x: &[f64], word: u64, gradient: &mut [f64]) {
        let _ = word;
        self.gradient(x, gradient);
    }

    /// Returns the name, parameters and data that identify the potential in checkpoints and stores,
    /// apart from its dimension.
    ///
    /// Every value that changes f or its sampled gradient belongs there. Without a specification,
    /// the default, a run can neither be checkpointed nor resumed.
    fn specification(&self) -> Option<Specification> {
        None
    }

    /// Returns whether one call of [`gradients`](Self::gradients), from the thread of the run,
    /// should take all chains: for potentials with a large cost per call and a small cost per
    /// point, as in an interpreter.
    fn takes_all_chains(&self) -> bool {
        false
    }

    /// Returns whether an evaluation failed in a way that affects all points. The run then ends
    /// with an error.
    fn has_failed(&self) -> bool {
        false
    }

    /// Writes f and ∇f at many points, one after the other. Not called for stochastic potentials.
    /// Override where both together are cheaper.
    fn evaluate(&self, points: &[f64], values: &mut [f64], gradients: &mut [f64]) {
        // A deterministic potential ignores the words.
        const WORDS: [u64; 64] = [0; 64];
        let d = self.dim();
        let gradients = gradients.chunks_mut(WORDS.len() * d);
        for ((x, values), g) in
            points.chunks(WORDS.len() * d).zip(values.chunks_mut(WORDS.len())).zip(gradients)
        {
            self.gradients(x, &WORDS[..values.len()], g);
            for (x, value) in x.chunks_exact(d).zip(values) {
                *value = self.value(x);
            }
        }
    }

    /// Writes the gradients at many points, one after the other, for a batch of chains. Override to
    /// vectorise. The words are arbitrary if the potential is not stochastic.
    fn gradients(&self, points: &[f64], words: &[u64], gradients: &mut [f64]) {
        let d = self.dim();
        for ((x, g), &word) in points.chunks_exact(d).zip(gradients.chunks_exact_mut(d)).zip(words)
        {
            self.sampled_gradient(x, word, g);
        }
    }
}

//! A potential that counts its gradients, so that all samplers are charged by the same counter.

use fuld::Potential;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A potential with a counter. Clones share it.
#[derive(Clone)]
pub(super) struct Counted {
    potential: Arc<dyn Potential>,
    gradients: Arc<AtomicU64>,
}

impl Counted {
    pub(super) fn new(potential: Arc<dyn Potential>) -> Self {
        Self { potential, gradients: Arc::default() }
    }

    /// Returns the number of gradients so far.
    pub(super) fn count(&self) -> u64 {
        self.gradients.load(Ordering::Relaxed)
    }

    fn add(&self, gradients: usize) {
        self.gradients.fetch_add(gradients as u64, Ordering::Relaxed);
    }
}

impl Potential for Counted {
    fn dim(&self) -> usize {
        self.potential.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.potential.value(x)
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        self.add(1);
        self.potential.gradient(x, gradient);
    }

    fn evaluate(&self, points: &[f64], values: &mut [f64], gradients: &mut [f64]) {
        self.add(values.len());
        self.potential.evaluate(points, values, gradients);
    }

    fn gradients(&self, points: &[f64], words: &[u64], gradients: &mut [f64]) {
        self.add(words.len());
        self.potential.gradients(points, words, gradients);
    }
}

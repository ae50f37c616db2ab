//! The harmonic potential.

use super::closure::map;
use super::error::{at_least, positive};
use super::{Potential, PotentialError};
use crate::Specification;

const NAME: &str = "the harmonic potential";

/// The harmonic potential f(x) = Σᵢ λᵢ xᵢ²/2, λᵢ > 0. exp(−βf) is Gaussian with variances 1/(βλᵢ).
#[derive(Clone, Debug, PartialEq)]
pub struct Harmonic {
    lambdas: Vec<f64>,
    /// Whether all λᵢ are equal; a batch is then a single loop.
    isotropic: bool,
}

impl Harmonic {
    /// Creates the potential with one stiffness for each coordinate.
    pub fn new(lambdas: impl Into<Vec<f64>>) -> Result<Self, PotentialError> {
        let lambdas = lambdas.into();
        at_least(NAME, 1, lambdas.len())?;
        for &lambda in &lambdas {
            positive(NAME, "lambda", lambda)?;
        }
        Ok(Self { isotropic: lambdas.iter().all(|&lambda| lambda == lambdas[0]), lambdas })
    }

    /// Creates λ|x|²/2 in `dim` dimensions.
    pub fn isotropic(dim: usize, lambda: f64) -> Result<Self, PotentialError> {
        Self::new(vec![lambda; dim])
    }

    /// Returns the stiffnesses λᵢ.
    pub fn lambdas(&self) -> &[f64] {
        &self.lambdas
    }
}

impl Potential for Harmonic {
    fn dim(&self) -> usize {
        self.lambdas.len()
    }

    fn specification(&self) -> Option<Specification> {
        Some(if self.isotropic {
            Specification::new("harmonic").with("lambda", self.lambdas[0])
        } else {
            Specification::new("harmonic").with("lambdas", self.lambdas.clone())
        })
    }

    fn value(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.lambdas).map(|(x, lambda)| 0.5 * lambda * x * x).sum()
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        for ((g, x), lambda) in gradient.iter_mut().zip(x).zip(&self.lambdas) {
            *g = lambda * x;
        }
    }

    fn gradients(&self, points: &[f64], _words: &[u64], gradients: &mut [f64]) {
        if self.isotropic {
            map(points, gradients, |x| self.lambdas[0] * x);
            return;
        }
        for (x, g) in points.chunks_exact(self.dim()).zip(gradients.chunks_exact_mut(self.dim())) {
            self.gradient(x, g);
        }
    }
}

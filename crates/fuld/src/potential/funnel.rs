//! Neal's funnel.

use super::error::{at_least, positive};
use super::{Potential, PotentialError};
use crate::Specification;

const NAME: &str = "the funnel";

/// Neal's funnel f(x) = x₁²/(2s²) + (d−1) x₁/2 + e^(−x₁) Σ_{i>1} xᵢ²/2, d ≥ 2: x₁ ~ N(0, s²), and
/// xᵢ ~ N(0, e^(x₁)) given x₁.
///
/// The scale of the other coordinates varies over many decades with the first one. R. Neal, "Slice
/// sampling", Annals of Statistics 31 (2003), takes s = 3 and d = 10.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Funnel {
    dim: usize,
    scale: f64,
}

impl Funnel {
    /// Creates the funnel in `dim` ≥ 2 dimensions whose first coordinate has standard deviation
    /// `scale` > 0.
    pub fn new(dim: usize, scale: f64) -> Result<Self, PotentialError> {
        Ok(Self { dim: at_least(NAME, 2, dim)?, scale: positive(NAME, "scale", scale)? })
    }

    /// (d − 1)/2
    fn half_rest(self) -> f64 {
        0.5 * (self.dim - 1) as f64
    }
}

impl Potential for Funnel {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(Specification::new("funnel").with("scale", self.scale))
    }

    fn value(&self, x: &[f64]) -> f64 {
        let (neck, z) = (x[0], x[0] / self.scale);
        let square: f64 = x[1..].iter().map(|x| x * x).sum();
        0.5 * z * z + self.half_rest() * neck + 0.5 * libm::exp(-neck) * square
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        let precision = libm::exp(-x[0]);
        let mut square = 0.0;
        for (g, x) in gradient.iter_mut().zip(x).skip(1) {
            *g = precision * x;
            square += x * x;
        }
        gradient[0] = x[0] / self.scale / self.scale + self.half_rest() - 0.5 * precision * square;
    }
}

//! Rosenbrock's valley.

use super::error::{at_least, finite, positive};
use super::{Potential, PotentialError};
use crate::Specification;

const NAME: &str = "the Rosenbrock potential";

/// Rosenbrock's valley f(x) = Σ_{i<d} [(a − xᵢ)² + b (xᵢ₊₁ − xᵢ²)²], b > 0, d ≥ 2, which is narrow
/// and curved.
///
/// For a = 1 the minimum is f(1, …, 1) = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rosenbrock {
    dim: usize,
    a: f64,
    b: f64,
}

impl Rosenbrock {
    /// Creates the valley in `dim` ≥ 2 dimensions, for finite a (classically 1) and b > 0
    /// (classically 100).
    pub fn new(dim: usize, a: f64, b: f64) -> Result<Self, PotentialError> {
        Ok(Self {
            dim: at_least(NAME, 2, dim)?,
            a: finite(NAME, "a", a)?,
            b: positive(NAME, "b", b)?,
        })
    }
}

impl Potential for Rosenbrock {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(Specification::new("rosenbrock").with("a", self.a).with("b", self.b))
    }

    fn value(&self, x: &[f64]) -> f64 {
        let term = |x: f64, y: f64| {
            let (from_a, from_parabola) = (self.a - x, y - x * x);
            from_a * from_a + self.b * from_parabola * from_parabola
        };
        x.windows(2).map(|pair| term(pair[0], pair[1])).sum()
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        // Each pair of neighbours contributes to both components; the contribution of the previous
        // pair is carried along.
        let mut carried = 0.0;
        for (g, pair) in gradient.iter_mut().zip(x.windows(2)) {
            let pull = 2.0 * self.b * (pair[1] - pair[0] * pair[0]);
            *g = carried - 2.0 * (self.a - pair[0]) - 2.0 * pull * pair[0];
            carried = pull;
        }
        if let Some(last) = gradient.last_mut() {
            *last = carried;
        }
    }
}

//! The quartic double well.

use super::closure::map;
use super::error::{at_least, finite, positive};
use super::{Potential, PotentialError};
use crate::Specification;

const NAME: &str = "the double well";

/// The double well f(x) = Σᵢ (a xᵢ⁴/4 − b xᵢ²/2), a > 0. For b > 0 its minima are at xᵢ = ±√(b/a),
/// separated by barriers of height b²/(4a).
///
/// Its gradient grows like |x|³, so plain Euler schemes driven by heavy tails explode on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleWell {
    dim: usize,
    a: f64,
    b: f64,
}

impl DoubleWell {
    /// Creates the double well in `dim` dimensions, for a > 0 and finite b. For b ≤ 0 it has a
    /// single well.
    pub fn new(dim: usize, a: f64, b: f64) -> Result<Self, PotentialError> {
        Ok(Self {
            dim: at_least(NAME, 1, dim)?,
            a: positive(NAME, "a", a)?,
            b: finite(NAME, "b", b)?,
        })
    }

    /// a x³ − b x
    #[inline(always)]
    fn slope(self, x: f64) -> f64 {
        x * (self.a * x * x - self.b)
    }
}

impl Potential for DoubleWell {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(Specification::new("double_well").with("a", self.a).with("b", self.b))
    }

    fn value(&self, x: &[f64]) -> f64 {
        x.iter().map(|x| x * x).map(|q| 0.25 * q * (self.a * q - 2.0 * self.b)).sum()
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        map(x, gradient, |x| self.slope(x));
    }

    fn gradients(&self, points: &[f64], _words: &[u64], gradients: &mut [f64]) {
        map(points, gradients, |x| self.slope(x));
    }
}

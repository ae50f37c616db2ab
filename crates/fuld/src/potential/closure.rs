//! Potentials from closures.

use super::error::at_least;
use super::{Potential, PotentialError};
use crate::Specification;

/// A potential on ℝ^d given by two closures, f and ∇f.
///
/// ```
/// use fuld::potential::{FromFn, Potential};
/// # fn main() -> Result<(), fuld::potential::PotentialError> {
/// // f(x, y) = x²y²/2 + y²
/// let f = FromFn::new(
///     2,
///     |x: &[f64]| 0.5 * (x[0] * x[1]).powi(2) + x[1] * x[1],
///     |x: &[f64], g: &mut [f64]| {
///         g[0] = x[0] * x[1] * x[1];
///         g[1] = x[0] * x[0] * x[1] + 2.0 * x[1];
///     },
/// )?;
/// let mut g = [0.0; 2];
/// f.gradient(&[3.0, 1.0], &mut g);
/// assert_eq!(g, [3.0, 11.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FromFn<V, G> {
    specification: Option<Specification>,
    dim: usize,
    value: V,
    gradient: G,
}

impl<V, G> FromFn<V, G>
where
    V: Fn(&[f64]) -> f64 + Send + Sync,
    G: Fn(&[f64], &mut [f64]) + Send + Sync,
{
    /// Creates a potential from `value(x)`, which returns f(x), and `gradient(x, g)`, which writes
    /// ∇f(x) to every entry of g. All slices have length `dim` ≥ 1.
    pub fn new(dim: usize, value: V, gradient: G) -> Result<Self, PotentialError> {
        Ok(Self { specification: None, dim: at_least("a potential", 1, dim)?, value, gradient })
    }

    /// Adds the specification that identifies the closures in checkpoints and stores: a name, with
    /// every value they depend on.
    pub fn named(self, specification: impl Into<Specification>) -> Self {
        Self { specification: Some(specification.into()), ..self }
    }
}

impl<V, G> Potential for FromFn<V, G>
where
    V: Fn(&[f64]) -> f64 + Send + Sync,
    G: Fn(&[f64], &mut [f64]) + Send + Sync,
{
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        self.specification.clone()
    }

    fn value(&self, x: &[f64]) -> f64 {
        (self.value)(x)
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        (self.gradient)(x, gradient);
    }
}

/// A potential on the line given by two closures, f and f′.
///
/// A batch of points is one plain loop over f′, which the compiler can inline and vectorise.
///
/// ```
/// use fuld::potential::{FromFn1, Potential};
/// let f = FromFn1::new(|x| x.powi(4) / 4.0 - x * x / 2.0, |x| x * (x * x - 1.0));
/// assert_eq!((f.dim(), f.value(&[2.0])), (1, 2.0));
/// ```
#[derive(Clone, Debug)]
pub struct FromFn1<V, G> {
    specification: Option<Specification>,
    value: V,
    derivative: G,
}

impl<V, G> FromFn1<V, G>
where
    V: Fn(f64) -> f64 + Send + Sync,
    G: Fn(f64) -> f64 + Send + Sync,
{
    /// Creates a potential from `value(x)`, which returns f(x), and `derivative(x)`, which returns
    /// f′(x).
    pub fn new(value: V, derivative: G) -> Self {
        Self { specification: None, value, derivative }
    }

    /// Adds the specification that identifies the closures in checkpoints and stores: a name, with
    /// every value they depend on.
    pub fn named(self, specification: impl Into<Specification>) -> Self {
        Self { specification: Some(specification.into()), ..self }
    }
}

impl<V, G> Potential for FromFn1<V, G>
where
    V: Fn(f64) -> f64 + Send + Sync,
    G: Fn(f64) -> f64 + Send + Sync,
{
    fn dim(&self) -> usize {
        1
    }

    fn specification(&self) -> Option<Specification> {
        self.specification.clone()
    }

    fn value(&self, x: &[f64]) -> f64 {
        (self.value)(x[0])
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        map(x, gradient, &self.derivative);
    }

    fn gradients(&self, points: &[f64], _words: &[u64], gradients: &mut [f64]) {
        map(points, gradients, &self.derivative);
    }
}

/// Sets out_i = f(x_i), for potentials whose gradient acts on each coordinate separately.
#[inline(always)]
pub(super) fn map(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_dimension_is_an_error() {
        let error = FromFn::new(0, |_: &[f64]| 0.0, |_: &[f64], _: &mut [f64]| ()).err().unwrap();
        assert_eq!(error.to_string(), "a potential requires a dimension of at least 1, got 0");
    }

    #[test]
    fn batches_are_the_single_gradients() {
        let line = FromFn1::new(|x: f64| x.cosh(), |x: f64| x.sinh());
        let (points, mut batch, mut single) = ([0.1, -2.0, f64::INFINITY], [0.0; 3], [0.0]);
        line.gradients(&points, &[0; 3], &mut batch);
        for (x, g) in points.iter().zip(batch) {
            line.gradient(&[*x], &mut single);
            assert_eq!(single[0], g);
        }
    }
}

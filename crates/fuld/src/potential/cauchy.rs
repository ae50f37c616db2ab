//! The Cauchy potential, whose Gibbs law at β = 1 is the Cauchy law.

use super::closure::map;
use super::error::{at_least, positive};
use super::{Potential, PotentialError};
use crate::Specification;

const NAME: &str = "the Cauchy potential";

/// The Cauchy potential f(x) = Σᵢ ln(1 + xᵢ²/s²). exp(−f) is proportional to the density of
/// independent Cauchy variables of scale s.
///
/// At inverse temperature β the coordinates follow Student's law with 2β − 1 degrees of freedom,
/// which requires β > 1/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cauchy {
    dim: usize,
    /// 1/s
    rate: f64,
}

impl Cauchy {
    /// Creates the potential of scale s > 0 in `dim` dimensions.
    pub fn new(dim: usize, scale: f64) -> Result<Self, PotentialError> {
        let dim = at_least(NAME, 1, dim)?;
        positive(NAME, "scale", scale)?;
        Ok(Self { dim, rate: positive(NAME, "1/scale", 1.0 / scale)? })
    }

    /// Returns 2x/(s² + x²), in a form in which x² cannot overflow: heavy-tailed dynamics reach
    /// very large x.
    #[inline(always)]
    fn slope(self, x: f64) -> f64 {
        let t = self.rate * x;
        2.0 * self.rate / (t + 1.0 / t)
    }

    fn energy(self, x: f64) -> f64 {
        let t = (self.rate * x).abs();
        // Beyond 1e8, 1 + t² rounds to t², which would overflow for larger t.
        if t > 1e8 { 2.0 * libm::log(t) } else { libm::log1p(t * t) }
    }
}

impl Potential for Cauchy {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(Specification::new("cauchy").with("rate", self.rate))
    }

    fn value(&self, x: &[f64]) -> f64 {
        x.iter().map(|&x| self.energy(x)).sum()
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        map(x, gradient, |x| self.slope(x));
    }

    fn gradients(&self, points: &[f64], _words: &[u64], gradients: &mut [f64]) {
        map(points, gradients, |x| self.slope(x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_points() {
        let f = Cauchy::new(1, 2.0).unwrap();
        assert_eq!((f.slope(0.0), f.slope(f64::INFINITY), f.slope(-1e300)), (0.0, 0.0, -2e-300));
        assert!(f.slope(-0.0).is_sign_negative() && f.slope(f64::NAN).is_nan());
        assert_eq!(f.energy(f64::INFINITY), f64::INFINITY);
        assert!((f.energy(2e300) - 600.0 * 10f64.ln()).abs() < 1e-12 * 1400.0);
    }
}

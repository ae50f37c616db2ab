//! The Kolmogorov–Smirnov distance, the largest difference between distribution functions.

use super::{DiagnosticError, Sample};
use std::f64::consts::PI;

/// A Kolmogorov–Smirnov distance with its p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// D = sup |F − G|.
    pub distance: f64,
    /// The probability of a larger D if both laws are equal and draws are independent.
    pub p_value: f64,
}

impl KolmogorovSmirnov {
    /// Creates the result for n draws, or n = n₁n₂/(n₁ + n₂) for two samples. With Stephens' (1970)
    /// λ = (√n + 0.12 + 0.11/√n) D, the error of the asymptotic p-value for n ≥ 5 is 0.004 where p
    /// < 0.2, and 0.023 elsewhere.
    fn new(distance: f64, n: f64) -> Self {
        let root = n.sqrt();
        Self { distance, p_value: kolmogorov_sf((root + 0.12 + 0.11 / root) * distance) }
    }
}

impl Sample {
    /// Returns D = sup |F_n − F| for a continuous distribution function F, with its p-value for
    /// independent draws. Draws of a chain are dependent: thin them to their effective number
    /// first.
    ///
    /// ```
    /// use fuld::diagnostics::Sample;
    /// # fn main() -> Result<(), fuld::diagnostics::DiagnosticError> {
    /// let test = Sample::new([0.1, 0.4, 0.45, 0.9])?.kolmogorov_smirnov(|x| x.clamp(0.0, 1.0))?;
    /// assert!((test.distance - 0.3).abs() < 1e-15 && test.p_value > 0.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn kolmogorov_smirnov(
        &self,
        cdf: impl Fn(f64) -> f64,
    ) -> Result<KolmogorovSmirnov, DiagnosticError> {
        let n = self.len() as f64;
        let mut distance = 0.0f64;
        for (i, &x) in self.sorted().iter().enumerate() {
            let value = cdf(x);
            if !(0.0..=1.0).contains(&value) {
                return Err(DiagnosticError::NotADistribution { x, value });
            }
            let i = i as f64;
            distance = distance.max(value - i / n).max((i + 1.0) / n - value);
        }
        Ok(KolmogorovSmirnov::new(distance, n))
    }

    /// Returns D = sup |F_n − G_m| for two samples, with its p-value for independent draws. Ties,
    /// within and between the samples, are steps at the same point.
    pub fn kolmogorov_smirnov_between(&self, other: &Self) -> KolmogorovSmirnov {
        let (a, b) = (self.sorted(), other.sorted());
        let (n, m) = (a.len() as f64, b.len() as f64);
        let mut distance = 0.0f64;
        for (_, i, j) in steps(a, b) {
            distance = distance.max((i as f64 / n - j as f64 / m).abs());
        }
        KolmogorovSmirnov::new(distance, n * m / (n + m))
    }
}

/// Returns the points at which either of two empirical distribution functions has a step, in order,
/// with the number of draws of each that are not larger.
pub(super) fn steps<'a>(
    a: &'a [f64],
    b: &'a [f64],
) -> impl Iterator<Item = (f64, usize, usize)> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let x = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) | (None, Some(&x)) => x,
            (None, None) => return None,
        };
        while a.get(i).is_some_and(|&v| v <= x) {
            i += 1;
        }
        while b.get(j).is_some_and(|&v| v <= x) {
            j += 1;
        }
        Some((x, i, j))
    })
}

/// Returns Kolmogorov's survival function Q(λ) = 2 Σ_{k≥1} (−1)^(k−1) e^(−2k²λ²), to 1e-15.
///
/// Below λ = 1 the sum converges slowly and cancels; there its dual 1 − Q = (√(2π)/λ) Σ_{k≥1}
/// e^(−(2k−1)²π²/(8λ²)) is used.
pub fn kolmogorov_sf(lambda: f64) -> f64 {
    if lambda.is_nan() {
        f64::NAN
    } else if lambda < 0.03 {
        // 1 − Q is below the smallest double.
        1.0
    } else if lambda < 1.0 {
        let term = |k: f64| {
            libm::exp(-(2.0 * k - 1.0) * (2.0 * k - 1.0) * PI * PI / (8.0 * lambda * lambda))
        };
        1.0 - (2.0 * PI).sqrt() / lambda * (term(3.0) + term(2.0) + term(1.0))
    } else {
        let term = |k: f64| libm::exp(-2.0 * k * k * lambda * lambda);
        2.0 * (term(1.0) - term(2.0) + term(3.0) - term(4.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_series_meet() {
        let at = |x: f64| kolmogorov_sf(x);
        assert!((at(1.0) - at(1.0 - 1e-16)).abs() < 2e-15);
        assert_eq!((at(0.0), at(-1.0), at(40.0)), (1.0, 1.0, 0.0));
        assert!(at(f64::NAN).is_nan() && at(1e-320) == 1.0 && at(f64::INFINITY) == 0.0);
    }

    #[test]
    fn ties_are_steps() {
        let a = Sample::new([1.0, 1.0, 2.0]).unwrap();
        assert_eq!(a.kolmogorov_smirnov_between(&a).distance, 0.0);
        let b = Sample::new([1.0, 2.0, 2.0]).unwrap();
        assert!((a.kolmogorov_smirnov_between(&b).distance - 1.0 / 3.0).abs() < 1e-15);
        let error = a.kolmogorov_smirnov(|x| x).unwrap_err();
        assert_eq!(error, DiagnosticError::NotADistribution { x: 2.0, value: 2.0 });
        assert!(a.kolmogorov_smirnov(|_| f64::NAN).is_err());
    }
}

//! The Wasserstein-1 distance ∫ |F − G| dx between distribution functions, in units of x.

use super::kolmogorov::steps;
use super::{DiagnosticError, Sample};
use std::cell::Cell;

/// Allowed error of a piece, relative to its integral.
const RELATIVE: f64 = 1e-9;
/// Allowed h ΔF of a piece, in interquartile ranges. It bounds the error on a piece of length h
/// over which F increases by ΔF.
const NEGLIGIBLE: f64 = 1e-12;
/// Rounding error of a distribution function near 1.
const ROUNDING: f64 = 1e-15;
/// Allowed decrease of a distribution function, due to rounding.
const WIGGLE: f64 = 1e-9;

impl Sample {
    /// Returns ∫ |F_n − F| dx over [low, high] for a distribution function F.
    ///
    /// This is the Wasserstein-1 distance between the sample and the law after both are clamped to
    /// [low, high]: draws outside are moved to the ends, not dropped. It increases with the
    /// interval to the distance W₁ itself, which is infinite for a law without a mean, as for α ≤
    /// 1; compare such laws on a fixed interval. For a law with variance σ², the interval between
    /// the quantiles at ε and 1 − ε omits at most 2σ√ε.
    ///
    /// Between neighbouring draws F_n is constant, and F is integrated by Simpson's rule on pieces
    /// that are halved until the error is below 1e-9 of each. This takes about five evaluations of
    /// F per draw. F must be monotone to 1e-9 at the evaluated points.
    ///
    /// ```
    /// use fuld::diagnostics::Sample;
    /// # fn main() -> Result<(), fuld::diagnostics::DiagnosticError> {
    /// let uniform = |x: f64| x.clamp(0.0, 1.0);
    /// let distance = Sample::new([0.5])?.wasserstein(uniform, 0.0, 1.0)?;
    /// assert!((distance - 0.25).abs() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn wasserstein(
        &self,
        cdf: impl Fn(f64) -> f64,
        low: f64,
        high: f64,
    ) -> Result<f64, DiagnosticError> {
        if !(low < high && (high - low).is_finite()) {
            return Err(DiagnosticError::Interval { low, high });
        }
        let n = self.len();
        let spread = self.at(0.75) - self.at(0.25);
        let unit = if spread > 0.0 && spread < high - low { spread } else { high - low };
        let area =
            Area { cdf, left: Cell::new(1_000_000 + 100 * n), budget: 1_000_000 + 100 * n, unit };
        let below = self.sorted().partition_point(|&x| x <= low);
        let mut a = area.at(low)?;
        let mut total = 0.0;
        for i in below..=n {
            // F_n = i/n from here to the next draw.
            let x = self.sorted().get(i).map_or(high, |&x| x.min(high));
            if x > a.x {
                let b = area.at(x)?;
                total += area.gap(i as f64 / n as f64, a, b)?;
                a = b;
            }
            if x >= high {
                break;
            }
        }
        Ok(total)
    }

    /// Returns ∫ |F_n − G_m| dx between two samples, exact up to rounding. For laws without a mean
    /// it grows with the samples.
    pub fn wasserstein_between(&self, other: &Self) -> f64 {
        let (n, m) = (self.len() as f64, other.len() as f64);
        let mut total = 0.0;
        let mut before: Option<(f64, f64)> = None;
        for (x, i, j) in steps(self.sorted(), other.sorted()) {
            if let Some((from, gap)) = before {
                total += gap * (x - from);
            }
            before = Some((x, (i as f64 / n - j as f64 / m).abs()));
        }
        total
    }
}

/// A point and the value of the distribution function there.
#[derive(Clone, Copy)]
struct Point {
    x: f64,
    f: f64,
}

struct Area<F> {
    cdf: F,
    /// Remaining and initial number of evaluations.
    left: Cell<usize>,
    budget: usize,
    /// The interquartile range of the sample, or another measure of its spread.
    unit: f64,
}

impl<F: Fn(f64) -> f64> Area<F> {
    fn at(&self, x: f64) -> Result<Point, DiagnosticError> {
        self.left
            .set(self.left.get().checked_sub(1).ok_or(DiagnosticError::Unsettled(self.budget))?);
        let f = (self.cdf)(x);
        if (0.0..=1.0).contains(&f) {
            Ok(Point { x, f })
        } else {
            Err(DiagnosticError::NotADistribution { x, value: f })
        }
    }

    /// Evaluates F at the midpoint of two points, where it must lie between its values.
    fn middle(&self, a: Point, b: Point) -> Result<Point, DiagnosticError> {
        let m = self.at(0.5 * a.x + 0.5 * b.x)?;
        if m.f < a.f - WIGGLE || m.f > b.f + WIGGLE {
            return Err(DiagnosticError::NotADistribution { x: m.x, value: m.f });
        }
        Ok(m)
    }

    /// Returns ∫ |level − F| from a to b.
    fn gap(&self, level: f64, a: Point, b: Point) -> Result<f64, DiagnosticError> {
        let m = self.middle(a, b)?;
        self.piece(level, a, m, b)
    }

    fn piece(&self, level: f64, a: Point, m: Point, b: Point) -> Result<f64, DiagnosticError> {
        let h = b.x - a.x;
        let height = |p: Point| (level - p.f).abs();
        let simpson = |a: Point, m: Point, b: Point| {
            (b.x - a.x) / 6.0 * (height(a) + 4.0 * height(m) + height(b))
        };
        let coarse = simpson(a, m, b);
        // Most gaps between draws end here. The midpoint of a piece of length 0 is one of its ends.
        if h * (b.f - a.f).abs() <= NEGLIGIBLE * self.unit || m.x <= a.x || m.x >= b.x {
            return Ok(coarse);
        }
        let (left, right) = (self.middle(a, m)?, self.middle(m, b)?);
        let fine = simpson(a, left, m) + simpson(m, right, b);
        if (fine - coarse).abs() <= RELATIVE * fine + ROUNDING * h {
            return Ok(fine);
        }
        Ok(self.piece(level, a, left, m)? + self.piece(level, m, right, b)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫₀^∞ (1 − F) for the exponential law and a draw at 0 is its mean; at x it is x − 1 +
    /// 2e^(−x).
    #[test]
    fn closed_forms() {
        let cdf = |x: f64| if x > 0.0 { -(-x).exp_m1() } else { 0.0 };
        for x in [0.0, 0.3, 1.0, 5.0, 20.0] {
            let distance = Sample::new([x]).unwrap().wasserstein(cdf, -10.0, 100.0).unwrap();
            let exact = x - 1.0 + 2.0 * (-x).exp();
            assert!((distance / exact - 1.0).abs() < 1e-8, "{x}: {distance} {exact}");
        }
        // Cauchy over an enormous interval: ∫₀ᵇ (1 − F) = 1/2 ln(1+b²)/π + b(1/2 − atan(b)/π).
        let cauchy = |x: f64| 0.5 + x.atan() / std::f64::consts::PI;
        for b in [1e3, 1e6, 1e9] {
            let distance = Sample::new([0.0]).unwrap().wasserstein(cauchy, -b, b).unwrap();
            let exact = ((b * b).ln_1p() + 2.0 * b * (1.0 / b).atan()) / std::f64::consts::PI;
            assert!((distance / exact - 1.0).abs() < 1e-7, "{b}: {distance} {exact}");
        }
    }

    /// Draws outside the interval count as its ends.
    #[test]
    fn clamped_draws_are_at_the_ends() {
        let uniform = |x: f64| (x / 8.0 + 0.5).clamp(0.0, 1.0);
        let far =
            Sample::new([-90.0, -0.3, 0.2, 77.0]).unwrap().wasserstein(uniform, -1.0, 2.0).unwrap();
        let near =
            Sample::new([-1.0, -0.3, 0.2, 2.0]).unwrap().wasserstein(uniform, -1.0, 2.0).unwrap();
        assert!((far - near).abs() < 1e-12 && far > 0.1);
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        let sample = Sample::new([0.0, 1.0]).unwrap();
        let error = sample.wasserstein(|x| x, 2.0, 2.0).unwrap_err();
        assert_eq!(error, DiagnosticError::Interval { low: 2.0, high: 2.0 });
        assert!(sample.wasserstein(|_| f64::NAN, -1.0, 1.0).is_err());
        assert!(sample.wasserstein(|x| 0.5 - 0.1 * x, -1.0, 1.0).is_err());
        let noisy = |x: f64| 0.5 + 0.4 * (x * 1e6).sin();
        assert!(sample.wasserstein(noisy, -1.0, 1.0).is_err());
        // A step is a distribution function.
        let step = |x: f64| if x < 0.7 { 0.0 } else { 1.0 };
        assert!((sample.wasserstein(step, -1.0, 2.0).unwrap() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn shifting_a_sample_costs_the_shift() {
        let a = Sample::new([0.0, 3.0, 4.0, 9.0]).unwrap();
        let b = Sample::new([0.5, 3.5, 4.5, 9.5]).unwrap();
        assert!((a.wasserstein_between(&b) - 0.5).abs() < 1e-15);
        let c = Sample::new([0.0, 0.0, 3.0, 3.0, 4.0, 4.0, 9.0, 9.0]).unwrap();
        assert_eq!(a.wasserstein_between(&c), 0.0);
    }
}

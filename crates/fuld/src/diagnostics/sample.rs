//! Sorted samples and their quantiles.

use super::DiagnosticError;
use super::error::probability;
use levy_stable::quantiles::quantile_of_sorted;

/// A sorted sample of finite numbers.
///
/// ```
/// use fuld::diagnostics::Sample;
/// # fn main() -> Result<(), fuld::diagnostics::DiagnosticError> {
/// let sample = Sample::new([3.0, 1.0, 2.0, 10.0])?;
/// assert_eq!(sample.quantile(0.5)?, 2.5);
/// assert!(Sample::new([1.0, f64::NAN]).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    sorted: Vec<f64>,
}

impl Sample {
    /// Creates a sample by sorting the draws. There must be at least one, and all must be finite.
    pub fn new(draws: impl Into<Vec<f64>>) -> Result<Self, DiagnosticError> {
        let mut sorted: Vec<f64> = draws.into();
        if sorted.is_empty() {
            return Err(DiagnosticError::TooFewDraws { needed: 1, got: 0 });
        }
        if let Some(index) = sorted.iter().position(|x| !x.is_finite()) {
            return Err(DiagnosticError::NotFinite { index, value: sorted[index] });
        }
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Self { sorted })
    }

    /// Returns the draws in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns the number of draws, at least one.
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns the quantile at 0 ≤ p ≤ 1 by linear interpolation, type 7 of Hyndman and Fan (1996):
    /// x₍ₖ₎ + γ(x₍ₖ₊₁₎ − x₍ₖ₎) with k + γ = (n − 1)p + 1, the default of R and NumPy.
    pub fn quantile(&self, p: f64) -> Result<f64, DiagnosticError> {
        Ok(self.at(probability(p)?))
    }

    /// Returns the quantiles at several p.
    pub fn quantiles(&self, p: &[f64]) -> Result<Vec<f64>, DiagnosticError> {
        p.iter().map(|&p| self.quantile(p)).collect()
    }

    /// Returns the quantile at a p known to be a probability.
    pub(super) fn at(&self, p: f64) -> f64 {
        quantile_of_sorted(&self.sorted, p)
    }

    /// Returns the ends of the body of the sample: the quantiles 0.001 and 0.999, but at most five
    /// interquartile ranges beyond the quartiles. The quantiles are narrower for a normal law, the
    /// ranges for α-stable laws with α < 1.84.
    pub(super) fn body(&self) -> Result<(f64, f64), DiagnosticError> {
        let (first, third) = (self.at(0.25), self.at(0.75));
        let (mut low, mut high) = (self.at(0.001), self.at(0.999));
        let reach = 5.0 * (third - first);
        if reach > 0.0 {
            low = low.max(first - reach);
            high = high.min(third + reach);
        }
        // The distance of finite draws can overflow.
        if low < high && (high - low).is_finite() && reach.is_finite() {
            Ok((low, high))
        } else {
            Err(DiagnosticError::NoSpread(self.at(0.5)))
        }
    }

    /// Returns the draws within [low, high].
    pub(super) fn within(&self, low: f64, high: f64) -> &[f64] {
        let from = self.sorted.partition_point(|&x| x < low);
        let to = self.sorted.partition_point(|&x| x <= high);
        &self.sorted[from..to.max(from)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use levy_stable::quantiles::quantile_by_selection;

    #[test]
    fn ends_and_between() {
        let sample = Sample::new([4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(sample.quantiles(&[0.0, 0.25, 0.5, 1.0]).unwrap(), [1.0, 1.75, 2.5, 4.0]);
        assert_eq!(sample.quantile(1.1).unwrap_err(), DiagnosticError::Probability(1.1));
        assert!(sample.quantile(f64::NAN).is_err());
        let single = Sample::new([7.0]).unwrap();
        assert_eq!(single.quantiles(&[0.0, 0.4, 1.0]).unwrap(), [7.0; 3]);
    }

    #[test]
    fn selection_equals_sorting() {
        let draws: Vec<f64> = (0..101).map(|i| ((i * i * 37) % 101) as f64).collect();
        let sample = Sample::new(draws.clone()).unwrap();
        for i in 0..=200 {
            let p = i as f64 / 200.0;
            assert_eq!(quantile_by_selection(&mut draws.clone(), p), sample.at(p), "p = {p}");
        }
    }

    #[test]
    fn bad_draws_are_refused() {
        let error = Sample::new([1.0, 2.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error.to_string(), "draws must be finite, but draw 2 is inf");
        assert_eq!(
            Sample::new([]).unwrap_err(),
            DiagnosticError::TooFewDraws { needed: 1, got: 0 }
        );
    }
}

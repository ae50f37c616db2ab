//! Histograms over the body of a sample, robust to heavy tails.

use super::{DiagnosticError, Sample};

/// Largest number of bins.
const MOST_BINS: usize = 1 << 24;

/// Counts in bins of equal width over [low, high], and outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    low: f64,
    high: f64,
    counts: Vec<usize>,
    below: usize,
    above: usize,
}

impl Histogram {
    /// Creates a histogram with bins of the width of Freedman and Diaconis (1981), 2 ·
    /// interquartile range · n^(−1/3).
    ///
    /// They cover the body of the sample: the quantiles 0.001 to 0.999, but at most five
    /// interquartile ranges beyond the quartiles. A few draws at 1e12 therefore change neither the
    /// width nor the number of bins; they are counted in [`above`](Self::above).
    pub fn automatic(sample: &Sample) -> Result<Self, DiagnosticError> {
        let (low, high) = sample.body()?;
        let n = sample.len() as f64;
        let width = 2.0 * (sample.at(0.75) - sample.at(0.25)) / libm::cbrt(n);
        // If half of the draws are ties, the interquartile range is 0; Sturges' rule does not use
        // it.
        let bins = if width > 0.0 { (high - low) / width } else { 1.0 + libm::log2(n) };
        Self::new(sample, low, high, (bins.ceil() as usize).clamp(1, MOST_BINS))
    }

    /// Creates a histogram with bins of equal width over [low, high]. A bin includes its lower end
    /// but not its upper; the last includes both.
    pub fn new(sample: &Sample, low: f64, high: f64, bins: usize) -> Result<Self, DiagnosticError> {
        if !(low < high && (high - low).is_finite()) {
            return Err(DiagnosticError::Interval { low, high });
        }
        if !(1..=MOST_BINS).contains(&bins) {
            return Err(DiagnosticError::Bins(bins));
        }
        let inside = sample.within(low, high);
        let below = sample.sorted().partition_point(|&x| x < low);
        let mut histogram = Self {
            low,
            high,
            counts: vec![0; bins],
            below,
            above: sample.len() - below - inside.len(),
        };
        for &x in inside {
            let bin = ((x - low) / (high - low) * bins as f64) as usize;
            histogram.counts[bin.min(bins - 1)] += 1;
        }
        Ok(histogram)
    }

    /// Returns the lower end of the first bin.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Returns the upper end of the last bin.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Returns the number of draws in each bin.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Returns the number of draws below the first bin.
    pub fn below(&self) -> usize {
        self.below
    }

    /// Returns the number of draws above the last bin.
    pub fn above(&self) -> usize {
        self.above
    }

    /// Returns the number of all draws, including those outside the bins.
    pub fn total(&self) -> usize {
        self.below + self.counts.iter().sum::<usize>() + self.above
    }

    /// Returns the width of a bin.
    pub fn width(&self) -> f64 {
        (self.high - self.low) / self.counts.len() as f64
    }

    /// Returns the midpoint and the density count/(total · width) of each bin. The total includes
    /// draws outside the bins, so the densities are comparable with the density of a law.
    pub fn density(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let (width, scale) = (self.width(), 1.0 / (self.total() as f64 * self.width()));
        self.counts
            .iter()
            .enumerate()
            .map(move |(i, &c)| (self.low + (i as f64 + 0.5) * width, c as f64 * scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_draw_is_counted_once() {
        let sample = Sample::new([-1.0, 0.0, 0.0, 0.5, 0.99, 1.0, 7.0, 8.0]).unwrap();
        let histogram = Histogram::new(&sample, 0.0, 1.0, 2).unwrap();
        assert_eq!((histogram.below(), histogram.counts(), histogram.above()), (1, &[2, 3][..], 2));
        assert_eq!(histogram.total(), 8);
        let density: Vec<_> = histogram.density().collect();
        assert_eq!(density, [(0.25, 0.5), (0.75, 0.75)]);
    }

    #[test]
    fn an_outlier_changes_nothing_but_a_count() {
        let mut draws: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 1e4).collect();
        let before = Histogram::automatic(&Sample::new(draws.clone()).unwrap()).unwrap();
        draws[9_999] = 1e300;
        let after = Histogram::automatic(&Sample::new(draws).unwrap()).unwrap();
        assert_eq!(before.counts(), after.counts());
        assert_eq!(after.total(), 10_000);
        // Width 2 · 0.5 · 10000^(−1/3) on 0.998.
        assert_eq!(before.counts().len(), 22);
    }

    #[test]
    fn ties_and_constants() {
        let mut draws = vec![2.0; 1000];
        assert_eq!(
            Histogram::automatic(&Sample::new(draws.clone()).unwrap()),
            Err(DiagnosticError::NoSpread(2.0))
        );
        draws[..100].fill(1.0);
        assert_eq!(Histogram::automatic(&Sample::new(draws).unwrap()).unwrap().counts().len(), 11);
        let sample = Sample::new([0.0, 1.0]).unwrap();
        assert_eq!(Histogram::new(&sample, 0.0, 1.0, 0).unwrap_err(), DiagnosticError::Bins(0));
        assert!(Histogram::new(&sample, 0.0, f64::INFINITY, 3).is_err());
        assert!(Histogram::new(&sample, -f64::MAX, f64::MAX, 3).is_err());
    }
}

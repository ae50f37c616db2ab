//! Samples for the estimators: checked, centred and optionally scaled by coordinate.

use super::TailIndexError;
use crate::quantiles::quantile_of_sorted;
use crate::random::Stream;

/// Largest magnitude of a number; twice it must not overflow.
const LARGEST: f64 = 1e300;
/// Smallest number of rows; with fewer, the median is too inaccurate as a centre.
pub(super) const FEWEST: usize = 10;

/// Whether coordinates are scaled before they are pooled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// Coordinates are pooled without scaling. They must have the same scale, because a mixture of
    /// scales has a heavier tail.
    #[default]
    Common,
    /// Each coordinate is divided by the ratio of its interquartile range to the geometric mean of
    /// all of them. The estimated scale is then the geometric mean of the scales of the
    /// coordinates.
    PerCoordinate,
}

/// A sample from which a tail index can be estimated: at least ten finite rows, centred at the
/// median of each coordinate. No coordinate is constant.
///
/// The centre is the median, whose error is O(σ/√n) for every α. The mean of an SαS sample has
/// scale n^(1/α − 1)σ, which does not decrease with n for α ≤ 1. Numbers that equal the median (at
/// least one, if n is odd) become exact zeros, which estimators that take logarithms exclude.
///
/// ```
/// use levy_stable::tail_index::{LogMoments, TailSample, Scaling, TailIndexEstimator, TailIndexError};
/// # fn main() -> Result<(), TailIndexError> {
/// let rows: Vec<f64> = (0..20).flat_map(|i| [f64::from(i * i), 1e-3 * f64::from(i)]).collect();
/// let sample = TailSample::rows(&rows, 2, Scaling::PerCoordinate)?;
/// println!("{:?}", LogMoments.fit(&sample)?);
/// let error = TailSample::scalars(&[0.0, f64::NAN]).unwrap_err();
/// assert_eq!(error.to_string(), "number 1 of the data is NaN; numbers must be finite and at most 1e300 in size");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TailSample {
    /// One coordinate after the other, so that the numbers of a coordinate are contiguous.
    values: Vec<f64>,
    rows: usize,
}

impl TailSample {
    /// Creates a sample of numbers.
    pub fn scalars(x: &[f64]) -> Result<Self, TailIndexError> {
        Self::rows(x, 1, Scaling::Common)
    }

    /// Creates a sample of vectors; `x` holds one row of `dimension` numbers after the other.
    pub fn rows(x: &[f64], dimension: usize, scaling: Scaling) -> Result<Self, TailIndexError> {
        if dimension == 0 || !x.len().is_multiple_of(dimension) {
            return Err(TailIndexError::Dimension { numbers: x.len(), dimension });
        }
        if let Some(index) = x.iter().position(|x| x.is_nan() || x.abs() > LARGEST) {
            return Err(TailIndexError::Number { index, value: x[index] });
        }
        let rows = x.len() / dimension;
        if rows < FEWEST {
            return Err(TailIndexError::TooFew { needed: FEWEST, got: rows });
        }
        let values =
            (0..dimension).flat_map(|j| x.iter().skip(j).step_by(dimension)).copied().collect();
        let mut sample = Self { values, rows };
        sample.centre()?;
        if scaling == Scaling::PerCoordinate {
            sample.scale()?;
        }
        Ok(sample)
    }

    /// Returns the centred numbers of all coordinates.
    pub fn pooled(&self) -> &[f64] {
        &self.values
    }

    /// Returns the centred coordinates, each in the order of the rows.
    pub fn coordinates(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.rows)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns `false`: a sample has at least ten rows.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the interquartile ranges of the coordinates.
    pub(super) fn spreads(&self) -> Result<Vec<f64>, TailIndexError> {
        let spread = |(coordinate, values): (usize, &[f64])| {
            let sorted = sorted(values);
            let range = quantile_of_sorted(&sorted, 0.75) - quantile_of_sorted(&sorted, 0.25);
            if range > 0.0 { Ok(range) } else { Err(TailIndexError::NoSpread { coordinate }) }
        };
        self.coordinates().enumerate().map(spread).collect()
    }

    /// Returns a sample of the same shape whose numbers are written by `draw(coordinate, column)`
    /// and then centred.
    pub(super) fn like(
        &self,
        mut draw: impl FnMut(usize, &mut [f64]),
    ) -> Result<Self, TailIndexError> {
        let mut twin = self.clone();
        twin.values.chunks_exact_mut(self.rows).enumerate().for_each(|(j, column)| draw(j, column));
        twin.centre()?;
        Ok(twin)
    }

    /// Writes rows drawn from this sample with replacement into `into`, which has the same shape.
    /// Every `attempt` draws other rows.
    ///
    /// They are not centred again. For a symmetric law the error of the centre does not change α
    /// and σ to first order, and the median of a resample often occurs several times in it: each
    /// would become a spurious zero.
    pub(super) fn resample(&self, stream: Stream, attempt: u64, into: &mut Self) {
        let first = attempt * self.rows as u64;
        for i in 0..self.rows {
            // The high word of the product is uniform to within rows/2^64.
            let from =
                ((u128::from(stream.word(first + i as u64)) * self.rows as u128) >> 64) as usize;
            for start in (0..self.values.len()).step_by(self.rows) {
                into.values[start + i] = self.values[start + from];
            }
        }
    }

    fn centre(&mut self) -> Result<(), TailIndexError> {
        for (coordinate, column) in self.values.chunks_exact_mut(self.rows).enumerate() {
            let sorted = sorted(column);
            let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
            if first == last {
                return Err(TailIndexError::Constant { coordinate, value: first });
            }
            let median = quantile_of_sorted(&sorted, 0.5);
            column.iter_mut().for_each(|x| *x -= median);
        }
        Ok(())
    }

    fn scale(&mut self) -> Result<(), TailIndexError> {
        let spreads = self.spreads()?;
        let mean_log = spreads.iter().map(|&s| libm::log(s)).sum::<f64>() / spreads.len() as f64;
        for (column, spread) in self.values.chunks_exact_mut(self.rows).zip(spreads) {
            // Finite, because 0 times the factor must be 0.
            let factor = libm::exp(mean_log - libm::log(spread)).min(f64::MAX);
            column.iter_mut().for_each(|x| *x = (*x * factor).clamp(-LARGEST, LARGEST));
        }
        Ok(())
    }
}

pub(super) fn sorted(x: &[f64]) -> Vec<f64> {
    let mut sorted = x.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn numbers(n: i32) -> Vec<f64> {
        (0..n).map(f64::from).collect()
    }

    #[test]
    fn rows_become_centred_coordinates() {
        let x: Vec<f64> =
            (0..11).flat_map(|i| [f64::from(i), 100.0 - 2.0 * f64::from(i)]).collect();
        let sample = TailSample::rows(&x, 2, Scaling::Common).unwrap();
        let columns: Vec<&[f64]> = sample.coordinates().collect();
        assert_eq!((columns[0][0], columns[0][10]), (-5.0, 5.0));
        assert_eq!((columns[1][0], columns[1][10]), (10.0, -10.0));
        let scaled = TailSample::rows(&x, 2, Scaling::PerCoordinate).unwrap();
        let spreads = scaled.spreads().unwrap();
        assert!((spreads[0] - spreads[1]).abs() < 1e-12);
        assert!(
            (spreads[0] - 50f64.sqrt()).abs() < 1e-12,
            "the geometric mean of 5 and 10, not {}",
            spreads[0]
        );
    }

    #[test]
    fn resampling_keeps_rows_together() {
        let x: Vec<f64> = numbers(30).into_iter().flat_map(|i| [i, 3.0 * i]).collect();
        let sample = TailSample::rows(&x, 2, Scaling::Common).unwrap();
        let mut drawn = sample.clone();
        sample.resample(Stream::new(1, 0, Purpose::Resample), 0, &mut drawn);
        assert_ne!(drawn, sample);
        let mut others = drawn.clone();
        sample.resample(Stream::new(1, 0, Purpose::Resample), 1, &mut others);
        assert_ne!(others, drawn);
        let columns: Vec<&[f64]> = drawn.coordinates().collect();
        assert!(columns[0].iter().zip(columns[1]).all(|(a, b)| 3.0 * a == *b));
    }
}

//! A difference between two arms: how large, how sure.

/// The mean and its standard error, NaN for a single number.
pub(in crate::reproduce) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// How much better one arm is than another, seed by seed, over some cells: positive where it is better, whatever is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::reproduce) struct Gap {
    /// Mean over cells of the mean over seeds.
    pub(in crate::reproduce) mean: f64,
    /// Its standard error, from the spread over seeds within each cell; NaN where a cell has one pair of seeds.
    pub(in crate::reproduce) error: f64,
    /// Cells in which it is better.
    pub(in crate::reproduce) won: usize,
    /// Cells in which it is worse.
    pub(in crate::reproduce) lost: usize,
}

/// Standard errors that a difference must exceed to count. With some ten degrees of freedom chance alone does so one time in thirty.
pub(in crate::reproduce) const SURE: f64 = 2.5;

impl Gap {
    /// Whether there were pairs enough for a mean and its error.
    pub(in crate::reproduce) fn is_known(&self) -> bool {
        self.mean.is_finite() && self.error.is_finite()
    }

    /// Larger than another, of other runs, by more than chance would have it.
    pub(in crate::reproduce) fn exceeds(&self, other: &Self) -> bool {
        self.mean - other.mean > SURE * self.error.hypot(other.error)
    }

    /// Better by more than chance would have it.
    pub(in crate::reproduce) fn is_gain(&self) -> bool {
        self.mean > SURE * self.error
    }

    /// Worse by more than chance would have it.
    pub(in crate::reproduce) fn is_loss(&self) -> bool {
        -self.mean > SURE * self.error
    }

    /// How likely it is to win as many cells, or more, if each were the toss of a coin.
    pub(in crate::reproduce) fn chance(&self) -> f64 {
        let n = self.won + self.lost;
        let mut term = 0.5f64.powi(n as i32);
        let mut total = 0.0;
        for k in 0..=n {
            if k >= self.won {
                total += term;
            }
            term *= (n - k) as f64 / (k + 1) as f64;
        }
        total.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Gap;

    #[test]
    fn chance_is_that_of_a_coin() {
        let chance = |won, lost| Gap { mean: 0.0, error: 0.0, won, lost }.chance();
        assert!((chance(9, 0) - 1.0 / 512.0).abs() < 1e-15);
        assert!((chance(8, 1) - 10.0 / 512.0).abs() < 1e-15);
        assert!((chance(0, 45) - 1.0).abs() < 1e-12 && chance(0, 0) == 1.0);
        assert!((chance(30, 15) - 0.0178).abs() < 1e-4);
    }
}

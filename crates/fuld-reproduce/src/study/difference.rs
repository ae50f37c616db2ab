//! Differences between two treatments, paired by seed, with their standard errors.

/// Standard errors that a difference must exceed to count. With about ten degrees of freedom,
/// chance alone does so once in thirty.
pub(crate) const SIGNIFICANT: f64 = 2.5;

/// Returns the mean and its standard error, which is NaN for a single number.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// How much better one treatment is than another over some cells. Positive numbers mean better,
/// also for losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    /// Mean over cells of the mean over seeds.
    pub(crate) mean: f64,
    /// Standard error of the mean, from the spread over seeds within each cell; NaN if a cell has a
    /// single pair.
    pub(crate) error: f64,
    /// Cells in which the treatment is better.
    pub(crate) won: usize,
    /// Cells in which it is worse.
    pub(crate) lost: usize,
}

impl Difference {
    /// Returns the difference in one cell from its values, one per seed.
    pub(crate) fn of(values: &[f64]) -> Self {
        let (mean, error) = mean_and_error(values);
        Self { mean, error, won: usize::from(mean > 0.0), lost: usize::from(mean < 0.0) }
    }

    /// Averages over cells. Cells without a pair are left out; a cell with a single pair makes the
    /// error unknown.
    pub(crate) fn average(cells: impl IntoIterator<Item = Self>) -> Self {
        let cells: Vec<Self> = cells.into_iter().collect();
        let measured = || cells.iter().filter(|cell| !cell.mean.is_nan());
        let count = measured().count() as f64;
        Self {
            mean: measured().map(|cell| cell.mean).sum::<f64>() / count,
            error: measured().map(|cell| cell.error.powi(2)).sum::<f64>().sqrt() / count,
            won: cells.iter().map(|cell| cell.won).sum(),
            lost: cells.iter().map(|cell| cell.lost).sum(),
        }
    }

    /// Averages over the cells whose difference and error are known.
    pub(crate) fn average_of_known(cells: impl IntoIterator<Item = Self>) -> Self {
        Self::average(cells.into_iter().filter(Self::is_known))
    }

    /// Returns whether there were enough pairs for a mean and its error.
    pub(crate) fn is_known(&self) -> bool {
        self.mean.is_finite() && self.error.is_finite()
    }

    /// Returns whether it is significantly larger than another difference of other runs.
    pub(crate) fn exceeds(&self, other: &Self) -> bool {
        self.mean - other.mean > SIGNIFICANT * self.error.hypot(other.error)
    }

    /// Returns whether the treatment is significantly better.
    pub(crate) fn is_gain(&self) -> bool {
        self.mean > SIGNIFICANT * self.error
    }

    /// Returns whether the treatment is significantly worse.
    pub(crate) fn is_loss(&self) -> bool {
        -self.mean > SIGNIFICANT * self.error
    }

    /// Returns the probability to win as many cells or more if each were decided by a fair coin.
    pub(crate) fn chance(&self) -> f64 {
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

    /// Returns mean and error with a sign, for readers.
    pub(crate) fn signed(&self, digits: usize) -> String {
        if !self.is_known() {
            return "unknown".into();
        }
        format!("{:+.digits$} ± {:.digits$}", self.mean, self.error).replace('-', "−")
    }

    /// Returns a difference in percentage points, for readers.
    pub(crate) fn points(&self) -> String {
        if self.is_known() { format!("{} points", self.signed(2)) } else { "unknown".into() }
    }
}

/// Returns "5 of 9", "all 9" or "none of 9".
pub(crate) fn share(count: usize, all: usize) -> String {
    match count {
        0 => format!("none of {all}"),
        count if count == all => format!("all {all}"),
        count => format!("{count} of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn cells_are_averaged_with_their_errors() {
        let (a, b) = (Difference::of(&[1.0, 2.0, 3.0]), Difference::of(&[-3.0, -3.0]));
        assert!(
            (a.mean, b.mean, b.error) == (2.0, -3.0, 0.0)
                && (a.error - 1.0 / 3f64.sqrt()).abs() < 1e-12
        );
        let single = Difference::of(&[9.0]);
        let known = Difference::average_of_known([a, b, Difference::of(&[]), single]);
        assert!((known.mean + 0.5).abs() < 1e-12 && (known.error - 0.5 * a.error).abs() < 1e-12);
        assert_eq!((known.won, known.lost, known.points().as_str()), (1, 1, "−0.50 ± 0.29 points"));
        assert_eq!(single.points(), "unknown");
        assert!(Difference::average([a, single]).error.is_nan());
        assert_eq!(Difference::average([a, Difference::of(&[])]).mean, 2.0);
    }

    #[test]
    fn chance_is_that_of_a_coin() {
        let chance = |won, lost| Difference { mean: 0.0, error: 0.0, won, lost }.chance();
        assert!((chance(9, 0) - 1.0 / 512.0).abs() < 1e-15);
        assert!((chance(8, 1) - 10.0 / 512.0).abs() < 1e-15);
        assert!((chance(0, 45) - 1.0).abs() < 1e-12 && chance(0, 0) == 1.0);
        assert!((chance(30, 15) - 0.0178).abs() < 1e-4);
    }
}

//! A difference between two arms: how large, how sure.

/// The mean and its standard error, NaN for a single number.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// How much better one arm is than another, seed by seed, over some cells: positive where it is better, whatever is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gap {
    /// Mean over cells of the mean over seeds.
    pub(crate) mean: f64,
    /// Its standard error, from the spread over seeds within each cell; NaN where a cell has one pair of seeds.
    pub(crate) error: f64,
    /// Cells in which it is better.
    pub(crate) won: usize,
    /// Cells in which it is worse.
    pub(crate) lost: usize,
}

/// Standard errors that a difference must exceed to count. With some ten degrees of freedom chance alone does so one time in thirty.
pub(crate) const SURE: f64 = 2.5;

impl Gap {
    /// From the differences of a cell, seed by seed.
    pub(crate) fn of(differences: &[f64]) -> Self {
        let (mean, error) = mean_and_error(differences);
        Self { mean, error, won: usize::from(mean > 0.0), lost: usize::from(mean < 0.0) }
    }

    /// The mean over cells. Those without a mean, or an error of it, are left out.
    pub(crate) fn over(cells: impl IntoIterator<Item = Self>) -> Self {
        let known: Vec<Self> = cells.into_iter().filter(Self::is_known).collect();
        let count = known.len() as f64;
        Self {
            mean: known.iter().map(|gap| gap.mean).sum::<f64>() / count,
            error: known.iter().map(|gap| gap.error.powi(2)).sum::<f64>().sqrt() / count,
            won: known.iter().map(|gap| gap.won).sum(),
            lost: known.iter().map(|gap| gap.lost).sum(),
        }
    }

    /// A difference in accuracy with its sign.
    pub(crate) fn points(&self) -> String {
        if self.is_known() { format!("{} points", self.signed()) } else { self.signed() }
    }

    /// The same where it is known what is counted.
    pub(crate) fn signed(&self) -> String {
        if self.is_known() {
            format!("{:+.2} ± {:.2}", self.mean, self.error).replace('-', "−")
        } else {
            "unknown".into()
        }
    }

    /// Whether there were pairs enough for a mean and its error.
    pub(crate) fn is_known(&self) -> bool {
        self.mean.is_finite() && self.error.is_finite()
    }

    /// Larger than another, of other runs, by more than chance would have it.
    pub(crate) fn exceeds(&self, other: &Self) -> bool {
        self.mean - other.mean > SURE * self.error.hypot(other.error)
    }

    /// Better by more than chance would have it.
    pub(crate) fn is_gain(&self) -> bool {
        self.mean > SURE * self.error
    }

    /// Worse by more than chance would have it.
    pub(crate) fn is_loss(&self) -> bool {
        -self.mean > SURE * self.error
    }

    /// How likely it is to win as many cells, or more, if each were the toss of a coin.
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
}

#[cfg(test)]
mod tests {
    use super::Gap;

    #[test]
    fn cells_are_averaged_with_their_errors() {
        let (a, b) = (Gap::of(&[1.0, 2.0, 3.0]), Gap::of(&[-3.0, -3.0]));
        assert!((a.mean, b.mean, b.error) == (2.0, -3.0, 0.0) && (a.error - 1.0 / 3f64.sqrt()).abs() < 1e-12);
        let over = Gap::over([a, b, Gap::of(&[]), Gap::of(&[9.0])]);
        assert!((over.mean + 0.5).abs() < 1e-12 && (over.error - 0.5 * a.error).abs() < 1e-12);
        assert_eq!((over.won, over.lost, over.points().as_str()), (1, 1, "−0.50 ± 0.29 points"));
        assert_eq!(Gap::of(&[1.0]).points(), "unknown");
    }

    #[test]
    fn chance_is_that_of_a_coin() {
        let chance = |won, lost| Gap { mean: 0.0, error: 0.0, won, lost }.chance();
        assert!((chance(9, 0) - 1.0 / 512.0).abs() < 1e-15);
        assert!((chance(8, 1) - 10.0 / 512.0).abs() < 1e-15);
        assert!((chance(0, 45) - 1.0).abs() < 1e-12 && chance(0, 0) == 1.0);
        assert!((chance(30, 15) - 0.0178).abs() < 1e-4);
    }
}

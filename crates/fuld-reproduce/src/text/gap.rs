//! A mean over seeds and how sure it is.

pub(super) use crate::gap::SURE;
use crate::gap::mean_and_error;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    pub(super) mean: f64,
    /// From the spread over seeds; 0 if the mean is infinite.
    pub(super) error: f64,
}

impl Gap {
    /// Of numbers, one a seed.
    pub(super) fn of(numbers: &[f64]) -> Self {
        let (mean, error) = mean_and_error(numbers);
        Self { mean, error: if mean.is_infinite() { 0.0 } else { error } }
    }

    /// Of differences, seed by seed. Of two runs both of which are lost neither is above the other.
    pub(super) fn between(these: &[f64], those: &[f64]) -> Self {
        let difference = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { a - b };
        Self::of(&these.iter().zip(those).map(difference).collect::<Vec<_>>())
    }

    /// Above 0 by more than chance would have it.
    pub(super) fn is_above(self) -> bool {
        self.mean > SURE * self.error
    }

    /// Below 0 by more than chance would have it.
    pub(super) fn is_below(self) -> bool {
        -self.mean > SURE * self.error
    }
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.mean.is_infinite() {
            return f.write_str("lost");
        }
        // A sign only where it was asked for, and a real minus.
        let mean = if f.sign_plus() { format!("{:+.3}", self.mean) } else { format!("{:.3}", self.mean) };
        write!(f, "{} ± {:.3}", mean.replace('-', "−"), self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_means() {
        let gap = Gap::between(&[3.0, 5.0, 4.0], &[1.0, 1.0, 1.0]);
        assert!((gap.mean - 3.0).abs() < 1e-15 && (gap.error - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(gap.is_above() && !gap.is_below());
        assert_eq!(format!("{gap:+} {gap}"), "+3.000 ± 0.577 3.000 ± 0.577");
    }

    #[test]
    fn a_lost_run_is_above_every_other() {
        let lost = [1.0, f64::INFINITY, 1.0];
        assert!(Gap::between(&lost, &[9.0; 3]).is_above() && Gap::between(&[9.0; 3], &lost).is_below());
        assert!(!Gap::between(&lost, &lost).is_above());
        assert_eq!(Gap::of(&lost).to_string(), "lost");
    }
}

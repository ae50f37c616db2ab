//! Loss and accuracy of a network on whole sets of images.

use serde::{Deserialize, Serialize};

/// Loss and accuracy of a network on the training and the test set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Steps taken.
    pub iteration: u64,
    /// The number of training images used.
    pub train_images: usize,
    /// Mean cross entropy on these training images.
    pub train_loss: f64,
    /// Share of these training images that is classified correctly.
    pub train_accuracy: f64,
    /// Mean cross entropy on the test set.
    pub test_loss: f64,
    /// Share of the test images that is classified correctly.
    pub test_accuracy: f64,
}

/// Means of the last two measurements, which the paper reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the other fields are those of `Measurement`")]
pub struct FinalMeans {
    /// The number of averaged measurements: 1 if there is only one after the start.
    pub measurements: usize,
    pub train_loss: f64,
    pub train_accuracy: f64,
    pub test_loss: f64,
    pub test_accuracy: f64,
}

impl FinalMeans {
    /// Returns the means, or `None` without measurements. The initial network counts only if there
    /// is no other measurement.
    pub fn of(measurements: &[Measurement]) -> Option<Self> {
        let trained = measurements.iter().position(|m| m.iteration > 0).unwrap_or(0);
        let trained = &measurements[trained..];
        let last = &trained[trained.len().saturating_sub(2)..];
        let mean =
            |of: fn(&Measurement) -> f64| last.iter().map(of).sum::<f64>() / last.len() as f64;
        (!last.is_empty()).then(|| Self {
            measurements: last.len(),
            train_loss: mean(|m| m.train_loss),
            train_accuracy: mean(|m| m.train_accuracy),
            test_loss: mean(|m| m.test_loss),
            test_accuracy: mean(|m| m.test_accuracy),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measurement_at_the_start_is_not_averaged() {
        let at = |iteration, test_loss| Measurement {
            iteration,
            train_images: 1,
            train_loss: 0.0,
            train_accuracy: 0.0,
            test_loss,
            test_accuracy: 0.0,
        };
        let mean = |measurements: &[Measurement]| {
            FinalMeans::of(measurements).map(|s| (s.measurements, s.test_loss))
        };
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[at(0, 9.0)]), Some((1, 9.0)));
        assert_eq!(mean(&[at(0, 9.0), at(50, 1.0)]), Some((1, 1.0)));
        assert_eq!(mean(&[at(0, 9.0), at(50, 1.0), at(100, 3.0), at(150, 5.0)]), Some((2, 4.0)));
    }
}

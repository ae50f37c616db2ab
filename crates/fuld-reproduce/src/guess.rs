//! What a guess among ten classes comes to, by which runs are told that learned nothing.

use fuld_train::train::FinalMeans;

/// Ten classes, each as likely as the other.
const LOSS: f64 = std::f64::consts::LN_10;

/// Accuracy of a guess, in percent.
pub(crate) const ACCURACY: f64 = 10.0;

/// Test accuracies below this, in percent, are those of a guess: a network that gives the same answer to everything may be right a
/// little more often than one time in ten.
const LUCKY: f64 = 15.0;

/// Whether the loss is in the end at most twice that of a guess. A mean in which other runs take part says nothing of these.
pub(crate) fn is_sound(summary: &FinalMeans) -> bool {
    summary.train_loss <= 2.0 * LOSS
}

/// Whether a network knows more of the test set than a guess.
pub(crate) fn has_learned(summary: &FinalMeans) -> bool {
    100.0 * summary.test_accuracy >= LUCKY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_has_learned_nothing() {
        let of = |train_loss, test_accuracy| FinalMeans {
            measurements: 2,
            train_loss,
            train_accuracy: 0.5,
            test_loss: 1.0,
            test_accuracy,
        };
        let told = |loss, accuracy| (is_sound(&of(loss, accuracy)), has_learned(&of(loss, accuracy)));
        assert_eq!(told(0.1, 0.97), (true, true));
        assert_eq!(told(2.303, 0.1135), (true, false));
        assert_eq!(told(1e9, 0.6), (false, true));
        assert_eq!(told(f64::NAN, f64::NAN), (false, false));
    }
}

//! Softmax and cross entropy of rows of logits.

use super::Score;
use levy_stable::{exp, ln};

levy_stable::dispatched! {
    /// Replaces each row of logits by the gradient (p − target)/rows of the mean cross entropy, and
    /// returns that mean.
    pub(super) fn loss_and_gradient(logits: &mut [f32], labels: &[u8]) -> f64 {
        let classes = logits.len() / labels.len();
        let mut loss = 0.0;
        for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
            subtract_largest(row);
            loss -= f64::from(row[usize::from(label)]);
        }
        exponentials(logits);
        let share = 1.0 / labels.len() as f32;
        for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
            let sum: f32 = row.iter().sum();
            loss += logarithm(sum);
            let factor = share / sum;
            row.iter_mut().for_each(|p| *p *= factor);
            row[usize::from(label)] -= share;
        }
        loss / labels.len() as f64
    }
}

levy_stable::dispatched! {
    /// Returns the sums of the cross entropy and of the correct classifications over the rows, and
    /// changes the logits.
    pub(super) fn sums(logits: &mut [f32], labels: &[u8]) -> Score {
        let classes = logits.len() / labels.len();
        let mut sums = Score { loss: 0.0, accuracy: 0.0 };
        for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
            subtract_largest(row);
            let of_label = row[usize::from(label)];
            sums.loss -= f64::from(of_label);
            // The first of equal logits wins; a row with NaN is wrong.
            let before = &row[..usize::from(label)];
            let is_largest = row.iter().all(|&z| z <= of_label) && before.iter().all(|&z| z < of_label);
            sums.accuracy += f64::from(u8::from(is_largest));
        }
        exponentials(logits);
        for row in logits.chunks_exact(classes) {
            sums.loss += logarithm(row.iter().sum());
        }
        sums
    }
}

/// Subtracts the largest logit, so that no exponential overflows. `f32::max` ignores NaN, but the
/// sum of a row with NaN is not finite.
#[inline(always)]
fn subtract_largest(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|z| *z -= largest);
}

/// Returns the logarithm of a sum of exponentials. It is NaN if one of them is not finite.
#[inline(always)]
fn logarithm(sum: f32) -> f64 {
    if sum.is_finite() { ln(sum.into()) } else { f64::NAN }
}

/// Replaces numbers by their exponentials. NaN becomes infinite.
#[inline(always)]
fn exponentials(numbers: &mut [f32]) {
    for number in numbers {
        *number = exp((*number).into()) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let logits = [0.3f32, -1.2, 2.0, 0.0, 0.5, -0.5];
        let labels = [2, 0];
        let mut gradient = logits;
        let loss = loss_and_gradient(&mut gradient, &labels);
        assert!((loss - 0.5 * f64::from(sums(&mut { logits }, &labels).loss as f32)).abs() < 1e-6);
        for n in 0..logits.len() {
            let at = |step: f32| {
                let mut moved = logits;
                moved[n] += step;
                loss_and_gradient(&mut moved, &labels)
            };
            let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
            assert!((slope - f64::from(gradient[n])).abs() < 1e-4, "{slope} {}", gradient[n]);
        }
    }

    #[test]
    fn large_logits_do_not_overflow_and_nan_is_not_hidden() {
        let mut large = [1e4f32, -1e4];
        assert!(loss_and_gradient(&mut large, &[1]) == 2e4 && large == [1.0, -1.0]);
        for row in [[0.0, f32::NAN], [f32::NAN, 0.0], [f32::INFINITY, 0.0]] {
            assert!(loss_and_gradient(&mut { row }, &[0]).is_nan(), "{row:?}");
            assert!(sums(&mut { row }, &[0]).loss.is_nan(), "{row:?}");
        }
        assert_eq!(sums(&mut [f32::NAN, 1.0], &[1]).accuracy, 0.0);
        assert_eq!(sums(&mut [1.0, 1.0, 1.0, 1.0], &[0, 1]).accuracy, 1.0);
    }
}

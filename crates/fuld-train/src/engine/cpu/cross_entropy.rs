//! Softmax and cross entropy of rows of logits.

use super::Score;

/// Returns log Σexp of a row and its largest logit.
fn log_sum_exp(row: &[f32]) -> f32 {
    // `f32::max` ignores NaN, but the sum does not.
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = row.iter().map(|&z| libm::expf(z - largest)).sum();
    largest + libm::logf(sum)
}

/// Replaces each row of logits by the gradient (p − target)/rows of the mean cross entropy, and
/// returns that mean.
pub(super) fn loss_and_gradient(logits: &mut [f32], labels: &[u8]) -> f64 {
    let classes = logits.len() / labels.len();
    let share = 1.0 / labels.len() as f32;
    let mut loss = 0.0;
    for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
        let log_sum = log_sum_exp(row);
        loss += f64::from(log_sum - row[usize::from(label)]);
        row.iter_mut().for_each(|z| *z = libm::expf(*z - log_sum) * share);
        row[usize::from(label)] -= share;
    }
    loss / labels.len() as f64
}

/// Returns the sums of the cross entropy and of the correct classifications over the rows.
pub(super) fn sums(logits: &[f32], labels: &[u8]) -> Score {
    let classes = logits.len() / labels.len();
    let mut sums = Score { loss: 0.0, accuracy: 0.0 };
    for (row, &label) in logits.chunks_exact(classes).zip(labels) {
        let of_label = row[usize::from(label)];
        sums.loss += f64::from(log_sum_exp(row) - of_label);
        // The first of equal logits wins; a row with NaN is wrong.
        let before = &row[..usize::from(label)];
        let is_largest = row.iter().all(|&z| z <= of_label) && before.iter().all(|&z| z < of_label);
        sums.accuracy += f64::from(u8::from(is_largest));
    }
    sums
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
        assert!((loss - 0.5 * f64::from(sums(&logits, &labels).loss as f32)).abs() < 1e-6);
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
        assert!(loss_and_gradient(&mut [0.0, f32::NAN], &[0]).is_nan());
        assert!(loss_and_gradient(&mut [f32::INFINITY, 0.0], &[0]).is_nan());
        assert_eq!(sums(&[f32::NAN, 1.0], &[1]).accuracy, 0.0);
        assert_eq!(sums(&[1.0, 1.0, 1.0, 1.0], &[0, 1]).accuracy, 1.0);
    }
}

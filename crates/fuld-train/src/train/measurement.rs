//! Loss and accuracy of a network on whole sets of images.

use super::device_images::DeviceImages;
use crate::mlp::{ImageBatch, Mlp};
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::Backend;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Images per forward pass.
const CHUNK: usize = 500;

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

/// Returns mean cross entropy and accuracy of each run on the first `count` images.
///
/// On the host, the threads of the current pool share the chunks. Sums are taken in the order of
/// the chunks, so the result does not depend on the number of threads.
pub(super) fn score<B: Backend>(
    net: &Mlp<B>,
    feed: &DeviceImages<'_, B>,
    count: usize,
) -> Vec<(f64, f64)> {
    let chunks: Vec<Range<usize>> =
        (0..count).step_by(CHUNK).map(|start| start..(start + CHUNK).min(count)).collect();
    let score = |range: &Range<usize>| score_chunk(net, feed.range(range.clone()));
    let sums: Vec<Vec<(f64, f64)>> = if feed.on_host() {
        chunks.par_iter().map(score).collect()
    } else {
        chunks.iter().map(score).collect()
    };
    let runs = net.layers[0].dims()[0];
    let total = |run: usize| {
        let (loss, right) =
            sums.iter().fold((0.0, 0.0), |(a, b), sums| (a + sums[run].0, b + sums[run].1));
        (loss / count as f64, right / count as f64)
    };
    (0..runs).map(total).collect()
}

/// Returns the sum of cross entropies and the number of images that are classified correctly.
fn score_chunk<B: Backend>(net: &Mlp<B>, batch: ImageBatch<B>) -> Vec<(f64, f64)> {
    let logits = net.logits(batch.images);
    let right = logits.clone().argmax(2).equal(batch.targets.clone().argmax(2)).int().sum_dim(1);
    let losses = (log_softmax(logits, 2) * batch.targets).sum_dim(2).sum_dim(1).neg();
    let (losses, right) = (losses.into_data(), right.into_data());
    losses.iter::<f64>().zip(right.iter::<f64>()).collect()
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

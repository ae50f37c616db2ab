//! Warnings about data that violate the assumptions of the estimators.

use super::estimates::SampleEstimates;
use crate::grouped::grouped;
use levy_stable::tail_index::{Method, TailSample};

/// The largest share of one number that is not remarked on. A law with a density has no repeated
/// numbers; rounding may cause some.
const LARGEST_SHARE: f64 = 0.05;

/// Returns one sentence for each violated assumption.
pub(super) fn remarks(sample: &TailSample, estimates: &SampleEstimates) -> Vec<String> {
    [dependence(estimates), repeated_number(sample)].into_iter().flatten().collect()
}

/// Remarks on rows that depend on each other. Blocks are sums of neighbouring rows, and resampling
/// changes the neighbours, so the estimate lies outside its interval if neighbours are similar. It
/// did so for 3 of 540 samples of independent stable numbers.
fn dependence(estimates: &SampleEstimates) -> Option<String> {
    let data = estimates.by(Method::Blocks)?.data;
    (!data.alpha.contains(data.estimate.alpha)).then(|| {
        "Rows may depend on their order: the estimate by blocks lies outside its own bootstrap interval, which assumes independent \
         rows. If rows depend on the rows before them, the intervals above are wrong."
            .into()
    })
}

/// Remarks on a number that occurs too often.
fn repeated_number(sample: &TailSample) -> Option<String> {
    let most = sample.coordinates().map(longest_run).max()?;
    (most as f64 > LARGEST_SHARE * sample.len() as f64).then(|| {
        format!(
            "One number occurs {} times in {}. This is impossible for a stable law and distorts the estimates; leave the number out if \
             it marks missing values.",
            grouped(most),
            grouped(sample.len())
        )
    })
}

fn longest_run(numbers: &[f64]) -> usize {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0)
}

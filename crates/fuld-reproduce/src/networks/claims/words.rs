//! Differences in words, with their errors.

use crate::gap::Gap;
use crate::networks::arm::Arm;
use crate::networks::results::{Measure, Outcome, Results};

/// All of them, each with what is measured.
pub(super) fn differences(gaps: &[(Measure, Gap)]) -> String {
    let texts: Vec<String> =
        gaps.iter().map(|&(measure, gap)| format!("{} {}", measure.label(), amount(measure, gap))).collect();
    texts.join(", ")
}

/// By how much the first of two arms is higher or lower.
pub(super) fn amount(measure: Measure, gap: Gap) -> String {
    let (size, error) = (gap.mean.abs(), gap.error);
    let way = if measure.is_loss() == (gap.mean < 0.0) { "higher" } else { "lower" };
    match (measure.is_loss(), gap.is_known()) {
        (_, false) => "unknown, there being too few pairs of runs that did not explode".into(),
        (true, _) => format!("{size:.4} ± {error:.4} {way}"),
        (false, _) => format!("{size:.2} ± {error:.2} points {way}"),
    }
}

/// A probability.
pub(super) fn small(chance: f64) -> String {
    if chance < 0.001 { "below 0.001".into() } else { format!("{chance:.3}") }
}

/// With a capital and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect::<String>() + ".")
}

/// Never silently: runs of these cells that exploded are in no mean.
pub(super) fn explosions(results: &Results, arms: &[Arm], cells: &[(usize, usize)]) -> String {
    let told = |&arm: &Arm| {
        let runs: Vec<&Outcome> = cells.iter().flat_map(|&cell| results.of(arm, cell)).collect();
        let (count, all) = (runs.iter().filter(|run| run.sound().is_none()).count(), runs.len());
        (count > 0).then(|| format!("{count} of {all} runs of {}", arm.label()))
    };
    let told: Vec<String> = arms.iter().filter_map(told).collect();
    if told.is_empty() {
        String::new()
    } else {
        format!(" Exploded, and so in no mean: {}.", told.join(", "))
    }
}

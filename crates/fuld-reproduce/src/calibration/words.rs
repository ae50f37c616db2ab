//! Accuracies and cells in words.

use super::arm::Arm;
use super::outcome::{Cell, Results};

/// The mean accuracy of an arm in a cell with its error, and how many of its runs are lost.
pub(super) fn accuracy(results: &Results, arm: Arm, cell: &Cell) -> String {
    let (lost, all) = (results.lost(arm, cell), results.runs(arm, cell).count());
    match (lost, results.mean(arm, cell)) {
        (0, (mean, error)) if error.is_finite() => format!("{mean:.2} ± {error:.2}"),
        (0, (mean, _)) => format!("{mean:.2}"),
        (lost, _) if lost == all => "all lost".into(),
        (lost, (mean, _)) => format!("{mean:.1}, {lost} lost"),
    }
}

/// The law of the noise of a cell.
pub(super) fn law(cell: &Cell) -> String {
    cell.noise.map_or("no noise".into(), |noise| format!("α = {}, σ = {}", noise.alpha, noise.scale))
}

/// `5 of 9`, and `all 9`, `none of 9`.
pub(super) fn share(count: usize, all: usize) -> String {
    match count {
        0 => format!("none of {all}"),
        count if count == all => format!("all {all}"),
        count => format!("{count} of {all}"),
    }
}

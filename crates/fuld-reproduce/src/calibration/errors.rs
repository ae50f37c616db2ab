//! Test errors on a logarithmic axis, where both a small difference between good rules and a dead network can be seen.

use super::arm::Arm;
use super::outcome::{Cell, Results};
use fuld_plot::Axis;

/// The mean test error of an arm in a cell, in percent, and its standard error.
pub(super) fn error(results: &Results, arm: Arm, cell: &Cell) -> (f64, f64) {
    let (mean, error) = results.mean(arm, cell);
    (100.0 - mean, error)
}

/// An axis on which the errors of all arms in all cells have a place, the same for every panel of a figure.
pub(super) fn axis(results: &Results) -> Axis {
    let cells = results.cells();
    let all = cells.iter().flat_map(|cell| results.arms().into_iter().map(move |arm| (arm, cell)));
    let errors = all.map(|(arm, cell)| error(results, arm, cell).0);
    let (least, most) = errors.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    let ticks: &[f64] = if most > 8.0 * least {
        &[0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 90.0]
    } else {
        &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 90.0]
    };
    Axis::log("test error, %").range(least / 1.2, 1.2 * most).ticks(ticks)
}

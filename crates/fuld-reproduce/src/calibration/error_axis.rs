//! Test errors on a logarithmic axis, which shows small differences between good rules as well as lost runs.

use crate::study::network_runs::{Cell, NetworkRuns};
use crate::study::treatment::Treatment;
use fuld_plot::Axis;

/// Returns the mean test error of a treatment in a cell, in percent, and its standard error.
pub(super) fn test_error(runs: &NetworkRuns, treatment: Treatment, cell: &Cell) -> (f64, f64) {
    let (mean, error) = runs.mean_accuracy(treatment, cell);
    (100.0 - mean, error)
}

/// Returns an axis that holds the errors of all treatments in all cells.
pub(super) fn error_axis(runs: &NetworkRuns) -> Axis {
    let cells = runs.cells();
    let all = cells.iter().flat_map(|cell| runs.treatments().into_iter().map(move |t| (t, cell)));
    let errors =
        all.map(|(treatment, cell)| test_error(runs, treatment, cell).0).filter(|error| !error.is_nan());
    let (least, most) = errors.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    let ticks: &[f64] = if most > 8.0 * least {
        &[0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 90.0]
    } else {
        &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 90.0]
    };
    Axis::log("test error, %").range(least / 1.2, 1.2 * most).ticks(ticks)
}

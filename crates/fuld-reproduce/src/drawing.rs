//! Curves of rows, and the range of means with errors.

use fuld_plot::{Hue, Panel};

/// Returns a point for each row that is meant.
pub(crate) fn curve<R>(
    rows: &[R],
    is_meant: impl Fn(&R) -> bool,
    point: impl Fn(&R) -> (f64, f64),
) -> Vec<(f64, f64)> {
    rows.iter().filter(|row| is_meant(row)).map(point).collect()
}

/// Draws a curve for each tail index, in its colour. Rows are points (α, x, y).
pub(crate) fn by_alpha<R>(
    panel: Panel,
    draw: impl Fn(Panel, Hue, String, Vec<(f64, f64)>) -> Panel,
    rows: &[R],
    point: fn(&R) -> (f64, f64, f64),
) -> Panel {
    rows.chunk_by(|a, b| point(a).0 == point(b).0).fold(panel, |panel, curve| {
        let alpha = point(&curve[0]).0;
        let points = curve.iter().map(|row| (point(row).1, point(row).2)).collect();
        draw(panel, Hue::alpha(alpha), format!("α = {alpha}"), points)
    })
}

/// Returns a range that holds 0 and all points with their errors, with a small margin.
pub(crate) fn error_range(points: impl Iterator<Item = (f64, f64, f64)>) -> (f64, f64) {
    let (low, high) = points.fold((0.0f64, 0.0f64), |(low, high), (_, mean, error)| {
        let error = if error.is_finite() { error } else { 0.0 };
        (low.min(mean - error), high.max(mean + error))
    });
    let margin = 0.05 * (high - low).max(1e-9);
    (low - margin, high + margin)
}

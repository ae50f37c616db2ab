//! Curves of rows, and means with error bars, in a panel.

use fuld_plot::{Hue, Panel};

/// Returns a point for each row that is meant.
pub(crate) fn curve<R>(
    rows: &[R],
    is_meant: impl Fn(&R) -> bool,
    point: impl Fn(&R) -> (f64, f64),
) -> Vec<(f64, f64)> {
    rows.iter().filter(|row| is_meant(row)).map(point).collect()
}

/// Adds points joined by a line.
pub(crate) fn marked(panel: Panel, hue: Hue, label: impl Into<String>, points: Vec<(f64, f64)>) -> Panel {
    panel.line(hue, "", points.clone()).dots(hue, label, points)
}

/// Adds means joined by a line, with error bars of one standard error: points are (x, mean, error).
pub(crate) fn series(panel: Panel, hue: Hue, label: &str, dashed: bool, points: &[(f64, f64, f64)]) -> Panel {
    let line = curve(points, |_| true, |&(x, mean, _)| (x, mean));
    let known = points.iter().filter(|(.., error)| error.is_finite());
    let panel =
        panel.error_bars(hue, known.map(|&(x, mean, error)| (x, mean - error, mean + error)).collect());
    let panel =
        if dashed { panel.dashed(hue, label, line.clone()) } else { panel.line(hue, label, line.clone()) };
    panel.dots(hue, "", line)
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

//! Means over seeds with error bars, in a panel.

use fuld_plot::{Hue, Panel};

/// Adds means joined by a line, with error bars of one standard error: points are (x, mean, error).
pub(crate) fn series(
    mut panel: Panel,
    hue: Hue,
    label: &str,
    dashed: bool,
    points: &[(f64, f64, f64)],
) -> Panel {
    let line: Vec<(f64, f64)> = points.iter().map(|&(x, mean, _)| (x, mean)).collect();
    let bars: Vec<(f64, f64, f64)> = points
        .iter()
        .filter(|(.., error)| error.is_finite())
        .map(|&(x, mean, error)| (x, mean - error, mean + error))
        .collect();
    panel = panel.error_bars(hue, bars);
    panel =
        if dashed { panel.dashed(hue, label, line.clone()) } else { panel.line(hue, label, line.clone()) };
    panel.dots(hue, "", line)
}

//! The figures: measures over depth, a panel for each width, and what is gained against what.

use super::arm::Arm;
use super::results::{Measure, Results};
use crate::series::series;
use fuld_plot::{Axis, Figure, Hue, Panel};

/// How far arms stand apart on the axis of depths, so that their error bars do not cover each other.
const APART: f64 = 0.09;

/// One figure: rows are measures, columns are widths. A single width has two panels in a row.
pub(super) fn measures(name: &str, results: &Results, widths: &[usize], rows: &[Measure]) -> Figure {
    let mut figure = Figure::new(name).columns(widths.len().max(2)).panel_height(240.0);
    for &measure in rows {
        for &width in widths {
            figure = figure.panel(panel(results, width, measure));
        }
    }
    figure
}

fn panel(results: &Results, width: usize, measure: Measure) -> Panel {
    let depths = depths(results, width);
    let axis = if measure.is_loss() {
        Axis::log(measure.label())
    } else {
        Axis::linear(format!("{}, %", measure.label()))
    };
    let mut panel = Panel::new(format!("width {width}")).x(depth_axis(&depths)).y(axis);
    for (place, arm) in (-2i32..).zip(Arm::ALL) {
        let mut points = Vec::new();
        for &depth in &depths {
            if let Some((mean, error)) = results.mean(arm, (width, depth), measure) {
                points.push((depth as f64 + APART * f64::from(place), mean, error));
            }
        }
        panel = series(panel, arm.hue(), arm.label(), arm.is_control(), &points);
    }
    panel
}

/// By how much α = 1.75 lowers the test loss against α = 2, and against SGDm at the matched step: a row by the formula, a row by the code,
/// all on one scale.
pub(super) fn gains(name: &str, results: &Results, widths: &[usize]) -> Figure {
    let rows =
        [(Arm::Paper, Arm::PaperControl, "formula"), (Arm::Authors, Arm::AuthorsControl, "authors' code")];
    let against = |arm: Arm, other: Arm, width: usize, shift: f64| -> Vec<(f64, f64, f64)> {
        let gap = |depth: usize| {
            let gap = results.gap(arm, other, Measure::TestLoss, &[(width, depth)]);
            (depth as f64 + shift, gap.mean, gap.error)
        };
        depths(results, width).into_iter().map(gap).filter(|(_, mean, _)| mean.is_finite()).collect()
    };
    let mut panels = Vec::new();
    for (arm, control, title) in rows {
        for &width in widths {
            let (over_gauss, over_control) =
                (against(arm, Arm::Gauss, width, -APART), against(arm, control, width, APART));
            panels.push((format!("{title}, width {width}"), width, over_gauss, over_control));
        }
    }
    let ends = panels.iter().flat_map(|(_, _, a, b)| a.iter().chain(b)).flat_map(|&(_, mean, error)| {
        let error = if error.is_finite() { error } else { 0.0 };
        [mean - error, mean + error]
    });
    let (low, high) = ends.fold((0.0f64, 0.0f64), |(low, high), end| (low.min(end), high.max(end)));
    let room = 0.05 * (high - low).max(1e-9);
    let mut figure = Figure::new(name).columns(widths.len().max(2)).panel_height(240.0);
    for (title, width, over_gauss, over_control) in panels {
        let panel = Panel::new(title)
            .x(depth_axis(&depths(results, width)))
            .y(Axis::linear("test loss, lower by").range(low - room, high + room))
            .horizontal(0.0, "");
        let panel = series(panel, Hue::Vermillion, "than with α = 2 at the same η", false, &over_gauss);
        figure =
            figure.panel(series(panel, Hue::Blue, "than with SGDm at the matched step", true, &over_control));
    }
    figure
}

fn depths(results: &Results, width: usize) -> Vec<usize> {
    results.cells().into_iter().filter(|cell| cell.0 == width).map(|cell| cell.1).collect()
}

fn depth_axis(depths: &[usize]) -> Axis {
    let ticks: Vec<f64> = depths.iter().map(|&depth| depth as f64).collect();
    let (low, high) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
    Axis::linear("depth").range(low - 0.5, high + 0.5).ticks(&ticks)
}

//! The figures: measures over depth with a panel for each width, and the gain of α = 1.75 over its two rivals.

use crate::drawing::error_range;
use crate::exhibit::CaptionedFigure;
use crate::study::{Cell, ImageSet, Measure, NetworkRuns, Treatment};
use fuld_plot::{Axis, Figure, Hue, Panel};

/// Distance between treatments on the axis of depths, so that their error bars do not cover each other.
const APART: f64 = 0.09;
/// Widths in the paper's main text; the others are in its supplement.
const MAIN_WIDTHS: [usize; 2] = [128, 256];

/// Returns the figures, numbered as in the paper.
pub(super) fn figures(runs: &NetworkRuns) -> Vec<CaptionedFigure> {
    const TRAIN: [Measure; 2] = [Measure::TrainLoss, Measure::TrainAccuracy];
    const TEST: [Measure; 2] = [Measure::TestLoss, Measure::TestAccuracy];
    let numbers = match runs.data() {
        ImageSet::Digits => None,
        ImageSet::Mnist => Some((5, 6)),
        ImageSet::Cifar10 => Some((7, 8)),
    };
    let id = runs.data().id();
    let all = runs.widths();
    // Three panels fit beside each other.
    let (main, others): (Vec<usize>, Vec<usize>) = match numbers {
        None if all.len() <= 3 => (all, Vec::new()),
        _ => all.into_iter().partition(|width| MAIN_WIDTHS.contains(width)),
    };
    let figure = |name: String, widths: &[usize], rows: &[Measure], caption: String| {
        CaptionedFigure::new(measures(&name, runs, widths, rows), caption)
    };
    let mut figures = match numbers {
        None => vec![
            figure(format!("networks-{id}-train"), &main, &TRAIN, "Training on the digits.".into()),
            figure(format!("networks-{id}-test"), &main, &TEST, "The same networks on the test set.".into()),
        ],
        Some((train, test)) => vec![
            figure(
                format!("fig{train}-{id}-train"),
                &main,
                &TRAIN,
                format!("The paper's Figure {train}: training."),
            ),
            figure(format!("fig{test}-{id}-test"), &main, &TEST, format!("The paper's Figure {test}: test.")),
        ],
    };
    if !others.is_empty() {
        let prefix = if numbers.is_some() { "supplement" } else { "networks" };
        let caption = "The widths of the paper's supplement, training and test.".into();
        figures.push(figure(format!("{prefix}-{id}-widths"), &others, &Measure::ALL, caption));
    }
    for (name, widths) in [("gain", main), ("gain-widths", others)] {
        if !widths.is_empty() {
            figures.push(CaptionedFigure::new(
                gains(&format!("networks-{id}-{name}"), runs, &widths),
                "How much α = 1.75 lowers the test loss, seed by seed: against α = 2, and against SGD with momentum at the matched step. \
                 First row: the paper's formula. Second row: the authors' code.",
            ));
        }
    }
    figures
}

/// Draws a row for each measure and a column for each width. A single width has two panels in a row.
fn measures(name: &str, runs: &NetworkRuns, widths: &[usize], rows: &[Measure]) -> Figure {
    let mut figure = Figure::new(name).columns(widths.len().max(2)).panel_height(240.0);
    for &measure in rows {
        for &width in widths {
            figure = figure.panel(panel(runs, width, measure));
        }
    }
    figure
}

fn panel(runs: &NetworkRuns, width: usize, measure: Measure) -> Panel {
    let cells = runs.cells_of_width(width);
    let axis = if measure.is_loss() {
        Axis::log(measure.label())
    } else {
        Axis::linear(format!("{}, %", measure.label()))
    };
    let mut panel = Panel::new(format!("width {width}")).x(depth_axis(runs, width)).y(axis);
    for (place, treatment) in (-2i32..).zip(Treatment::PAPER) {
        let point = |cell: &Cell| {
            let (mean, error) = runs.mean(treatment, cell, measure)?;
            Some((cell.depth as f64 + APART * f64::from(place), mean, error))
        };
        let points: Vec<_> = cells.iter().filter_map(point).collect();
        panel = panel.means(treatment.hue(), treatment.label(), treatment.is_control(), &points);
    }
    panel
}

/// Draws the decrease of the test loss against α = 2 and against SGDm at the matched step, all panels on one scale.
fn gains(name: &str, runs: &NetworkRuns, widths: &[usize]) -> Figure {
    use Treatment::{AuthorsCode, AuthorsControl, PaperControl, PaperFormula, PaperGaussian};
    let rows = [(PaperFormula, PaperControl, "formula"), (AuthorsCode, AuthorsControl, "authors' code")];
    let against = |treatment, other, width: usize, shift: f64| -> Vec<(f64, f64, f64)> {
        let points = runs.cells_of_width(width).into_iter().map(|cell| {
            let difference = runs.over(treatment, other, Measure::TestLoss, &[cell]);
            (cell.depth as f64 + shift, difference.mean, difference.error)
        });
        points.filter(|(_, mean, _)| mean.is_finite()).collect()
    };
    let mut panels = Vec::new();
    for (treatment, control, title) in rows {
        for &width in widths {
            let over_gaussian = against(treatment, PaperGaussian, width, -APART);
            let over_control = against(treatment, control, width, APART);
            panels.push((format!("{title}, width {width}"), width, over_gaussian, over_control));
        }
    }
    let range = error_range(panels.iter().flat_map(|(_, _, a, b)| a.iter().chain(b)).copied());
    let mut figure = Figure::new(name).columns(widths.len().max(2)).panel_height(240.0);
    for (title, width, over_gaussian, over_control) in panels {
        let panel = Panel::new(title)
            .x(depth_axis(runs, width))
            .y(Axis::linear("test loss, lower by").range(range.0, range.1))
            .horizontal(0.0, "")
            .means(Hue::Vermillion, "than with α = 2 at the same η", false, &over_gaussian)
            .means(Hue::Blue, "than with SGDm at the matched step", true, &over_control);
        figure = figure.panel(panel);
    }
    figure
}

fn depth_axis(runs: &NetworkRuns, width: usize) -> Axis {
    let ticks: Vec<f64> = runs.cells_of_width(width).iter().map(|cell| cell.depth as f64).collect();
    let (low, high) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
    Axis::linear("depth").range(low - 0.5, high + 0.5).ticks(&ticks)
}

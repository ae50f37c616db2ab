//! The figures: measures over depth with a panel for each width, and the gain of α = 1.75 over its
//! two rivals.

use crate::drawing::error_range;
use crate::exhibit::CaptionedFigure;
use crate::study::{Cell, ImageSet, Measure, NetworkRuns, Treatment};
use fuld_plot::{Axis, Figure, Hue, Panel};

/// Distance between treatments on the axis of depths, so that their error bars do not cover each
/// other.
const APART: f64 = 0.09;
/// Widths in the paper's main text; the others are in its supplement.
const MAIN_WIDTHS: [usize; 2] = [128, 256];

/// Returns the figures, numbered as in the paper.
pub(super) fn figures(runs: &NetworkRuns) -> Vec<CaptionedFigure> {
    use Measure::{TestAccuracy, TestLoss, TrainAccuracy, TrainLoss};
    let (id, all) = (runs.data().id(), runs.widths());
    // The paper's figures have numbers; the digits are not in the paper.
    let (train, test, widths, captions) = match runs.data() {
        ImageSet::Digits => {
            let captions = ["Training on the digits.", "The same networks on the test set."];
            (format!("networks-{id}-train"), format!("networks-{id}-test"), "networks", captions)
        }
        ImageSet::Mnist => {
            let captions = ["The paper's Figure 5: training.", "The paper's Figure 6: test."];
            ("fig5-mnist-train".into(), "fig6-mnist-test".into(), "supplement", captions)
        }
        ImageSet::Cifar10 => {
            let captions = ["The paper's Figure 7: training.", "The paper's Figure 8: test."];
            ("fig7-cifar10-train".into(), "fig8-cifar10-test".into(), "supplement", captions)
        }
    };
    // Three panels fit beside each other.
    let (main, others): (Vec<usize>, Vec<usize>) = match runs.data() {
        ImageSet::Digits if all.len() <= 3 => (all, Vec::new()),
        _ => all.into_iter().partition(|width| MAIN_WIDTHS.contains(width)),
    };
    let mut figures = vec![
        CaptionedFigure::new(
            measures(&train, runs, &main, &[TrainLoss, TrainAccuracy]),
            captions[0],
        ),
        CaptionedFigure::new(measures(&test, runs, &main, &[TestLoss, TestAccuracy]), captions[1]),
    ];
    if !others.is_empty() {
        let figure = measures(&format!("{widths}-{id}-widths"), runs, &others, &Measure::ALL);
        let caption = "The widths of the paper's supplement, training and test.";
        figures.push(CaptionedFigure::new(figure, caption));
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

/// Draws a row for each measure and a column for each width. A single width has two panels in a
/// row.
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
    let mut panel = Panel::new(format!("width {width}")).x(runs.depth_axis(width, 0.5)).y(axis);
    for (place, treatment) in (-2i32..).zip(Treatment::PAPER) {
        let point = |cell: &Cell| {
            let (mean, error) = runs.mean(treatment, cell, measure)?;
            Some((cell.depth as f64 + APART * f64::from(place), mean, error))
        };
        let points: Vec<_> = cells.iter().filter_map(point).collect();
        panel = panel.means(treatment.hue(), &treatment.label(), treatment.is_control(), &points);
    }
    panel
}

/// Draws the decrease of the test loss against α = 2 and against SGDm at the matched step, all
/// panels on one scale.
fn gains(name: &str, runs: &NetworkRuns, widths: &[usize]) -> Figure {
    use Treatment::{AuthorsCode, AuthorsControl, PaperControl, PaperFormula, PaperGaussian};
    let rows =
        [(PaperFormula, PaperControl, "formula"), (AuthorsCode, AuthorsControl, "authors' code")];
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
            .x(runs.depth_axis(width, 0.5))
            .y(Axis::linear("test loss, lower by").range(range.0, range.1))
            .horizontal(0.0, "")
            .means(Hue::Vermillion, "than with α = 2 at the same η", false, &over_gaussian)
            .means(Hue::Blue, "than with SGDm at the matched step", true, &over_control);
        figure = figure.panel(panel);
    }
    figure
}

//! No injected noise, at the paper's widths and depths: the guard should cost nothing.

use super::compared::Compared;
use super::{
    COMPARISONS, Comparison, GroupSummary, SGDM, accuracy_table, error_axis, error_curves,
};
use crate::drawing::error_range;
use crate::study::{Cell, NetworkRuns, Pairs};
use crate::{CaptionedFigure, Claim, Judgement};
use fuld_plot::{Axis, Figure, Panel};

pub(super) fn part(runs: &NetworkRuns) -> GroupSummary {
    let caption = "No injected noise: test errors of SGDm at the paper's η = γ = 0.1, which is a learning rate of 0.01 at momentum 0.99; a \
                   lost run counts as a random answer, 90 %. Below them, what the guard adds to the test accuracy of SGDm and of Adam, seed \
                   by seed, where neither run is lost.";
    let label = |cell: &Cell| [cell.size_label()];
    GroupSummary {
        figure: Some(CaptionedFigure::new(figure(runs), caption)),
        table: Some(accuracy_table(
            runs,
            &runs.treatments(),
            (["network"], label),
            (&COMPARISONS, Pairs::Learned),
        )),
        claims: COMPARISONS.iter().map(|it| never_worse(runs, it)).collect(),
    }
}

/// Draws a row of errors and a row of differences, with a column for each width.
fn figure(runs: &NetworkRuns) -> Figure {
    let widths = runs.widths();
    let differences = |width: usize, place: usize| -> Vec<(f64, f64, f64)> {
        let (it, shift) = (&COMPARISONS[place], 0.15 * (place as f64 - 1.0));
        let gap = |cell: Cell| {
            (cell.depth as f64, runs.ahead(it.guarded, it.plain, &cell, Pairs::Learned))
        };
        let gaps =
            runs.cells_of_width(width).into_iter().map(gap).filter(|(_, gap)| gap.is_known());
        gaps.map(|(depth, gap)| (depth + shift, gap.mean, gap.error)).collect()
    };
    let places = || 0..COMPARISONS.len();
    let all =
        widths.iter().flat_map(|&width| places().flat_map(move |place| differences(width, place)));
    let (low, high) = error_range(all);
    let name = format!("guard-{}-clean", runs.data().id());
    let mut figure = Figure::new(name).columns(widths.len().max(2)).panel_height(230.0);
    for &width in &widths {
        let panel = Panel::new(format!("width {width}"))
            .x(runs.depth_axis(width, 1.0))
            .y(error_axis(runs, &SGDM));
        let x = |cell: &Cell, shift: f64| cell.depth as f64 + 0.1 * shift;
        figure = figure.panel(error_curves(panel, runs, &SGDM, &runs.cells_of_width(width), x));
    }
    for &width in &widths {
        let mut panel = Panel::new(format!("width {width}, guarded − not guarded"))
            .x(runs.depth_axis(width, 1.0))
            .y(Axis::linear("points").range(low, high))
            .horizontal(0.0, "");
        for place in places() {
            let guarded = COMPARISONS[place].guarded;
            panel = panel.means(guarded.hue(), &guarded.label(), false, &differences(width, place));
        }
        figure = figure.panel(panel);
    }
    figure
}

fn never_worse(runs: &NetworkRuns, it: &Comparison) -> Claim {
    let compared =
        Compared::with(runs, it.guarded, |_| Some(it.plain), Pairs::Learned, Cell::size_label);
    runs.claim(
        &format!("clean-{}", it.id),
        format!(
            "without injected noise, the guard costs nothing: {} is not worse than {} beyond chance for any network, nor on average.",
            it.guarded.label(),
            it.plain.label()
        ),
        compared.not_worse_text("networks"),
        Judgement::of(compared.not_worse()),
    )
}

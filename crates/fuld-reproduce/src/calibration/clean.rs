//! No injected noise, at the paper's widths, depths and step: auto should not be worse than SGDm.

use super::{GroupSummary, auto_ahead, error_axis, pair_series, pair_table, test_error};
use crate::drawing::error_range;
use crate::study::{Cell, Difference, NetworkRuns, Pairs, SIGNIFICANT, Treatment, share};
use crate::{CaptionedFigure, Claim, Judgement};
use fuld_plot::{Axis, Figure, Panel};

/// Standard errors by which auto must be behind in a cell to count as worse there. With five seeds, four degrees of freedom, chance
/// alone does so once in 190, and in one of nine cells once in twenty.
const SIGNIFICANT_IN_ONE: f64 = 4.5;

pub(super) fn part(runs: &NetworkRuns) -> GroupSummary {
    let caption = "No injected noise, the paper's η = γ = 0.1, which is a learning rate of 0.01 at momentum 0.99: test errors, where a lost \
                   run counts as a random answer, 90 %, and below them the difference seed by seed, where neither run is lost.";
    let difference = Some(("auto − SGDm, neither lost", Pairs::Learned));
    GroupSummary {
        figure: Some(CaptionedFigure::new(figure(runs), caption)),
        table: Some(pair_table(runs, ["network"], |cell| [cell.size_label()], difference)),
        claims: vec![never_worse(runs)],
    }
}

/// Draws a row of errors and a row of differences, with a column for each width.
fn figure(runs: &NetworkRuns) -> Figure {
    let widths = runs.widths();
    let differences = |width: usize| -> Vec<(f64, f64, f64)> {
        let gaps = runs.cells_of_width(width).into_iter();
        let gaps = gaps.map(|cell| (cell.depth as f64, auto_ahead(runs, &cell, Pairs::Learned)));
        gaps.filter(|(_, gap)| gap.is_known()).map(|(x, gap)| (x, gap.mean, gap.error)).collect()
    };
    let (low, high) = error_range(widths.iter().flat_map(|&width| differences(width)));
    let name = format!("calibration-{}-clean", runs.data().id());
    let mut figure = Figure::new(name).columns(widths.len().max(2)).panel_height(230.0);
    for &width in &widths {
        let panel = Panel::new(format!("width {width}")).x(runs.depth_axis(width, 1.0)).y(error_axis(runs));
        let x = |cell: &Cell, side: f64| cell.depth as f64 + 0.1 * side;
        figure = figure.panel(pair_series(panel, runs, &runs.cells_of_width(width), x, test_error));
    }
    for &width in &widths {
        let panel = Panel::new(format!("width {width}, auto − SGDm"))
            .x(runs.depth_axis(width, 1.0))
            .y(Axis::linear("points").range(low, high))
            .horizontal(0.0, "")
            .means(Treatment::Auto.hue(), "", false, &differences(width));
        figure = figure.panel(panel);
    }
    figure
}

/// "Never worse than SGDm at the same learning rate beyond seed noise."
fn never_worse(runs: &NetworkRuns) -> Claim {
    let gap = |cell: Cell| (cell, auto_ahead(runs, &cell, Pairs::Learned));
    let gaps: Vec<(Cell, Difference)> = runs.cells().into_iter().map(gap).collect();
    let worse = |(cell, gap): &(Cell, Difference)| {
        runs.lost(Treatment::Auto, cell) > runs.lost(Treatment::Sgdm, cell)
            || -gap.mean > SIGNIFICANT_IN_ONE * gap.error
    };
    let mean = Difference::average_of_known(gaps.iter().map(|(_, gap)| *gap));
    let worst = gaps.iter().filter(|(_, gap)| gap.is_known());
    let worst = worst.min_by(|a, b| (a.1.mean / a.1.error).total_cmp(&(b.1.mean / b.1.error)));
    let worst = worst.map_or(String::new(), |(cell, gap)| {
        format!(" The worst, in standard errors, is {}: {}.", cell.size_label(), gap.points())
    });
    let checks = gaps.iter().map(|it| {
        (!worse(it), format!("at {} it is {} or loses more runs", it.0.size_label(), it.1.points()))
    });
    let on_average = (mean.is_known() && !mean.is_loss(), format!("on average it is {}", mean.points()));
    runs.claim(
        "never-worse",
        "without injected noise, auto is never significantly worse than SGDm at the same learning rate.",
        format!(
            "Worse in {} networks (by more than {SIGNIFICANT_IN_ONE} standard errors, or with more lost runs); {} on average, where \
             {SIGNIFICANT} standard errors would be significant.{worst}",
            share(gaps.iter().filter(|it| worse(it)).count(), gaps.len()),
            mean.points()
        ),
        Judgement::of(checks.chain([on_average])),
    )
}

#[cfg(test)]
mod tests {
    use super::super::PAIR;
    use super::*;
    use crate::claim::Verdict;
    use crate::study::test_rows::{PLAIN, accuracies};
    use crate::study::{Group, RunOutcome};

    /// SGDm at 95 %, and auto ahead by a function of depth and seed.
    fn runs(auto: impl Fn(usize, u64) -> f64) -> NetworkRuns {
        let cells = [2, 5, 9].map(|depth| Cell { depth, ..PLAIN });
        accuracies(Group::Clean, &PAIR, &cells, |treatment, cell, seed| {
            95.0 + if treatment == Treatment::Auto { auto(cell.depth, seed) } else { 0.0 }
        })
    }

    fn jitter(seed: u64) -> f64 {
        0.1 * (seed as f64 - 2.0)
    }

    #[test]
    fn chance_is_not_worse_and_a_significant_loss_is() {
        let claim = |auto: fn(usize, u64) -> f64| never_worse(&runs(auto));
        assert_eq!(claim(|_, seed| jitter(seed) - 0.05).verdict, Verdict::Holds);
        let worse = claim(|depth, seed| jitter(seed) - if depth == 9 { 1.0 } else { 0.0 });
        assert_eq!(worse.verdict, Verdict::InPart);
        assert!(
            worse.measured.contains("1 of 3") && worse.measured.contains("depth 9: −1.00"),
            "{}",
            worse.measured
        );
        // No cell is significant, but all together are.
        assert_eq!(claim(|_, seed| 3.0 * jitter(seed) - 0.55).verdict, Verdict::InPart);
    }

    #[test]
    fn the_treatment_that_is_lost_more_often_is_worse() {
        let lost = |treatment: Treatment| {
            let mut runs = runs(|_, seed| jitter(seed));
            let run = runs.rows.iter_mut().find(|run| run.treatment == treatment).unwrap();
            run.outcome = RunOutcome::Diverged;
            never_worse(&runs).verdict
        };
        assert_eq!((lost(Treatment::Auto), lost(Treatment::Sgdm)), (Verdict::InPart, Verdict::Holds));
    }
}

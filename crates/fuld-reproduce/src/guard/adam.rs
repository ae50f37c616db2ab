//! Stable noise on every gradient: Adam with a guard against Adam without.

use super::compared::Compared;
use super::{
    ADAM, COMPARISONS, Comparison, GUARDED_ADAM, GroupSummary, TIGHTLY_GUARDED_ADAM,
    accuracy_table, panel_over_scales,
};
use crate::study::{Cell, NetworkRuns, Pairs, Treatment, distinct};
use crate::{CaptionedFigure, Claim, Judgement};
use fuld_plot::Figure;

pub(super) fn part(runs: &NetworkRuns) -> GroupSummary {
    let caption = "Symmetric stable noise on every gradient: the test error of Adam over the noise scale, with a panel for each tail index; \
                   means over seeds with one standard error, on a logarithmic axis.";
    let label = |cell: &Cell| [cell.noise_label()];
    let differences: &[Comparison] = &COMPARISONS[1..];
    GroupSummary {
        figure: Some(CaptionedFigure::new(figure(runs), caption)),
        table: Some(accuracy_table(runs, &ADAM, (["noise"], label), (differences, Pairs::All))),
        claims: vec![default_is_not_worse(runs), tight_is_better(runs)],
    }
}

fn alpha(cell: &Cell) -> f64 {
    cell.noise.map_or(f64::NAN, |noise| noise.alpha)
}

fn figure(runs: &NetworkRuns) -> Figure {
    let cells = runs.cells();
    let alphas = distinct(cells.iter().map(alpha));
    let mut figure = Figure::new(format!("guard-{}-adam", runs.data().id()));
    figure = figure.columns(alphas.len().max(2)).panel_height(230.0);
    for of in alphas {
        let cells: Vec<Cell> = cells.iter().copied().filter(|cell| alpha(cell) == of).collect();
        figure = figure.panel(panel_over_scales(format!("α = {of}"), runs, &ADAM, &cells));
    }
    figure
}

fn compared(runs: &NetworkRuns, guarded: Treatment) -> Compared {
    Compared::with(runs, guarded, |_| Some(Treatment::Adam), Pairs::All, Cell::noise_label)
}

fn default_is_not_worse(runs: &NetworkRuns) -> Claim {
    let compared = compared(runs, GUARDED_ADAM);
    runs.claim(
        "adam-30-not-worse",
        format!(
            "with stable noise on every gradient, {} is at least as good as Adam: not worse beyond chance for any law of the noise, nor on \
             average.",
            GUARDED_ADAM.label()
        ),
        compared.not_worse_text("laws of the noise"),
        Judgement::of(compared.not_worse()),
    )
}

fn tight_is_better(runs: &NetworkRuns) -> Claim {
    let compared = compared(runs, TIGHTLY_GUARDED_ADAM);
    let mean = compared.mean();
    let better = (
        mean.is_known() && mean.is_gain(),
        format!("on average the difference is {}", mean.points()),
    );
    runs.claim(
        "adam-3-better",
        format!(
            "with stable noise on every gradient, {} is better than Adam: significantly on average over the laws of the noise, and not \
             worse beyond chance for any of them.",
            TIGHTLY_GUARDED_ADAM.label()
        ),
        compared.not_worse_text("laws of the noise"),
        Judgement::of(compared.not_worse().chain([better])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::study::Group;
    use crate::study::test_rows::{accuracies, noisy};

    /// Adam at 95 %, and its guards ahead by a function of the tail index.
    fn runs(ahead: impl Fn(f64) -> f64) -> NetworkRuns {
        let cells = [noisy(1.2, 0.001), noisy(1.5, 0.001), noisy(1.5, 0.01)];
        accuracies(Group::Noise, &ADAM, &cells, |treatment, cell, seed| match treatment {
            Treatment::Adam => 95.0,
            _ => 95.0 + ahead(alpha(cell)) + 0.1 * (seed as f64 - 2.0),
        })
    }

    #[test]
    fn better_is_more_than_not_worse() {
        let verdicts = |ahead: fn(f64) -> f64| {
            let runs = runs(ahead);
            (default_is_not_worse(&runs).verdict, tight_is_better(&runs).verdict)
        };
        assert_eq!(verdicts(|_| 0.0), (Verdict::Holds, Verdict::InPart));
        assert_eq!(verdicts(|_| 1.0), (Verdict::Holds, Verdict::Holds));
        // A gain for one law does not make up for a loss for another.
        let mixed = verdicts(|alpha| if alpha == 1.2 { 9.0 } else { -1.0 });
        assert_eq!(mixed, (Verdict::InPart, Verdict::InPart));
        assert_eq!(verdicts(|_| -1.0), (Verdict::Fails, Verdict::Fails));
    }
}

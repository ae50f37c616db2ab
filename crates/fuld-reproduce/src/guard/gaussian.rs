//! Gaussian noise on every gradient: the noise has no heavy tail, and the guard should cost little.

use super::compared::{Compared, NEAR};
use super::{
    ADAM, COMPARISONS, Comparison, GroupSummary, SGDM, accuracy_table, noise_scale,
    panel_over_scales,
};
use crate::study::{Cell, NetworkRuns, Pairs};
use crate::{CaptionedFigure, Claim, Judgement};
use fuld_plot::Figure;

pub(super) fn part(runs: &NetworkRuns) -> GroupSummary {
    let caption =
        "Gaussian noise on every gradient, N(0, 2σ²): test errors over σ, on a logarithmic axis.";
    let label = |cell: &Cell| [noise_scale(cell).to_string()];
    let cells = runs.cells();
    let figure = Figure::new(format!("guard-{}-gaussian", runs.data().id()))
        .panel_height(230.0)
        .panel(panel_over_scales("SGDm", runs, &SGDM, &cells))
        .panel(panel_over_scales("Adam", runs, &ADAM, &cells));
    let columns = (["Gaussian noise, σ"], label);
    GroupSummary {
        figure: Some(CaptionedFigure::new(figure, caption)),
        table: Some(accuracy_table(runs, &runs.treatments(), columns, (&COMPARISONS, Pairs::All))),
        claims: COMPARISONS.iter().map(|it| costs_little(runs, it)).collect(),
    }
}

fn costs_little(runs: &NetworkRuns, it: &Comparison) -> Claim {
    let label = |cell: &Cell| format!("σ = {}", noise_scale(cell));
    let compared = Compared::with(runs, it.guarded, |_| Some(it.plain), Pairs::All, label);
    runs.claim(
        &format!("gaussian-{}", it.id),
        format!(
            "with Gaussian noise on every gradient, {} is at most {NEAR} points of test accuracy behind {}.",
            it.guarded.label(),
            it.plain.label()
        ),
        compared.near_text("scales"),
        Judgement::of(compared.near()),
    )
}

//! Gaussian noise on every gradient: there is no heavy tail, and auto should equal SGD with momentum.

use super::estimates::EstimateRow;
use super::noise::NEAR;
use super::{PAIR, Part};
use crate::claim::{Claim, Judgement};
use crate::exhibit::{CaptionedFigure, TextTable};
use crate::series::series;
use crate::study::difference::{Difference, SIGNIFICANT, share};
use crate::study::network_runs::{Cell, Group, NetworkRuns, Pairs};
use crate::study::treatment::Treatment;
use fuld_plot::{Axis, Figure, Hue, Panel};

pub(super) fn part(runs: &NetworkRuns, estimates: &[EstimateRow]) -> Part {
    let caption = "Gaussian noise on every gradient, N(0, 2σ²): accuracies, and the difference seed by seed.";
    Part {
        figure: Some(CaptionedFigure::new(figure(runs), caption)),
        table: Some(table(runs)),
        claims: vec![equal(runs, estimates)],
    }
}

fn scale(cell: &Cell) -> f64 {
    cell.noise.map_or(f64::NAN, |noise| noise.scale)
}

fn ahead(runs: &NetworkRuns, cell: &Cell) -> Difference {
    runs.ahead(Treatment::Auto, Treatment::Sgdm, cell, Pairs::All)
}

fn figure(runs: &NetworkRuns) -> Figure {
    let cells = runs.cells();
    let scales: Vec<f64> = cells.iter().map(scale).collect();
    let (low, high) = scales.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    let axis = || Axis::log("noise scale").range(low / 1.5, 1.5 * high).ticks(&scales);
    let mut accuracy = Panel::new("accuracy").x(axis()).y(Axis::linear("test accuracy, %"));
    for (treatment, shift) in PAIR.into_iter().zip([0.98, 1.02]) {
        let point = |cell: &Cell| {
            let (mean, error) = runs.mean_accuracy(treatment, cell);
            (shift * scale(cell), mean, error)
        };
        let points: Vec<_> = cells.iter().map(point).collect();
        accuracy = series(accuracy, treatment.hue(), treatment.label(), treatment.is_control(), &points);
    }
    let point = |cell: &Cell| (scale(cell), ahead(runs, cell).mean, ahead(runs, cell).error);
    let differences: Vec<_> = cells.iter().map(point).collect();
    let difference = Panel::new("auto − SGDm").x(axis()).y(Axis::linear("points")).horizontal(0.0, "");
    let difference = series(difference, Hue::Ink, "", false, &differences);
    let name = format!("calibration-{}-gaussian", runs.data().id());
    Figure::new(name).panel_height(230.0).panel(accuracy).panel(difference)
}

fn table(runs: &NetworkRuns) -> TextTable {
    let mut table = TextTable::new(["Gaussian noise, σ", "SGDm", "auto", "auto − SGDm"]);
    for cell in runs.cells() {
        let [sgdm, auto] = PAIR.map(|treatment| runs.accuracy_text(treatment, &cell));
        table = table.row([scale(&cell).to_string(), sgdm, auto, ahead(runs, &cell).signed(2)]);
    }
    table
}

/// "Equal to SGDm."
fn equal(runs: &NetworkRuns, estimates: &[EstimateRow]) -> Claim {
    let gaps: Vec<(f64, Difference)> =
        runs.cells().iter().map(|cell| (scale(cell), ahead(runs, cell))).collect();
    let mean = Difference::average_of_known(gaps.iter().map(|(_, gap)| *gap));
    let texts: Vec<String> =
        gaps.iter().map(|(scale, gap)| format!("σ = {scale}: {}", gap.points())).collect();
    let layers = || estimates.iter().filter(|row| row.group == Group::Gaussian);
    let gaussian = layers().filter(|row| row.alpha == 2.0).count();
    let checks =
        gaps.iter().zip(&texts).map(|((_, gap), text)| (gap.mean.abs() <= NEAR, format!("at {text}")));
    let by_chance = mean.is_known() && !mean.is_gain() && !mean.is_loss();
    Claim::ours(
        "equals-sgdm",
        format!(
            "On {}, with Gaussian noise on every gradient, auto equals SGDm: within {NEAR} points at each scale, and without a significant \
             difference on average.",
            runs.data().title()
        ),
        format!(
            "{}; on average {}, where {SIGNIFICANT} standard errors would be significant. At the end α = 2 is in use in {} layers of all runs.",
            texts.join(", "),
            mean.points(),
            share(gaussian, layers().count())
        ),
        Judgement::of(checks.chain([(by_chance, format!("on average the difference is {}", mean.points()))])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Verdict;
    use crate::study::network_runs::made_up::{accuracies, noisy};

    #[test]
    fn a_difference_is_no_equality() {
        let verdict = |auto: fn(f64, u64) -> f64| {
            let cells = [noisy(2.0, 0.001), noisy(2.0, 0.003)];
            let accuracy = |treatment, cell: &Cell, seed| {
                95.0 + if treatment == Treatment::Auto { auto(scale(cell), seed) } else { 0.0 }
            };
            equal(&accuracies(Group::Gaussian, &PAIR, &cells, accuracy), &[]).verdict
        };
        assert_eq!(verdict(|_, seed| 0.1 * (seed as f64 - 2.0)), Verdict::Holds);
        // The same to the last bit.
        assert_eq!(verdict(|_, _| 0.0), Verdict::Holds);
        // Small, but always.
        assert_eq!(verdict(|_, seed| 0.2 + 0.001 * seed as f64), Verdict::InPart);
        // Large at one scale, in either direction.
        assert_eq!(
            verdict(|scale, seed| if scale > 0.002 { 0.4 } else { -0.4 } + 0.1 * (seed as f64 - 2.0)),
            Verdict::InPart
        );
        assert_eq!(verdict(|_, _| -0.5), Verdict::Fails);
    }
}

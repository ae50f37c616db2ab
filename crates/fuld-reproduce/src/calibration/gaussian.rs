//! Gaussian noise on every gradient: the noise has no heavy tail, and auto should equal SGD with momentum.

use super::noise::NEAR;
use super::{EstimateRow, GroupSummary, auto_ahead, pair_series, pair_table};
use crate::study::{Cell, Difference, Group, NetworkRuns, Pairs, SIGNIFICANT, share};
use crate::{CaptionedFigure, Claim, Judgement, list};
use fuld_plot::{Axis, Figure, Hue, Panel};

pub(super) fn part(runs: &NetworkRuns, estimates: &[EstimateRow]) -> GroupSummary {
    let caption = "Gaussian noise on every gradient, N(0, 2σ²): accuracies, and the difference seed by seed.";
    let (label, difference) = (|cell: &Cell| [scale(cell).to_string()], Some(("auto − SGDm", Pairs::All)));
    GroupSummary {
        figure: Some(CaptionedFigure::new(figure(runs), caption)),
        table: Some(pair_table(runs, ["Gaussian noise, σ"], label, difference)),
        claims: vec![equal(runs, estimates)],
    }
}

fn scale(cell: &Cell) -> f64 {
    cell.noise.map_or(f64::NAN, |noise| noise.scale)
}

/// Returns the difference at each noise scale.
fn gaps(runs: &NetworkRuns) -> Vec<(f64, Difference)> {
    runs.cells().iter().map(|cell| (scale(cell), auto_ahead(runs, cell, Pairs::All))).collect()
}

fn figure(runs: &NetworkRuns) -> Figure {
    let scales: Vec<f64> = runs.cells().iter().map(scale).collect();
    let (low, high) = scales.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    let axis = || Axis::log("noise scale").range(low / 1.5, 1.5 * high).ticks(&scales);
    let accuracy = Panel::new("accuracy").x(axis()).y(Axis::linear("test accuracy, %"));
    let x = |cell: &Cell, side: f64| (1.0 + 0.02 * side) * scale(cell);
    let accuracy = pair_series(accuracy, runs, &runs.cells(), x, NetworkRuns::mean_accuracy);
    let gaps: Vec<_> = gaps(runs).into_iter().map(|(scale, gap)| (scale, gap.mean, gap.error)).collect();
    let difference = Panel::new("auto − SGDm").x(axis()).y(Axis::linear("points")).horizontal(0.0, "");
    let difference = difference.means(Hue::Ink, "", false, &gaps);
    let name = format!("calibration-{}-gaussian", runs.data().id());
    Figure::new(name).panel_height(230.0).panel(accuracy).panel(difference)
}

/// "Equal to SGDm."
fn equal(runs: &NetworkRuns, estimates: &[EstimateRow]) -> Claim {
    let gaps = gaps(runs);
    let mean = Difference::average_of_known(gaps.iter().map(|(_, gap)| *gap));
    let text = |(scale, gap): &(f64, Difference)| format!("σ = {scale}: {}", gap.points());
    let layers = || estimates.iter().filter(|row| row.group == Group::Gaussian);
    let gaussian = layers().filter(|row| row.alpha == 2.0).count();
    let checks = gaps.iter().map(|gap| (gap.1.mean.abs() <= NEAR, format!("at {}", text(gap))));
    let by_chance = mean.is_known() && !mean.is_gain() && !mean.is_loss();
    runs.claim(
        "equals-sgdm",
        format!(
            "with Gaussian noise on every gradient, auto equals SGDm: within {NEAR} points at each scale, and without a significant \
             difference on average."
        ),
        format!(
            "{}; on average {}, where {SIGNIFICANT} standard errors would be significant. At the end α = 2 is in use in {} layers of all runs.",
            list(&gaps, text),
            mean.points(),
            share(gaussian, layers().count())
        ),
        Judgement::of(checks.chain([(by_chance, format!("on average the difference is {}", mean.points()))])),
    )
}

#[cfg(test)]
mod tests {
    use super::super::PAIR;
    use super::*;
    use crate::Verdict;
    use crate::study::Treatment;
    use crate::study::test_rows::{accuracies, noisy};

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

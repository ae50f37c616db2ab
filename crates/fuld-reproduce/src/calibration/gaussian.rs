//! Gaussian noise on every gradient: there is no heavy tail, and auto should equal SGD with momentum.

use super::noise::NEAR;
use super::{EstimateRow, Part, pair_series, pair_table};
use crate::study::{Cell, Difference, Group, NetworkRuns, Pairs, SIGNIFICANT, Treatment, share};
use crate::{CaptionedFigure, Claim, Judgement, list};
use fuld_plot::{Axis, Figure, Hue, Panel};

pub(super) fn part(runs: &NetworkRuns, estimates: &[EstimateRow]) -> Part {
    let caption = "Gaussian noise on every gradient, N(0, 2σ²): accuracies, and the difference seed by seed.";
    Part {
        figure: Some(CaptionedFigure::new(figure(runs), caption)),
        table: Some(pair_table(
            runs,
            ["Gaussian noise, σ"],
            |cell| [scale(cell).to_string()],
            Some(("auto − SGDm", Pairs::All)),
        )),
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
    let accuracy = Panel::new("accuracy").x(axis()).y(Axis::linear("test accuracy, %"));
    let x: [&dyn Fn(&Cell) -> f64; 2] = [&|cell| 0.98 * scale(cell), &|cell| 1.02 * scale(cell)];
    let accuracy = pair_series(accuracy, &cells, x, |treatment, cell| runs.mean_accuracy(treatment, cell));
    let point = |cell: &Cell| (scale(cell), ahead(runs, cell).mean, ahead(runs, cell).error);
    let differences: Vec<_> = cells.iter().map(point).collect();
    let difference = Panel::new("auto − SGDm").x(axis()).y(Axis::linear("points")).horizontal(0.0, "");
    let difference = difference.means(Hue::Ink, "", false, &differences);
    let name = format!("calibration-{}-gaussian", runs.data().id());
    Figure::new(name).panel_height(230.0).panel(accuracy).panel(difference)
}

/// "Equal to SGDm."
fn equal(runs: &NetworkRuns, estimates: &[EstimateRow]) -> Claim {
    let gaps: Vec<(f64, Difference)> =
        runs.cells().iter().map(|cell| (scale(cell), ahead(runs, cell))).collect();
    let mean = Difference::average_of_known(gaps.iter().map(|(_, gap)| *gap));
    let text = |(scale, gap): &(f64, Difference)| format!("σ = {scale}: {}", gap.points());
    let layers = || estimates.iter().filter(|row| row.group == Group::Gaussian);
    let gaussian = layers().filter(|row| row.alpha == 2.0).count();
    let checks = gaps.iter().map(|gap| (gap.1.mean.abs() <= NEAR, format!("at {}", text(gap))));
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

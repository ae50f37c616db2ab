//! Gaussian noise on every gradient: there is no tail to be found, and auto should be SGD with momentum.

use super::arm::Arm;
use super::noise::NEAR;
use super::outcome::{Cell, Pairs, Results};
use super::words::{accuracy, share};
use crate::Verdict;
use crate::gap::{Gap, SURE};
use crate::series::series;
use crate::set::Set;
use crate::unported::{Claim, Exhibit, Table};
use fuld_plot::{Axis, Figure, Hue, Panel};

/// Adds what the study shows.
pub(super) fn show(exhibit: &mut Exhibit, set: Set, results: &Results) {
    let name = format!("{}-gaussian", exhibit.id);
    let caption = "Gaussian noise on every gradient, N(0, 2σ²): accuracies, and the difference seed by seed.";
    exhibit.figures.push((figure(&name, results), caption.into()));
    exhibit.tables.push(table(&name, results));
    exhibit.claims.push(equal(set, results));
}

fn scale(cell: &Cell) -> f64 {
    cell.noise.map_or(f64::NAN, |noise| noise.scale)
}

fn ahead(results: &Results, cell: &Cell) -> Gap {
    results.ahead(Arm::Auto, Arm::Sgdm, cell, Pairs::All)
}

fn figure(name: &str, results: &Results) -> Figure {
    let cells = results.cells();
    let scales: Vec<f64> = cells.iter().map(scale).collect();
    let (low, high) = scales.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    let axis = || Axis::log("scale of the noise").range(low / 1.5, 1.5 * high).ticks(&scales);
    let mut panel = Panel::new("accuracy").x(axis()).y(Axis::linear("test accuracy, %"));
    for (arm, aside) in [(Arm::Sgdm, 0.98), (Arm::Auto, 1.02)] {
        let of = |cell: &Cell| {
            let (mean, error) = results.mean(arm, cell);
            (aside * scale(cell), mean, error)
        };
        let points: Vec<_> = cells.iter().map(of).collect();
        panel = series(panel, arm.hue(), arm.label(), arm == Arm::Sgdm, &points);
    }
    let differences: Vec<_> = cells.iter().map(|cell| (scale(cell), ahead(results, cell))).collect();
    let differences: Vec<_> = differences.into_iter().map(|(x, gap)| (x, gap.mean, gap.error)).collect();
    let difference = Panel::new("auto − SGDm").x(axis()).y(Axis::linear("points")).horizontal(0.0, "");
    let difference = series(difference, Hue::Ink, "", false, &differences);
    Figure::new(name).panel_height(230.0).panel(panel).panel(difference)
}

fn table(name: &str, results: &Results) -> Table {
    let mut table = Table::new(name, &["Gaussian noise, σ", "SGDm", "auto", "auto − SGDm"]);
    for cell in results.cells() {
        let [sgdm, auto] = [Arm::Sgdm, Arm::Auto].map(|arm| accuracy(results, arm, &cell));
        table.row([scale(&cell).to_string(), sgdm, auto, ahead(results, &cell).signed()]);
    }
    table
}

/// "Equal to SGDm."
fn equal(set: Set, results: &Results) -> Claim {
    let gaps: Vec<Gap> = results.cells().iter().map(|cell| ahead(results, cell)).collect();
    let mean = Gap::over(gaps.iter().copied());
    let small = gaps.iter().map(|gap| gap.mean.abs() <= NEAR);
    let chance = mean.is_known() && !mean.is_gain() && !mean.is_loss();
    let told: Vec<String> = results
        .cells()
        .iter()
        .zip(&gaps)
        .map(|(cell, gap)| format!("σ = {}: {}", scale(cell), gap.points()))
        .collect();
    let layers = || results.outcomes.iter().flat_map(|run| &run.found);
    let plain = layers().filter(|layer| layer.alpha == 2.0).count();
    Claim::ours(
        format!(
            "On {}, with Gaussian noise on every gradient, auto equals SGDm: within {NEAR} points at each scale, and by no more than chance on \
             average.",
            set.name()
        ),
        format!(
            "{}; on average {}, where {SURE} standard errors would be a difference. In the end α = 2 is in use in {} layers of all runs.",
            told.join(", "),
            mean.points(),
            share(plain, layers().count())
        ),
        Verdict::of_all(small.chain([chance])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::made::{made, noisy};
    use crate::calibration::plan::Study;

    #[test]
    fn a_difference_is_no_equality() {
        let verdict = |auto: fn(f64, u64) -> f64| {
            let cells = [noisy(2.0, 0.001), noisy(2.0, 0.003)];
            let accuracy =
                |arm, cell: &Cell, seed| 95.0 + if arm == Arm::Auto { auto(scale(cell), seed) } else { 0.0 };
            equal(Set::Mnist, &made(Study::Gaussian, &[Arm::Sgdm, Arm::Auto], &cells, accuracy)).verdict
        };
        assert_eq!(verdict(|_, seed| 0.1 * (seed as f64 - 2.0)), Verdict::Holds);
        // The same to the last bit.
        assert_eq!(verdict(|_, _| 0.0), Verdict::Holds);
        // Small, but always.
        assert_eq!(verdict(|_, seed| 0.2 + 0.001 * seed as f64), Verdict::InPart);
        // Large at one scale, whichever way.
        assert_eq!(
            verdict(|scale, seed| if scale > 0.002 { 0.4 } else { -0.4 } + 0.1 * (seed as f64 - 2.0)),
            Verdict::InPart
        );
        assert_eq!(verdict(|_, _| -0.5), Verdict::Fails);
    }
}

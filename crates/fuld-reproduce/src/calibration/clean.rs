//! Gradients as they are, at the paper's widths and depths and its step: auto should not be worse than SGDm.

use super::arm::Arm;
use super::errors::{self, error};
use super::outcome::{Cell, Pairs, Results};
use super::words::{accuracy, share};
use crate::Verdict;
use crate::gap::{Gap, SURE};
use crate::series::series;
use crate::set::Set;
use crate::unported::{Claim, Exhibit, Table};
use fuld_plot::{Axis, Figure, Panel};

/// Standard errors by which auto must be behind in one cell to be worse there: with five seeds, four degrees of freedom, chance alone
/// does so one time in 190, and in one of nine cells one time in twenty.
const SURE_OF_ONE: f64 = 4.5;

/// Adds what the study shows.
pub(super) fn show(exhibit: &mut Exhibit, set: Set, results: &Results) {
    let name = format!("{}-clean", exhibit.id);
    let caption = "No noise added, the paper's η = γ = 0.1, which is a learning rate of 0.01 at momentum 0.99: test errors, a run that is dead or \
                   diverged counting as a guess, 90 %, and below them the difference seed by seed, where neither is lost.";
    exhibit.figures.push((figure(&name, results), caption.into()));
    exhibit.tables.push(table(&name, results));
    exhibit.claims.push(never_worse(set, results));
}

fn ahead(results: &Results, cell: &Cell) -> Gap {
    results.ahead(Arm::Auto, Arm::Sgdm, cell, Pairs::Sound)
}

fn shape(cell: &Cell) -> String {
    format!("width {}, depth {}", cell.width, cell.depth)
}

/// A row of errors, a row of differences, a column for each width; each row on one scale.
fn figure(name: &str, results: &Results) -> Figure {
    let cells = results.cells();
    let mut widths: Vec<usize> = cells.iter().map(|cell| cell.width).collect();
    widths.dedup();
    let of = |width: usize| cells.iter().filter(move |cell| cell.width == width);
    let depths: Vec<f64> = of(widths.first().copied().unwrap_or(0)).map(|cell| cell.depth as f64).collect();
    let (first, last) = (depths.first().copied().unwrap_or(0.0), depths.last().copied().unwrap_or(1.0));
    let depth = || Axis::linear("depth").range(first - 1.0, last + 1.0).ticks(&depths);
    let means = |arm: Arm, width: usize, aside: f64| -> Vec<(f64, f64, f64)> {
        let point = |cell: &Cell| {
            let (mean, error) = error(results, arm, cell);
            (cell.depth as f64 + aside, mean, error)
        };
        of(width).map(point).collect()
    };
    let differences = |width: usize| -> Vec<(f64, f64, f64)> {
        let point = |cell: &Cell| (cell.depth as f64, ahead(results, cell));
        let points = of(width).map(point).filter(|(_, gap)| gap.is_known());
        points.map(|(x, gap)| (x, gap.mean, gap.error)).collect()
    };
    let change = range(widths.iter().flat_map(|&w| differences(w)).chain([(0.0, 0.0, 0.0)]));
    let mut figure = Figure::new(name).columns(widths.len().max(2)).panel_height(230.0);
    for &width in &widths {
        let mut panel = Panel::new(format!("width {width}")).x(depth()).y(errors::axis(results));
        for (arm, aside) in [(Arm::Sgdm, -0.1), (Arm::Auto, 0.1)] {
            panel = series(panel, arm.hue(), arm.label(), arm == Arm::Sgdm, &means(arm, width, aside));
        }
        figure = figure.panel(panel);
    }
    for &width in &widths {
        let panel = Panel::new(format!("width {width}, auto − SGDm"))
            .x(depth())
            .y(Axis::linear("points").range(change.0, change.1))
            .horizontal(0.0, "");
        figure = figure.panel(series(panel, Arm::Auto.hue(), "", false, &differences(width)));
    }
    figure
}

/// What holds all these points with their errors, and a little more.
fn range(points: impl Iterator<Item = (f64, f64, f64)>) -> (f64, f64) {
    let ends = points.flat_map(|(_, mean, error)| {
        let error = if error.is_finite() { error } else { 0.0 };
        [mean - error, mean + error]
    });
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let room = 0.05 * (high - low).max(1e-9);
    (low - room, high + room)
}

fn table(name: &str, results: &Results) -> Table {
    let mut table = Table::new(name, &["network", "SGDm", "auto", "auto − SGDm, neither lost"]);
    for cell in results.cells() {
        let [sgdm, auto] = [Arm::Sgdm, Arm::Auto].map(|arm| accuracy(results, arm, &cell));
        table.row([shape(&cell), sgdm, auto, ahead(results, &cell).signed()]);
    }
    table
}

/// "Never worse than SGDm at the same learning rate beyond seed noise."
fn never_worse(set: Set, results: &Results) -> Claim {
    let worse = |cell: &Cell| {
        let gap = ahead(results, cell);
        results.lost(Arm::Auto, cell) > results.lost(Arm::Sgdm, cell) || -gap.mean > SURE_OF_ONE * gap.error
    };
    let mut cells = results.cells();
    let mean = Gap::over(cells.iter().map(|cell| ahead(results, cell)));
    let count = cells.iter().filter(|cell| worse(cell)).count();
    cells.retain(|cell| ahead(results, cell).is_known());
    let errors = |cell: &Cell| ahead(results, cell).mean / ahead(results, cell).error;
    let least = cells.iter().min_by(|a, b| errors(a).total_cmp(&errors(b)));
    let told = least.map_or(String::new(), |cell| {
        format!(" It does worst, in standard errors, at {}: {}.", shape(cell), ahead(results, cell).points())
    });
    Claim::ours(
        format!(
            "On {}, without added noise, auto is never worse than SGDm at the same learning rate by more than chance.",
            set.name()
        ),
        format!(
            "Worse in {} networks (by more than {SURE_OF_ONE} standard errors, or lost more often); {} on average, where {SURE} standard errors \
             would be a difference.{told}",
            share(count, results.cells().len()),
            mean.points()
        ),
        Verdict::of_all(
            results.cells().iter().map(|cell| !worse(cell)).chain([mean.is_known() && !mean.is_loss()]),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::made::{PLAIN, made};
    use crate::calibration::plan::Study;

    /// SGDm at 95 % and auto ahead by what a function of depth and seed gives; both wobble.
    fn results(auto: impl Fn(usize, u64) -> f64) -> Results {
        let cells = [2, 5, 9].map(|depth| Cell { depth, ..PLAIN });
        made(Study::Clean, &[Arm::Sgdm, Arm::Auto], &cells, |arm, cell, seed| {
            95.0 + if arm == Arm::Auto { auto(cell.depth, seed) } else { 0.0 }
        })
    }

    fn wobble(seed: u64) -> f64 {
        0.1 * (seed as f64 - 2.0)
    }

    #[test]
    fn chance_is_not_worse_and_a_sure_loss_is() {
        let claim = |auto: fn(usize, u64) -> f64| never_worse(Set::Mnist, &results(auto));
        assert_eq!(claim(|_, seed| wobble(seed) - 0.05).verdict, Verdict::Holds);
        let worse = claim(|depth, seed| wobble(seed) - if depth == 9 { 1.0 } else { 0.0 });
        assert_eq!(worse.verdict, Verdict::InPart);
        assert!(
            worse.measured.contains("1 of 3") && worse.measured.contains("depth 9: −1.00"),
            "{}",
            worse.measured
        );
        // No cell is sure, but all together are.
        assert_eq!(claim(|_, seed| 3.0 * wobble(seed) - 0.55).verdict, Verdict::InPart);
    }

    #[test]
    fn who_is_lost_more_often_is_worse() {
        let lost = |arm: Arm| {
            let mut results = results(|_, seed| wobble(seed));
            results.outcomes.iter_mut().find(|run| run.arm == arm).unwrap().summary = None;
            never_worse(Set::Mnist, &results).verdict
        };
        assert_eq!((lost(Arm::Auto), lost(Arm::Sgdm)), (Verdict::InPart, Verdict::Holds));
    }
}

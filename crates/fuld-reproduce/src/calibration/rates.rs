//! Gradients as they are, over learning rates: where each rule trains well, and how well at its best.

use super::arm::Arm;
use super::errors::{axis, error};
use super::outcome::{Cell, Pairs, Results};
use super::words::accuracy;
use crate::Verdict;
use crate::gap::SURE;
use crate::series::series;
use crate::set::Set;
use crate::unported::{Claim, Exhibit, Table};
use fuld_plot::{Axis, Figure, Panel};

/// A learning rate trains well if the mean is within so many points of the best mean of either rule. One seed that is lost, and counts as a
/// guess, is enough that it is not.
const WELL: f64 = 1.0;

/// Adds what the study shows.
pub(super) fn show(exhibit: &mut Exhibit, set: Set, results: &Results) {
    let name = format!("{}-rates", exhibit.id);
    let caption = "No noise added: the test error over the learning rate, on a logarithmic axis. A run that is dead or diverged counts as a guess, \
                   90 %. Below the line a rule trains well.";
    exhibit.figures.push((figure(&name, results), caption.into()));
    exhibit.tables.push(table(&name, results));
    exhibit.claims.extend([wider(set, results), as_good(set, results)]);
}

fn momenta(results: &Results) -> Vec<f64> {
    let mut all: Vec<f64> = results.cells().iter().map(|cell| cell.momentum).collect();
    all.dedup();
    all
}

/// The cells of a momentum, from the smallest learning rate to the largest.
fn at(results: &Results, momentum: f64) -> Vec<Cell> {
    results.cells().into_iter().filter(|cell| cell.momentum == momentum).collect()
}

/// The cell in which an arm is best at a momentum, and its mean there.
fn best(results: &Results, arm: Arm, momentum: f64) -> Option<(Cell, f64)> {
    let means = at(results, momentum).into_iter().map(|cell| (cell, results.mean(arm, &cell).0));
    means.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The accuracy that counts as training well at a momentum.
fn needed(results: &Results, momentum: f64) -> f64 {
    let best = |arm| best(results, arm, momentum).map_or(0.0, |(_, mean)| mean);
    best(Arm::Sgdm).max(best(Arm::Auto)) - WELL
}

/// The longest row of learning rates at all of which an arm trains well, its first and its last.
fn range(results: &Results, arm: Arm, momentum: f64) -> Option<(f64, f64)> {
    let needed = needed(results, momentum);
    let well = |cell: &Cell| results.mean(arm, cell).0 >= needed;
    let cells = at(results, momentum);
    let rows = cells.chunk_by(|a, b| well(a) == well(b)).filter(|row| row.iter().all(well));
    let longest = rows.max_by_key(|row| row.len())?;
    Some((longest.first()?.lr, longest.last()?.lr))
}

fn figure(name: &str, results: &Results) -> Figure {
    let mut figure = Figure::new(name).panel_height(260.0);
    for momentum in momenta(results) {
        let cells = at(results, momentum);
        let mut panel = Panel::new(format!("momentum {momentum}"))
            .x(Axis::log("learning rate"))
            .y(axis(results))
            .horizontal(100.0 - needed(results, momentum), "trains well");
        for (arm, aside) in [(Arm::Sgdm, 0.97), (Arm::Auto, 1.03)] {
            let point = |cell: &Cell| {
                let (mean, error) = error(results, arm, cell);
                (aside * cell.lr, mean, error)
            };
            let points: Vec<_> = cells.iter().map(point).collect();
            panel = series(panel, arm.hue(), arm.label(), arm == Arm::Sgdm, &points);
        }
        figure = figure.panel(panel);
    }
    figure
}

fn table(name: &str, results: &Results) -> Table {
    let mut table = Table::new(name, &["momentum", "learning rate", "SGDm", "auto"]);
    for cell in results.cells() {
        let [sgdm, auto] = [Arm::Sgdm, Arm::Auto].map(|arm| accuracy(results, arm, &cell));
        table.row([cell.momentum.to_string(), cell.lr.to_string(), sgdm, auto]);
    }
    table
}

/// "The range that trains well is wider than SGDm's."
fn wider(set: Set, results: &Results) -> Claim {
    let (mut verdicts, mut told) = (Vec::new(), Vec::new());
    for momentum in momenta(results) {
        let [sgdm, auto] = [Arm::Sgdm, Arm::Auto].map(|arm| range(results, arm, momentum));
        let factor = |range: Option<(f64, f64)>| range.map_or(0.0, |(low, high)| high / low);
        verdicts.push(factor(auto) > 1.01 * factor(sgdm));
        let words = |range: Option<(f64, f64)>| {
            range.map_or("nowhere".into(), |(low, high)| {
                format!("from {} to {}, a factor of {:.0}", low, high, high / low)
            })
        };
        told.push(format!("momentum {momentum}: auto {}; SGDm {}", words(auto), words(sgdm)));
    }
    Claim::ours(
        format!(
            "On {}, auto trains well over a wider range of learning rates than SGDm: no seed lost, and within {WELL} point of the best of either.",
            set.name()
        ),
        format!("At {}.", told.join(". At ")),
        Verdict::of_all(verdicts),
    )
}

/// "And the best result at least equal."
fn as_good(set: Set, results: &Results) -> Claim {
    let (mut verdicts, mut told) = (Vec::new(), Vec::new());
    for momentum in momenta(results) {
        let [sgdm, auto] = [Arm::Sgdm, Arm::Auto].map(|arm| best(results, arm, momentum));
        let (Some((sgdm, _)), Some((auto, _))) = (sgdm, auto) else { continue };
        let gap = results.between((Arm::Auto, &auto), (Arm::Sgdm, &sgdm), Pairs::All);
        verdicts.push(gap.is_known() && !gap.is_loss());
        told.push(format!(
            "momentum {momentum}: auto {} at {}, SGDm {} at {}, {}",
            accuracy(results, Arm::Auto, &auto),
            auto.lr,
            accuracy(results, Arm::Sgdm, &sgdm),
            sgdm.lr,
            gap.points()
        ));
    }
    Claim::ours(
        format!("On {}, auto at its best learning rate is at least as good as SGDm at its own.", set.name()),
        format!("At {}; {SURE} standard errors would be a difference.", told.join(". At ")),
        Verdict::of_all(verdicts),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::made::{PLAIN, made};
    use crate::calibration::plan::Study;

    /// Accuracies over five learning rates, 1 to 16, of SGDm and of auto.
    fn results(sgdm: [f64; 5], auto: [f64; 5]) -> Results {
        let cells: Vec<Cell> = (0..5).map(|k| Cell { lr: 2f64.powi(k), ..PLAIN }).collect();
        made(Study::Rates, &[Arm::Sgdm, Arm::Auto], &cells, |arm, cell, seed| {
            let of = if arm == Arm::Auto { auto } else { sgdm };
            of[cell.lr.log2() as usize] + 0.1 * (seed as f64 - 2.0)
        })
    }

    #[test]
    fn ranges_end_where_training_does() {
        let all = results([90.0, 96.5, 97.0, 10.0, 97.0], [95.0, 96.5, 97.2, 96.5, 96.3]);
        // What lies beyond a rate that does not train is not part of the range.
        assert_eq!(range(&all, Arm::Sgdm, 0.99), Some((2.0, 4.0)));
        assert_eq!(range(&all, Arm::Auto, 0.99), Some((2.0, 16.0)));
        let claim = wider(Set::Mnist, &all);
        assert_eq!(claim.verdict, Verdict::Holds);
        assert!(
            claim.measured.contains("auto from 2 to 16, a factor of 8; SGDm from 2 to 4, a factor of 2"),
            "{}",
            claim.measured
        );
        // The measure is the best of either: an arm that is bad everywhere trains well nowhere.
        let bad = results([90.0, 96.5, 97.0, 10.0, 97.0], [80.0; 5]);
        assert_eq!((range(&bad, Arm::Auto, 0.99), wider(Set::Mnist, &bad).verdict), (None, Verdict::Fails));
    }

    #[test]
    fn one_lost_seed_ends_a_range() {
        let mut all = results([96.0; 5], [96.0; 5]);
        let run = all.outcomes.iter_mut().find(|run| run.arm == Arm::Auto && run.cell.lr == 8.0).unwrap();
        run.summary = None;
        assert_eq!(range(&all, Arm::Auto, 0.99), Some((1.0, 4.0)));
        assert_eq!(range(&all, Arm::Sgdm, 0.99), Some((1.0, 16.0)));
        assert_eq!(wider(Set::Mnist, &all).verdict, Verdict::Fails);
    }

    #[test]
    fn each_is_taken_at_its_best() {
        let verdict = |auto| as_good(Set::Mnist, &results([90.0, 97.0, 90.0, 90.0, 90.0], auto)).verdict;
        assert_eq!(verdict([80.0, 80.0, 80.0, 80.0, 97.0]), Verdict::Holds);
        assert_eq!(verdict([97.0 - 0.5; 5]), Verdict::Fails);
    }
}

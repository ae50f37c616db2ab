//! No injected noise, over learning rates: the range over which each rule trains well, and its best
//! result.

use super::{GUARDED_SGDM, GroupSummary, SGDM, accuracy_table, error_axis, error_curves};
use crate::study::{Cell, Measure, NetworkRuns, Pairs, SIGNIFICANT, Treatment, distinct};
use crate::{CaptionedFigure, Claim, Judgement};
use fuld_plot::{Axis, Figure, Panel};

/// A learning rate trains well if its mean accuracy is within this many points of the best mean of
/// either rule. A single lost seed, which counts as a random answer, is enough to miss that.
const WELL: f64 = 1.0;

pub(super) fn part(runs: &NetworkRuns) -> GroupSummary {
    let caption = "No injected noise: the test error over the learning rate, on a logarithmic axis. A lost run counts as a random answer, \
                   90 %. Below the line a rule trains well.";
    let label = |cell: &Cell| [cell.momentum.unwrap_or(f64::NAN).to_string(), lr(cell).to_string()];
    GroupSummary {
        figure: Some(CaptionedFigure::new(figure(runs), caption)),
        table: Some(accuracy_table(
            runs,
            &SGDM,
            (["momentum", "learning rate"], label),
            (&[], Pairs::All),
        )),
        claims: vec![wider(runs), as_good(runs)],
    }
}

fn momenta(runs: &NetworkRuns) -> Vec<f64> {
    distinct(runs.cells().iter().filter_map(|cell| cell.momentum))
}

/// Returns the cells of a momentum, from the smallest learning rate to the largest.
fn at(runs: &NetworkRuns, momentum: f64) -> Vec<Cell> {
    runs.cells().into_iter().filter(|cell| cell.momentum == Some(momentum)).collect()
}

fn lr(cell: &Cell) -> f64 {
    cell.lr.unwrap_or(f64::NAN)
}

/// Returns the cell in which a treatment is best at a momentum, and its mean accuracy there.
fn best(runs: &NetworkRuns, treatment: Treatment, momentum: f64) -> Option<(Cell, f64)> {
    let means =
        at(runs, momentum).into_iter().map(|cell| (cell, runs.mean_accuracy(treatment, &cell).0));
    means.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns the accuracy that counts as training well at a momentum.
fn needed(runs: &NetworkRuns, momentum: f64) -> f64 {
    let best = |treatment| best(runs, treatment, momentum).map_or(0.0, |(_, mean)| mean);
    best(Treatment::Sgdm).max(best(GUARDED_SGDM)) - WELL
}

/// Returns the first and the last of the longest run of consecutive learning rates at which a
/// treatment trains well.
fn range(runs: &NetworkRuns, treatment: Treatment, momentum: f64) -> Option<(f64, f64)> {
    let needed = needed(runs, momentum);
    let well = |cell: &Cell| runs.mean_accuracy(treatment, cell).0 >= needed;
    let cells = at(runs, momentum);
    let ranges = cells.chunk_by(|a, b| well(a) == well(b)).filter(|range| range.iter().all(well));
    let longest = ranges.max_by_key(|range| range.len())?;
    Some((lr(longest.first()?), lr(longest.last()?)))
}

fn figure(runs: &NetworkRuns) -> Figure {
    let mut figure = Figure::new(format!("guard-{}-rates", runs.data().id())).panel_height(260.0);
    for momentum in momenta(runs) {
        let panel = Panel::new(format!("momentum {momentum}"))
            .x(Axis::log("learning rate"))
            .y(error_axis(runs, &SGDM))
            .horizontal(100.0 - needed(runs, momentum), "trains well");
        let x = |cell: &Cell, shift: f64| (1.0 + 0.03 * shift) * lr(cell);
        figure = figure.panel(error_curves(panel, runs, &SGDM, &at(runs, momentum), x));
    }
    figure
}

fn wider(runs: &NetworkRuns) -> Claim {
    let (mut checks, mut texts) = (Vec::new(), Vec::new());
    for momentum in momenta(runs) {
        let [sgdm, guarded] = SGDM.map(|treatment| range(runs, treatment, momentum));
        let factor = |range: Option<(f64, f64)>| range.map_or(0.0, |(low, high)| high / low);
        let why =
            format!("at momentum {momentum} the range of guarded SGDm is not wider than SGDm's");
        checks.push((factor(guarded) > 1.01 * factor(sgdm), why));
        let text = |range: Option<(f64, f64)>| {
            range.map_or("nowhere".into(), |(low, high)| {
                format!("from {low} to {high}, a factor of {:.0}", high / low)
            })
        };
        texts.push(format!(
            "momentum {momentum}: guarded SGDm {}; SGDm {}",
            text(guarded),
            text(sgdm)
        ));
    }
    runs.claim(
        "wider-range",
        format!(
            "{} trains well over a wider range of learning rates than SGDm: no seed lost, and within {WELL} point of the best of either.",
            GUARDED_SGDM.label()
        ),
        format!("At {}.", texts.join(". At ")),
        Judgement::of(checks),
    )
}

fn as_good(runs: &NetworkRuns) -> Claim {
    let (mut checks, mut texts) = (Vec::new(), Vec::new());
    for momentum in momenta(runs) {
        let [sgdm, guarded] = SGDM.map(|treatment| best(runs, treatment, momentum));
        let (Some((sgdm, _)), Some((guarded, _))) = (sgdm, guarded) else { continue };
        let (guarded, sgdm) = ((GUARDED_SGDM, &guarded), (Treatment::Sgdm, &sgdm));
        let gap = runs.between(guarded, sgdm, Measure::TestAccuracy, Pairs::All);
        let why = format!("at momentum {momentum} the difference is {}", gap.points());
        checks.push((gap.is_known() && !gap.is_loss(), why));
        let [guarded, sgdm] = [guarded, sgdm].map(|(treatment, cell)| {
            format!("{} at {}", runs.accuracy_text(treatment, cell), lr(cell))
        });
        texts.push(format!(
            "momentum {momentum}: guarded SGDm {guarded}, SGDm {sgdm}, {}",
            gap.points()
        ));
    }
    runs.claim(
        "best-rate",
        format!(
            "{} at its best learning rate is at least as good as SGDm at its own.",
            GUARDED_SGDM.label()
        ),
        format!("At {}; {SIGNIFICANT} standard errors would be significant.", texts.join(". At ")),
        Judgement::of(checks),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Verdict;
    use crate::study::test_rows::{accuracies, at_rate};
    use crate::study::{Group, RunOutcome};

    /// Accuracies over five learning rates, 1 to 16, of SGDm and of guarded SGDm.
    fn runs(sgdm: [f64; 5], guarded: [f64; 5]) -> NetworkRuns {
        let cells: Vec<Cell> = (0..5).map(|k| at_rate(2f64.powi(k))).collect();
        accuracies(Group::Rates, &SGDM, &cells, |treatment, cell, seed| {
            let of = if treatment == GUARDED_SGDM { guarded } else { sgdm };
            of[lr(cell).log2() as usize] + 0.1 * (seed as f64 - 2.0)
        })
    }

    #[test]
    fn ranges_end_where_training_fails() {
        let all = runs([90.0, 96.5, 97.0, 10.0, 97.0], [95.0, 96.5, 97.2, 96.5, 96.3]);
        // Learning rates beyond one that does not train are not part of the range.
        assert_eq!(range(&all, Treatment::Sgdm, 0.99), Some((2.0, 4.0)));
        assert_eq!(range(&all, GUARDED_SGDM, 0.99), Some((2.0, 16.0)));
        let claim = wider(&all);
        assert_eq!(claim.verdict, Verdict::Holds);
        assert!(
            claim.measured.contains(
                "guarded SGDm from 2 to 16, a factor of 8; SGDm from 2 to 4, a factor of 2"
            ),
            "{}",
            claim.measured
        );
        // The best of either is the measure: a treatment that is bad everywhere trains well
        // nowhere.
        let bad = runs([90.0, 96.5, 97.0, 10.0, 97.0], [80.0; 5]);
        assert_eq!((range(&bad, GUARDED_SGDM, 0.99), wider(&bad).verdict), (None, Verdict::Fails));
    }

    #[test]
    fn one_lost_seed_ends_a_range() {
        let mut all = runs([96.0; 5], [96.0; 5]);
        let is_it = |run: &&mut crate::study::NetworkRow| {
            run.treatment == GUARDED_SGDM && run.lr == Some(8.0)
        };
        all.rows.iter_mut().find(is_it).unwrap().outcome = RunOutcome::Diverged;
        assert_eq!(range(&all, GUARDED_SGDM, 0.99), Some((1.0, 4.0)));
        assert_eq!(range(&all, Treatment::Sgdm, 0.99), Some((1.0, 16.0)));
        assert_eq!(wider(&all).verdict, Verdict::Fails);
    }

    #[test]
    fn each_treatment_is_taken_at_its_best() {
        let verdict = |guarded| as_good(&runs([90.0, 97.0, 90.0, 90.0, 90.0], guarded)).verdict;
        assert_eq!(verdict([80.0, 80.0, 80.0, 80.0, 97.0]), Verdict::Holds);
        assert_eq!(verdict([97.0 - 0.5; 5]), Verdict::Fails);
    }
}

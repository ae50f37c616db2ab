//! A guarded optimizer compared with another rule in every cell.

use crate::study::{Cell, Difference, NetworkRuns, Pairs, SIGNIFICANT, Treatment, share};

/// Points of test accuracy by which a rule may be behind and still count as near.
pub(super) const NEAR: f64 = 0.3;

/// Returns the standard errors by which a rule must be behind in one cell to count as worse there:
/// Student's t at a probability of one in 190, so that in one of nine cells chance alone exceeds it
/// once in twenty.
fn significant_in_one_cell(seeds: usize) -> f64 {
    match seeds {
        0..=2 => 60.5,
        3 => 9.7,
        4 => 5.7,
        _ => 4.5,
    }
}

/// A rule and its rival in one cell.
struct ComparedCell {
    label: String,
    rival: Treatment,
    gap: Difference,
    /// Whether the rule is significantly worse, or loses more runs.
    worse: bool,
}

/// A rule and its rivals in all cells.
pub(super) struct Compared {
    cells: Vec<ComparedCell>,
}

impl Compared {
    /// Compares `rule` with a rival that is chosen for each cell. `label` names a cell for readers.
    pub(super) fn with(
        runs: &NetworkRuns,
        rule: Treatment,
        rival: impl Fn(&Cell) -> Option<Treatment>,
        pairs: Pairs,
        label: fn(&Cell) -> String,
    ) -> Self {
        let compare = |cell: Cell| {
            let rival = rival(&cell)?;
            let gap = runs.ahead(rule, rival, &cell, pairs);
            let needed = significant_in_one_cell(runs.runs(rule, &cell).count());
            let worse =
                runs.lost(rule, &cell) > runs.lost(rival, &cell) || -gap.mean > needed * gap.error;
            Some(ComparedCell { label: label(&cell), rival, gap, worse })
        };
        Self { cells: runs.cells().into_iter().filter_map(compare).collect() }
    }

    /// Returns the rival of each cell.
    pub(super) fn rivals(&self) -> impl Iterator<Item = Treatment> {
        self.cells.iter().map(|cell| cell.rival)
    }

    /// Returns the mean difference over the cells.
    pub(super) fn mean(&self) -> Difference {
        Difference::average_of_known(self.cells.iter().map(|cell| cell.gap))
    }

    /// Checks that the rule is near its rival or ahead of it in every cell.
    pub(super) fn near(&self) -> impl Iterator<Item = (bool, String)> {
        self.cells.iter().map(|cell| {
            (
                cell.gap.mean >= -NEAR,
                format!("with {} the difference is {}", cell.label, cell.gap.points()),
            )
        })
    }

    /// Returns how many cells are near, the mean and the worst cell, for readers; `what` names the
    /// cells.
    pub(super) fn near_text(&self, what: &str) -> String {
        let near = self.near().filter(|(near, _)| *near).count();
        let worst = self.cells.iter().min_by(|a, b| a.gap.mean.total_cmp(&b.gap.mean));
        format!(
            "This is so with {} {what}; on average the difference is {}.{}",
            share(near, self.cells.len()),
            self.mean().points(),
            Self::worst_text(worst)
        )
    }

    /// Checks that the rule is not worse beyond chance, neither in a cell nor on average.
    pub(super) fn not_worse(&self) -> impl Iterator<Item = (bool, String)> {
        let mean = self.mean();
        let cells = self.cells.iter().map(|cell| {
            let why = format!(
                "with {} the difference is {} or more runs are lost",
                cell.label,
                cell.gap.points()
            );
            (!cell.worse, why)
        });
        let on_average = format!("on average the difference is {}", mean.points());
        cells.chain([(mean.is_known() && !mean.is_loss(), on_average)])
    }

    /// Returns how many cells are worse, the mean and the worst cell, for readers; `what` names the
    /// cells.
    pub(super) fn not_worse_text(&self, what: &str) -> String {
        let worse = self.cells.iter().filter(|cell| cell.worse).count();
        let known = self.cells.iter().filter(|cell| cell.gap.is_known());
        let worst = known.min_by(|a, b| a.gap.mean.total_cmp(&b.gap.mean));
        format!(
            "Significantly worse with {} {what}; on average the difference is {}, where {SIGNIFICANT} standard errors would be significant.{}",
            share(worse, self.cells.len()),
            self.mean().points(),
            Self::worst_text(worst)
        )
    }

    fn worst_text(worst: Option<&ComparedCell>) -> String {
        worst.map_or(String::new(), |cell| {
            format!(" The worst is {}: {}.", cell.label, cell.gap.points())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Judgement;
    use crate::claim::Verdict;
    use crate::study::test_rows::{PLAIN, accuracies};
    use crate::study::{Group, RunOutcome};

    const RULE: Treatment = Treatment::GuardedAdam(3.0);

    /// Adam at 95 %, and its guard ahead by a function of depth and seed.
    fn runs(ahead: impl Fn(usize, u64) -> f64) -> NetworkRuns {
        let cells = [2, 5, 9].map(|depth| Cell { depth, ..PLAIN });
        accuracies(Group::Clean, &[Treatment::Adam, RULE], &cells, |treatment, cell, seed| {
            95.0 + if treatment == RULE { ahead(cell.depth, seed) } else { 0.0 }
        })
    }

    fn compared(runs: &NetworkRuns) -> Compared {
        Compared::with(runs, RULE, |_| Some(Treatment::Adam), Pairs::Learned, Cell::size_label)
    }

    fn jitter(seed: u64) -> f64 {
        0.1 * (seed as f64 - 2.0)
    }

    fn verdict(runs: &NetworkRuns, checks: impl Iterator<Item = (bool, String)>) -> Verdict {
        runs.claim("id", "says", String::new(), Judgement::of(checks)).verdict
    }

    fn not_worse(runs: &NetworkRuns) -> (Verdict, String) {
        let compared = compared(runs);
        (verdict(runs, compared.not_worse()), compared.not_worse_text("networks"))
    }

    #[test]
    fn chance_is_not_worse_and_a_significant_loss_is() {
        assert_eq!(not_worse(&runs(|_, seed| jitter(seed) - 0.05)).0, Verdict::Holds);
        // The same to the last bit.
        assert_eq!(not_worse(&runs(|_, _| 0.0)).0, Verdict::Holds);
        let (verdict, text) =
            not_worse(&runs(|depth, seed| jitter(seed) - if depth == 9 { 1.0 } else { 0.0 }));
        assert_eq!(verdict, Verdict::InPart);
        assert!(text.contains("1 of 3 networks") && text.contains("depth 9: −1.00"), "{text}");
        // No cell is significant, but all together are.
        assert_eq!(not_worse(&runs(|_, seed| 3.0 * jitter(seed) - 0.55)).0, Verdict::InPart);
    }

    #[test]
    fn the_treatment_that_is_lost_more_often_is_worse() {
        let lost = |treatment: Treatment| {
            let mut runs = runs(|_, seed| jitter(seed));
            let run = runs.rows.iter_mut().find(|run| run.treatment == treatment).unwrap();
            run.outcome = RunOutcome::Diverged;
            not_worse(&runs).0
        };
        assert_eq!((lost(RULE), lost(Treatment::Adam)), (Verdict::InPart, Verdict::Holds));
    }

    #[test]
    fn near_has_one_side() {
        let near = |ahead: f64| {
            let runs = runs(|_, seed| ahead + 0.01 * jitter(seed));
            verdict(&runs, compared(&runs).near())
        };
        assert_eq!(
            [near(2.0), near(-0.29), near(-0.31)],
            [Verdict::Holds, Verdict::Holds, Verdict::Fails]
        );
        let text =
            compared(&runs(|depth, _| if depth == 2 { -0.5 } else { 0.0 })).near_text("networks");
        assert!(text.contains("2 of 3 networks") && text.contains("depth 2: −0.50"), "{text}");
    }
}

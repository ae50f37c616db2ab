//! The claims of the mixing study.

use super::nuts::NUTS;
use super::{Cell, FACTOR, JUDGED, Measured, Mixing, RIGHT, TEMPERATURES, digits, median, targets};
use crate::{Claim, Judgement, list};

impl Mixing {
    pub(super) fn trust(&self) -> Claim {
        let ours: Vec<&Measured> = self.runs.iter().filter(|run| run.method != NUTS).collect();
        let silent = |run: &&&Measured| !run.is_right() && run.warnings.is_empty();
        let checks = self.targets().into_iter().map(|target| {
            let bad: Vec<&&Measured> =
                ours.iter().filter(|run| run.target == target).filter(silent).collect();
            let text = |run: &&Measured| {
                format!(
                    "{} at α = {}, seed {}",
                    digits(run.z),
                    run.alpha.unwrap_or(f64::NAN),
                    run.seed
                )
            };
            (
                bad.is_empty(),
                format!("{target}: without a warning the largest error is {}", list(bad, text)),
            )
        });
        let count =
            |is_meant: fn(&Measured) -> bool| ours.iter().filter(|run| is_meant(run)).count();
        let theirs: Vec<&Measured> = self.runs.iter().filter(|run| run.method == NUTS).collect();
        Claim::ours(
            "trust",
            format!(
                "Every answer of exact FULD is within {RIGHT} Monte Carlo standard errors of the truth, or there is a warning."
            ),
            format!(
                "Of {} runs {} are right without a warning, {} right with one, {} wrong with one and {} wrong without. Of {} runs of NUTS {} are \
                 wrong without a warning.",
                ours.len(),
                count(|run| run.is_right() && run.warnings.is_empty()),
                count(|run| run.is_right() && !run.warnings.is_empty()),
                count(|run| !run.is_right() && !run.warnings.is_empty()),
                count(|run| !run.is_right() && run.warnings.is_empty()),
                theirs.len(),
                theirs.iter().filter(silent).count(),
            ),
            Judgement::of(checks),
        )
    }

    /// Returns the targets on which the judged tail index and another method are right, with the
    /// effective draws per 1000 gradients of both.
    fn pairs(&self, other: Option<f64>) -> Vec<(&str, f64, f64)> {
        let pairs = self.cells(Some(JUDGED)).into_iter().zip(self.cells(other));
        let right = pairs.filter(|(ours, other)| ours.is_right() && other.is_right());
        right
            .map(|(ours, other)| (ours.target, ours.ess_per_1000(), other.ess_per_1000()))
            .collect()
    }

    pub(super) fn against_hmc(&self) -> Claim {
        let pairs = self.pairs(Some(2.0));
        let ratio = median(pairs.iter().map(|pair| pair.1 / pair.2));
        let measured = format!(
            "Over the {} targets on which both are right, the median of the ratios of ESS per gradient at α = {JUDGED} and at α = 2 is {ratio:.2}. \
             Ratios: {}.",
            pairs.len(),
            list(&pairs, |pair| format!("{} {:.2}", pair.0, pair.1 / pair.2)),
        );
        Claim::ours(
            "hmc",
            format!(
                "At α = {JUDGED} the ESS per gradient is at least that of HMC with the same adaptation: the median over the targets of the ratio of \
                 both is at least 1."
            ),
            measured,
            Judgement::of([(ratio >= 1.0, format!("the median ratio is {ratio:.2}"))]),
        )
    }

    pub(super) fn against_nuts(&self) -> Claim {
        let trusted = |cell: &Cell<'_>| cell.warned() == 0 && cell.is_right();
        let nuts: Vec<Cell<'_>> = self.cells(None).into_iter().filter(trusted).collect();
        let ratio = |nuts: &Cell<'_>| {
            let ours = self.cell(nuts.target, Some(JUDGED));
            let ratio = ours.ess_per_1000() / nuts.ess_per_1000();
            (if ours.is_right() { ratio } else { 0.0 }, nuts.target.to_owned())
        };
        let ratios: Vec<(f64, String)> = nuts.iter().map(ratio).collect();
        let checks = ratios.iter().map(|(ratio, target)| {
            (
                FACTOR * ratio >= 1.0,
                format!("{target}: the ESS per gradient is {ratio:.2} times that of NUTS"),
            )
        });
        Claim::ours(
            "nuts",
            format!(
                "At α = {JUDGED} the ESS per gradient is within a factor of {FACTOR} of that of NUTS where NUTS is right: without divergences, R̂ \
                 at most 1.01, errors at most {RIGHT}."
            ),
            format!(
                "NUTS is right in all runs on {} of {} targets. ESS per gradient relative to it: {}.",
                ratios.len(),
                self.targets().len(),
                list(&ratios, |(ratio, target)| format!("{target} {ratio:.2}")),
            ),
            Judgement::of(checks),
        )
    }

    pub(super) fn many_modes(&self) -> Claim {
        let cell = self.tempered();
        let checks = self.tempered.iter().map(|run| {
            let warned = if run.warnings.is_empty() {
                String::new()
            } else {
                format!(", with the warning {}", run.warnings)
            };
            (
                run.is_right() && run.warnings.is_empty(),
                format!("seed {}: the error is {}{warned}", run.seed, digits(run.z)),
            )
        });
        Claim::ours(
            "modes",
            format!(
                "Parallel tempering with {TEMPERATURES} temperatures samples the {} rightly, without a warning.",
                targets::MODES
            ),
            format!(
                "Largest errors {}; ESS {:.0}, {} per 1000 gradients of all temperatures, R̂ {:.3}.",
                list(&self.tempered, |run| digits(run.z)),
                cell.median(|run| run.ess),
                digits(cell.ess_per_1000()),
                cell.median(|run| run.r_hat),
            ),
            Judgement::of(checks),
        )
    }
}

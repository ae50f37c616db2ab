//! Gradients as they are, at a step that is a little too large for SGDm: it loses some seeds, and auto should lose none.

use super::arm::Arm;
use super::outcome::Results;
use super::words::{accuracy, share};
use crate::Verdict;
use crate::set::Set;
use crate::unported::{Claim, Exhibit, Table};

/// Adds what the study shows.
pub(super) fn show(exhibit: &mut Exhibit, set: Set, results: &Results) {
    exhibit.tables.push(table(&format!("{}-edge", exhibit.id), results));
    exhibit.claims.push(none_lost(set, results));
}

fn table(name: &str, results: &Results) -> Table {
    let mut table = Table::new(name, &["width", "depth", "learning rate", "seeds", "SGDm", "auto"]);
    for cell in results.cells() {
        let [sgdm, auto] = [Arm::Sgdm, Arm::Auto].map(|arm| accuracy(results, arm, &cell));
        let seeds = results.runs(Arm::Auto, &cell).count().to_string();
        table.row([cell.width.to_string(), cell.depth.to_string(), cell.lr.to_string(), seeds, sgdm, auto]);
    }
    table
}

/// "At steps where SGDm diverges on some seeds, auto diverges on none."
fn none_lost(set: Set, results: &Results) -> Claim {
    let count = |arm| {
        let runs = || results.outcomes.iter().filter(|run| run.arm == arm);
        (runs().filter(|run| run.lost()).count(), runs().count())
    };
    let ((auto, all), (sgdm, _)) = (count(Arm::Auto), count(Arm::Sgdm));
    let network = results.cells().first().map_or(String::new(), |cell| {
        format!(" at width {}, depth {} and a learning rate of {}", cell.width, cell.depth, cell.lr)
    });
    let none_to_save = if sgdm == 0 { ": there was none to be saved" } else { "" };
    Claim::ours(
        format!("On {}, without added noise, auto loses no seed where SGDm loses some.", set.name()),
        format!(
            "Dead or diverged{network}: {} runs of SGDm, {} of auto{none_to_save}.",
            share(sgdm, all),
            share(auto, all)
        ),
        match (auto, sgdm) {
            (0, 1..) => Verdict::Holds,
            _ if auto < sgdm || sgdm == 0 && auto == 0 => Verdict::InPart,
            _ => Verdict::Fails,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::made::{PLAIN, made};
    use crate::calibration::plan::Study;

    #[test]
    fn saving_all_is_more_than_saving_some() {
        let claim = |sgdm: u64, auto: u64| {
            let results = made(Study::Edge, &[Arm::Sgdm, Arm::Auto], &[PLAIN], |arm, _, seed| {
                if seed < if arm == Arm::Auto { auto } else { sgdm } { 10.0 } else { 97.0 }
            });
            none_lost(Set::Mnist, &results)
        };
        let verdict = |sgdm, auto| claim(sgdm, auto).verdict;
        assert_eq!((verdict(2, 0), verdict(2, 1)), (Verdict::Holds, Verdict::InPart));
        assert_eq!((verdict(2, 2), verdict(0, 1)), (Verdict::Fails, Verdict::Fails));
        assert_eq!(verdict(0, 0), Verdict::InPart);
        let told = claim(2, 0).measured;
        assert!(told.contains("2 of 5 runs of SGDm, none of 5 of auto"), "{told}");
    }
}

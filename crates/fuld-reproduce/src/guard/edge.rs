//! No injected noise, at a step slightly too large for SGDm: it loses some seeds, and guarded SGDm
//! should lose none.

use super::{GUARDED_SGDM, GroupSummary, SGDM, accuracy_table};
use crate::study::{Cell, NetworkRuns, Pairs, Treatment, share};
use crate::{Claim, Judgement, Verdict};

pub(super) fn part(runs: &NetworkRuns) -> GroupSummary {
    let labels = |cell: &Cell| {
        let seeds = runs.runs(GUARDED_SGDM, cell).count();
        let lr = cell.lr.unwrap_or(f64::NAN).to_string();
        [cell.width.to_string(), cell.depth.to_string(), lr, seeds.to_string()]
    };
    let columns = (["width", "depth", "learning rate", "seeds"], labels);
    let table = accuracy_table(runs, &SGDM, columns, (&[], Pairs::All));
    GroupSummary { figure: None, table: Some(table), claims: vec![none_lost(runs)] }
}

fn none_lost(runs: &NetworkRuns) -> Claim {
    let ((guarded, all), (sgdm, _)) =
        (runs.lost_of_all(GUARDED_SGDM), runs.lost_of_all(Treatment::Sgdm));
    let network = runs.cells().first().map_or(String::new(), |cell| {
        format!(" at {} and a learning rate of {}", cell.size_label(), cell.lr.unwrap_or(f64::NAN))
    });
    let (verdict, why) = match (guarded, sgdm) {
        (0, 1..) => (Verdict::Holds, String::new()),
        (0, 0) => (Verdict::InPart, "SGDm loses no seed either, so there was none to save".into()),
        _ if guarded < sgdm => (
            Verdict::InPart,
            format!("guarded SGDm loses fewer seeds than SGDm, but still {guarded}"),
        ),
        _ => (Verdict::Fails, format!("guarded SGDm loses {guarded} seeds, SGDm {sgdm}")),
    };
    runs.claim(
        "loses-no-seed",
        format!(
            "without injected noise, {} loses no seed where SGDm loses some.",
            GUARDED_SGDM.label()
        ),
        format!(
            "Lost{network}: {} runs of SGDm, {} of guarded SGDm.",
            share(sgdm, all),
            share(guarded, all)
        ),
        Judgement::new(verdict, why),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Group;
    use crate::study::test_rows::{accuracies, at_rate};

    #[test]
    fn saving_all_is_more_than_saving_some() {
        let claim = |sgdm: u64, guarded: u64| {
            let runs = accuracies(Group::Edge, &SGDM, &[at_rate(0.01)], |treatment, _, seed| {
                if seed < if treatment == GUARDED_SGDM { guarded } else { sgdm } {
                    10.0
                } else {
                    97.0
                }
            });
            none_lost(&runs)
        };
        let verdict = |sgdm, guarded| claim(sgdm, guarded).verdict;
        assert_eq!((verdict(2, 0), verdict(2, 1)), (Verdict::Holds, Verdict::InPart));
        assert_eq!((verdict(2, 2), verdict(0, 1)), (Verdict::Fails, Verdict::Fails));
        assert_eq!(verdict(0, 0), Verdict::InPart);
        let measured = claim(2, 0).measured;
        assert!(measured.contains("2 of 5 runs of SGDm, none of 5 of guarded SGDm"), "{measured}");
    }
}

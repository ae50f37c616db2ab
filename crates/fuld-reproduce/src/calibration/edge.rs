//! No injected noise, at a step slightly too large for SGDm: it loses some seeds, and auto should lose none.

use super::{GroupSummary, pair_table};
use crate::study::{Cell, NetworkRuns, Treatment, share};
use crate::{Claim, Judgement, Verdict};

pub(super) fn part(runs: &NetworkRuns) -> GroupSummary {
    let labels = |cell: &Cell| {
        let seeds = runs.runs(Treatment::Auto, cell).count();
        let lr = cell.lr.unwrap_or(f64::NAN).to_string();
        [cell.width.to_string(), cell.depth.to_string(), lr, seeds.to_string()]
    };
    let table = pair_table(runs, ["width", "depth", "learning rate", "seeds"], labels, None);
    GroupSummary { figure: None, table: Some(table), claims: vec![none_lost(runs)] }
}

/// "At steps where SGDm diverges on some seeds, auto diverges on none."
fn none_lost(runs: &NetworkRuns) -> Claim {
    let ((auto, all), (sgdm, _)) = (runs.lost_of_all(Treatment::Auto), runs.lost_of_all(Treatment::Sgdm));
    let network = runs.cells().first().map_or(String::new(), |cell| {
        format!(" at {} and a learning rate of {}", cell.size_label(), cell.lr.unwrap_or(f64::NAN))
    });
    let (verdict, why) = match (auto, sgdm) {
        (0, 1..) => (Verdict::Holds, String::new()),
        (0, 0) => (Verdict::InPart, "SGDm loses no seed either, so there was none to save".into()),
        _ if auto < sgdm => (Verdict::InPart, format!("auto loses fewer seeds than SGDm, but still {auto}")),
        _ => (Verdict::Fails, format!("auto loses {auto} seeds, SGDm {sgdm}")),
    };
    runs.claim(
        "loses-no-seed",
        "without injected noise, auto loses no seed where SGDm loses some.",
        format!("Lost{network}: {} runs of SGDm, {} of auto.", share(sgdm, all), share(auto, all)),
        Judgement::new(verdict, why),
    )
}

#[cfg(test)]
mod tests {
    use super::super::PAIR;
    use super::*;
    use crate::study::Group;
    use crate::study::test_rows::{PLAIN, accuracies};

    #[test]
    fn saving_all_is_more_than_saving_some() {
        let claim = |sgdm: u64, auto: u64| {
            let runs = accuracies(Group::Edge, &PAIR, &[PLAIN], |treatment, _, seed| {
                if seed < if treatment == Treatment::Auto { auto } else { sgdm } { 10.0 } else { 97.0 }
            });
            none_lost(&runs)
        };
        let verdict = |sgdm, auto| claim(sgdm, auto).verdict;
        assert_eq!((verdict(2, 0), verdict(2, 1)), (Verdict::Holds, Verdict::InPart));
        assert_eq!((verdict(2, 2), verdict(0, 1)), (Verdict::Fails, Verdict::Fails));
        assert_eq!(verdict(0, 0), Verdict::InPart);
        let measured = claim(2, 0).measured;
        assert!(measured.contains("2 of 5 runs of SGDm, none of 5 of auto"), "{measured}");
    }
}

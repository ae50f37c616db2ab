//! Stable noise on every gradient: auto against the best of nine limits of clipping, and against the rule that is told the noise.

use super::arm::Arm;
use super::errors::{axis, error};
use super::outcome::{Cell, Pairs, Results};
use super::words::{accuracy, law, share};
use crate::Verdict;
use crate::gap::Gap;
use crate::series::series;
use crate::set::Set;
use crate::unported::{Claim, Exhibit, Table};
use fuld_plot::{Axis, Figure, Panel};

/// Points of accuracy by which auto may stay behind.
pub(super) const NEAR: f64 = 0.3;

/// Adds what the study shows.
pub(super) fn show(exhibit: &mut Exhibit, set: Set, results: &Results) {
    let name = format!("{}-noise", exhibit.id);
    let caption = "Symmetric stable noise on every gradient: the test error over the limit at which components are clipped, beside rules \
                   that have no limit to choose. A row for each tail index, a column for each scale of the noise; means over seeds with \
                   one standard error, on a logarithmic axis. A run that is dead or diverged counts as a guess, 90 %.";
    exhibit.figures.push((figure(&name, results), caption.into()));
    exhibit.tables.push(table(&name, results));
    exhibit.claims.extend([
        against_clipping(set, results),
        against_oracle(set, results),
        survives(set, results),
    ]);
}

fn clipped(results: &Results) -> Vec<Arm> {
    results.arms().into_iter().filter(|arm| arm.value().is_some()).collect()
}

fn norms(results: &Results) -> Vec<Arm> {
    results.arms().into_iter().filter(|arm| matches!(arm, Arm::Norm(_))).collect()
}

/// Rows are tail indices, columns are scales.
fn figure(name: &str, results: &Results) -> Figure {
    let mut cells = results.cells();
    let order = |cell: &Cell| cell.noise.map_or((0.0, 0.0), |noise| (noise.alpha, noise.scale));
    cells.sort_by(|a, b| order(a).0.total_cmp(&order(b).0).then(order(a).1.total_cmp(&order(b).1)));
    let first = cells.first().map_or(0.0, |cell| order(cell).0);
    let columns = cells.iter().filter(|cell| order(cell).0 == first).count();
    let mut figure = Figure::new(name).columns(columns.max(2)).panel_height(230.0);
    for cell in &cells {
        figure = figure.panel(panel(results, cell));
    }
    figure
}

fn panel(results: &Results, cell: &Cell) -> Panel {
    let limits = clipped(results);
    let ends = |pick: fn(f64, f64) -> f64, from| limits.iter().filter_map(|arm| arm.value()).fold(from, pick);
    let (low, high) = (ends(f64::min, f64::INFINITY), ends(f64::max, 0.0));
    let mut panel =
        Panel::new(law(cell)).x(Axis::log("limit of clipping").range(0.7 * low, high / 0.7)).y(axis(results));
    let across = |arm| {
        let (mean, _) = error(results, arm, cell);
        vec![(0.5 * low, mean), (2.0 * high, mean)]
    };
    let (auto, spread) = error(results, Arm::Auto, cell);
    if spread.is_finite() {
        let band = [0.5 * low, 2.0 * high].map(|x| (x, auto - spread, auto + spread));
        panel = panel.band(Arm::Auto.hue(), "", band.into());
    }
    let points: Vec<_> = limits
        .iter()
        .filter_map(|&arm| {
            let (mean, spread) = error(results, arm, cell);
            Some((arm.value()?, mean, spread))
        })
        .collect();
    if let Some(&arm) = limits.first() {
        panel = series(panel, arm.hue(), arm.label(), false, &points);
    }
    panel = panel.dotted(Arm::Sgdm.hue(), Arm::Sgdm.label(), across(Arm::Sgdm));
    if let Some(norm) = results.best(norms(results), cell) {
        panel = panel.dotted(norm.hue(), format!("{}, best limit", norm.label()), across(norm));
    }
    panel.dashed(Arm::Oracle.hue(), Arm::Oracle.label(), across(Arm::Oracle)).line(
        Arm::Auto.hue(),
        Arm::Auto.label(),
        across(Arm::Auto),
    )
}

fn table(name: &str, results: &Results) -> Table {
    let mut table = Table::new(
        name,
        &["noise", "SGDm", "norm clipped", "clipped", "at", "told", "auto", "auto − clipped"],
    );
    for cell in results.cells() {
        let of = |arm: Option<Arm>| arm.map_or(String::new(), |arm| accuracy(results, arm, &cell));
        let best = results.best(clipped(results), &cell);
        table.row([
            law(&cell),
            of(Some(Arm::Sgdm)),
            of(results.best(norms(results), &cell)),
            of(best),
            best.and_then(Arm::value).map_or(String::new(), |limit| limit.to_string()),
            of(Some(Arm::Oracle)),
            of(Some(Arm::Auto)),
            best.map_or(String::new(), |best| results.ahead(Arm::Auto, best, &cell, Pairs::All).signed()),
        ]);
    }
    table
}

/// How auto compares with another arm of each cell; the last of them is where it is furthest behind.
fn compared(results: &Results, with: impl Fn(&Cell) -> Option<Arm>) -> Vec<(Cell, Arm, Gap)> {
    let gap = |cell: Cell| {
        let other = with(&cell)?;
        Some((cell, other, results.ahead(Arm::Auto, other, &cell, Pairs::All)))
    };
    let mut all: Vec<_> = results.cells().into_iter().filter_map(gap).collect();
    all.sort_by(|a, b| b.2.mean.total_cmp(&a.2.mean));
    all
}

/// Whether it is near in each, in how many it is, and where it is least so.
fn nearness(compared: &[(Cell, Arm, Gap)], than: &str) -> (Verdict, String) {
    let near = |gap: &Gap| gap.mean >= -NEAR;
    let count = compared.iter().filter(|(_, _, gap)| near(gap)).count();
    let verdict = Verdict::of_all(compared.iter().map(|(_, _, gap)| near(gap)));
    let mean = Gap::over(compared.iter().map(|&(_, _, gap)| gap));
    let worst = compared
        .last()
        .map_or(String::new(), |(cell, _, gap)| format!(" Least so with {}: {}.", law(cell), gap.points()));
    let told = format!(
        "So with {} laws of the noise; the mean over them is {} {than}.{worst}",
        share(count, compared.len()),
        mean.points()
    );
    (verdict, told)
}

/// "Within 0.3 % of the best clipping threshold found by a search over nine."
fn against_clipping(set: Set, results: &Results) -> Claim {
    let limits = clipped(results);
    let compared = compared(results, |cell| results.best(limits.clone(), cell));
    let (verdict, told) = nearness(&compared, "against the best limit of each");
    let ends = [limits.first(), limits.last()];
    let at_end = compared.iter().filter(|(_, best, _)| ends.contains(&Some(best))).count();
    let search = match at_end {
        0 => "The best limit is never the first or the last of those tried".into(),
        n => format!("The best limit is the first or the last of those tried with {n} of them"),
    };
    Claim::ours(
        format!(
            "On {}, with stable noise on every gradient, auto is within {NEAR} points of test accuracy of the best of {} limits of clipping, \
             chosen for each law of the noise on the test set itself.",
            set.name(),
            limits.len()
        ),
        format!("{told} {search}."),
        verdict,
    )
}

/// "And of the oracle κ."
fn against_oracle(set: Set, results: &Results) -> Claim {
    let (verdict, told) =
        nearness(&compared(results, |_| Some(Arm::Oracle)), "against the rule that is told");
    Claim::ours(
        format!(
            "On {}, auto is within {NEAR} points of the same rule when it is told α and σ of the noise.",
            set.name()
        ),
        told,
        verdict,
    )
}

/// SGDm shown beside it.
fn survives(set: Set, results: &Results) -> Claim {
    let cells = results.cells();
    let count = |arm| {
        let lost: usize = cells.iter().map(|cell| results.lost(arm, cell)).sum();
        (lost, cells.iter().map(|cell| results.runs(arm, cell).count()).sum::<usize>())
    };
    let ((auto, all), (sgdm, _)) = (count(Arm::Auto), count(Arm::Sgdm));
    Claim::ours(
        format!("On {}, noise that kills SGDm does not kill auto.", set.name()),
        format!("Dead or diverged: {} runs of auto, {} of SGDm.", share(auto, all), share(sgdm, all)),
        Verdict::of(auto == 0 && sgdm > 0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::made::{made, noisy};
    use crate::calibration::plan::Study;

    /// Three limits, the second the best at 97 %, unless the scale is large: then the third. Auto is told how far it is from 97 % by a
    /// function of the tail index.
    fn results(auto: impl Fn(f64) -> f64) -> Results {
        let arms = [Arm::Sgdm, Arm::Oracle, Arm::Auto, Arm::Value(0.1), Arm::Value(0.2), Arm::Value(0.3)];
        let cells = [noisy(1.2, 0.001), noisy(1.5, 0.001), noisy(1.5, 0.01)];
        made(Study::Noise, &arms, &cells, |arm, cell, seed| {
            let noise = cell.noise.unwrap();
            let good = 97.0 + 0.01 * seed as f64;
            match arm {
                Arm::Sgdm => 10.0,
                Arm::Auto => good + auto(noise.alpha),
                Arm::Oracle => good - 0.4,
                Arm::Value(limit) => {
                    good - 10.0 * (limit - if noise.scale > 0.005 { 0.3 } else { 0.2 }).abs()
                }
                Arm::Norm(_) => unreachable!(),
            }
        })
    }

    #[test]
    fn the_best_limit_of_each_cell_is_what_counts() {
        let claim = |auto: fn(f64) -> f64| against_clipping(Set::Mnist, &results(auto));
        let near = claim(|_| -0.29);
        assert_eq!(near.verdict, Verdict::Holds);
        assert!(
            near.measured.contains("all 3 laws") && near.measured.contains("last of those tried with 1 of")
        );
        let part = claim(|alpha| if alpha == 1.2 { -0.31 } else { 0.0 });
        assert_eq!(part.verdict, Verdict::InPart);
        assert!(part.measured.contains("2 of 3"), "{}", part.measured);
        assert!(
            part.measured.contains("Least so with α = 1.2, σ = 0.001: −0.31 ± 0.00"),
            "{}",
            part.measured
        );
        assert_eq!(claim(|_| -0.31).verdict, Verdict::Fails);
    }

    #[test]
    fn the_oracle_may_be_beaten() {
        let verdict = |auto: fn(f64) -> f64| against_oracle(Set::Mnist, &results(auto)).verdict;
        assert_eq!(
            (verdict(|_| 0.0), verdict(|_| -0.6), verdict(|_| -0.8)),
            (Verdict::Holds, Verdict::Holds, Verdict::Fails)
        );
    }

    #[test]
    fn one_dead_network_is_one_too_many() {
        let mut results = results(|_| 0.0);
        assert_eq!(survives(Set::Mnist, &results).verdict, Verdict::Holds);
        let run = results.outcomes.iter_mut().find(|run| run.arm == Arm::Auto).unwrap();
        run.summary = None;
        let claim = survives(Set::Mnist, &results);
        assert_eq!(claim.verdict, Verdict::Fails);
        assert!(claim.measured.contains("1 of 15 runs of auto, all 15 of SGDm"), "{}", claim.measured);
    }
}

//! What becomes of the paper's claims about networks: computed from the runs and from nothing else.

mod words;

use super::arm::Arm;
use super::reach::{Reach, STRAIGHT};
use super::results::{Measure, Results};
use crate::Verdict;
use crate::gap::{Gap, SURE};
use crate::set::Set;
use crate::unported::Claim;
use words::{amount, differences, explosions, sentence, small};

/// The chance below which cells that were won are not taken for tosses of a coin.
const LUCK: f64 = 0.05;
/// What is less than this part of a gain has not remained of it.
const TRACE: f64 = 0.1;
/// Where the paper sees α = 1.75 ahead. It sees no difference at width 32, and α = 2 ahead at width 512.
const AHEAD: std::ops::RangeInclusive<usize> = 64..=256;

/// All claims about networks on a data set. Those about widths that were not trained are left out.
pub(super) fn claims(set: Set, results: &Results, reach: Reach) -> Vec<Claim> {
    let mut claims = Vec::new();
    let widths = results.widths();
    if widths.iter().any(|width| AHEAD.contains(width)) {
        claims.extend([better(set, results, Arm::Paper), better(set, results, Arm::Authors)]);
    }
    claims.push(learning_rate(set, results, Arm::Paper, Arm::PaperControl));
    claims.push(learning_rate(set, results, Arm::Authors, Arm::AuthorsControl));
    claims.push(stays_straight(set, reach));
    if set == Set::Cifar10 {
        claims.push(largest(results));
    } else if widths.contains(&256) && widths.len() > 1 {
        claims.push(most_at_256(set, results));
    }
    if widths.contains(&32) {
        claims.push(narrow(set, results));
    }
    if widths.contains(&512) {
        claims.push(wide(set, results));
    }
    claims
}

/// "In most of the cases, α = 1.75 is better": the paper's words for its formula, and ours for the field of its authors' code.
fn better(set: Set, results: &Results, arm: Arm) -> Claim {
    let cells: Vec<_> = results.cells().into_iter().filter(|cell| AHEAD.contains(&cell.0)).collect();
    let gaps = Measure::ALL.map(|measure| (measure, results.gap(arm, Arm::Gauss, measure, &cells)));
    let won = gaps.map(|(measure, gap)| {
        format!("{} {} of {} (chance {})", measure.label(), gap.won, cells.len(), small(gap.chance()))
    });
    let measured = format!(
        "Combinations of width and depth in which it is better: {}. On average {}.{}",
        won.join(", "),
        differences(&gaps),
        explosions(results, &[arm, Arm::Gauss], &cells)
    );
    let verdict = Verdict::of_all(gaps.iter().map(|(_, gap)| gap.won > gap.lost && gap.chance() < LUCK));
    let cases = "in most cases at widths 64 to 256, in training and test, in loss and accuracy";
    if arm == Arm::Paper {
        let says = format!("α = 1.75 does better than α = 2 {cases}");
        Claim::new(set.tried(&says, "MNIST and CIFAR-10"), measured, verdict)
    } else {
        let says = format!(
            "On {}, α = 1.75 by the field that the authors' code computes, s(αv)/2, does what the paper says of its formula: better than \
             α = 2 {cases}.",
            set.name()
        );
        Claim::ours(says, measured, verdict)
    }
}

/// What is left of the gain once the learning rate is the same: nothing, we say.
fn learning_rate(set: Set, results: &Results, arm: Arm, control: Arm) -> Claim {
    let cells = results.cells();
    let (mut verdicts, mut told) = (Vec::new(), Vec::new());
    for measure in [Measure::TrainLoss, Measure::TestLoss, Measure::TestAccuracy] {
        let gain = results.gap(arm, Arm::Gauss, measure, &cells);
        let rest = results.gap(arm, control, measure, &cells);
        verdicts.push(nothing_remains(gain, rest));
        let share = if gain.is_gain() && rest.is_known() {
            format!(", {:.0} % of the gain", 100.0 * rest.mean / gain.mean).replace('-', "−")
        } else {
            String::new()
        };
        let [over_gauss, over_control] = [gain, rest].map(|gap| amount(measure, gap));
        told.push(format!(
            "{}, against α = 2: {over_gauss}; against SGDm at the matched step: {over_control}{share}",
            measure.label()
        ));
    }
    let verdict = match verdicts[0] {
        first if verdicts.iter().all(|&verdict| verdict == first) => first,
        _ => Verdict::InPart,
    };
    let field =
        if arm == Arm::Authors { "by the field of the authors' code" } else { "by the paper's formula" };
    Claim::ours(
        format!(
            "On {}, α = 1.75 {field} does no better than SGDm whose small steps are as large: what it gains over α = 2, if anything, is \
             the learning rate.",
            set.name(),
        ),
        told.iter().map(|text| sentence(text)).collect::<Vec<_>>().join(" ")
            + &explosions(results, &[arm, Arm::Gauss, control], &cells),
        verdict,
    )
}

/// Whether nothing remains of a gain against the control. In part if more than a trace of it does, but less than half, or if the control
/// is beaten where there was no gain of which something could remain.
fn nothing_remains(gain: Gap, rest: Gap) -> Verdict {
    let part = rest.mean / gain.mean;
    match () {
        () if !rest.is_known() => Verdict::Fails,
        () if !rest.is_gain() => Verdict::Holds,
        () if !gain.is_gain() => Verdict::InPart,
        () if part <= TRACE => Verdict::Holds,
        () if part < 0.5 => Verdict::InPart,
        () => Verdict::Fails,
    }
}

/// Where the field is straight, α is nothing but a learning rate.
fn stays_straight(set: Set, reach: Reach) -> Claim {
    let Reach { networks, straight, steps, iterations, typical, largest, bent } = reach;
    let verdict = match straight {
        0 => Verdict::Fails,
        all if all == networks => Verdict::Holds,
        _ => Verdict::InPart,
    };
    Claim::ours(
        format!(
            "On {}, momenta stay so far below the bend of ∇G_α at |v| ~ 1 that the field is a straight line to within {:.0} %, and α = 1.75 \
             a learning rate.",
            set.name(),
            100.0 * STRAIGHT
        ),
        format!(
            "So in {straight} of {networks} networks (of each width the shallowest and the deepest, with every seed), followed for \
             {steps} of {iterations} steps. The largest |v| of any weight at any step of any of them was {}, where the field is off a \
             straight line by {:.2} % of itself; in the median network it was {}.",
            number(largest),
            100.0 * bent,
            number(typical)
        ),
        verdict,
    )
}

/// Of a network that exploded it is infinite.
fn number(v: f64) -> String {
    if v.is_finite() { format!("{v:.3}") } else { "infinite".into() }
}

/// "More visible at width 256", where it reaches about 2 % on MNIST.
///
/// The best of many cells is ahead by chance: widths are compared by their means over depths, and the size is that of a cell which
/// other seeds have chosen.
fn most_at_256(set: Set, results: &Results) -> Claim {
    let means = by_width(results, Arm::Paper);
    let (at, others): (Vec<_>, Vec<_>) = means.iter().partition(|(width, _)| *width == 256);
    let gained = at.iter().any(|(_, gap)| gap.is_gain());
    let most = gained && at.iter().all(|(_, here)| others.iter().all(|(_, there)| here.exceeds(there)));
    let peak = results.peak(Arm::Paper, &of_width(results, 256));
    let told = format!(
        "Means over depths of the difference in test accuracy, by the paper's formula: {}; as the authors' code computes it: {}. It is largest \
         at 256 if it exceeds each other by {SURE} standard errors.",
        listed(&means),
        listed(&by_width(results, Arm::Authors)),
    );
    if set == Set::Mnist {
        let says = "the difference is more visible at width 256, where it reaches about 2 points of accuracy";
        let size = gained && about(2.0, peak);
        let told = format!("{told} {}", chosen("At that width, it", peak));
        Claim::new(set.tried(says, "MNIST"), told, Verdict::of_all([most, size]))
    } else {
        Claim::new(set.tried("the difference is more visible at width 256", "MNIST"), told, Verdict::of(most))
    }
}

/// "The maximum accuracy difference being about 4.5 %", at whatever width.
fn largest(results: &Results) -> Claim {
    let means = by_width(results, Arm::Paper);
    let peak = results.peak(Arm::Paper, &results.cells());
    let verdict = match means.iter().any(|(_, gap)| gap.is_gain()) {
        false => Verdict::Fails,
        true if about(4.5, peak) => Verdict::Holds,
        true => Verdict::InPart,
    };
    Claim::new(
        Set::Cifar10.tried("the largest difference in accuracy is about 4.5 points", "CIFAR-10"),
        format!(
            "{} By width, mean over depths: {}; there is a difference if one of these exceeds {SURE} standard errors.",
            chosen("The largest difference in test accuracy by the paper's formula", peak),
            listed(&means)
        ),
        verdict,
    )
}

/// Between half and twice of what the paper tells.
fn about(told: f64, gap: Gap) -> bool {
    (0.5 * told..=2.0 * told).contains(&gap.mean)
}

fn chosen(what: &str, peak: Gap) -> String {
    format!("{what} is {} in the combination of width and depth that the other seeds choose.", peak.points())
}

/// The difference in test accuracy of each width, mean over depths.
fn by_width(results: &Results, arm: Arm) -> Vec<(usize, Gap)> {
    let gap = |width| results.gap(arm, Arm::Gauss, Measure::TestAccuracy, &of_width(results, width));
    results.widths().into_iter().map(|width| (width, gap(width))).collect()
}

fn listed(means: &[(usize, Gap)]) -> String {
    means.iter().map(|&(width, gap)| format!("width {width} {}", gap.points())).collect::<Vec<_>>().join(", ")
}

/// "No significant difference at width 32."
fn narrow(set: Set, results: &Results) -> Claim {
    // Where nothing is known, nothing is known to be small.
    let none = |gap: Gap| gap.is_known() && !gap.is_gain() && !gap.is_loss();
    at_width(set, results, 32, "there is no significant difference at width 32", none)
}

/// "At width 512 α = 2 is slightly better."
fn wide(set: Set, results: &Results) -> Claim {
    at_width(set, results, 512, "α = 2 is slightly better at width 512", |gap| gap.is_loss())
}

/// A claim about the mean over depths of each measure at a width.
fn at_width(set: Set, results: &Results, width: usize, says: &str, so: impl Fn(Gap) -> bool) -> Claim {
    let cells = of_width(results, width);
    let gaps = Measure::ALL.map(|measure| (measure, results.gap(Arm::Paper, Arm::Gauss, measure, &cells)));
    let measured = format!(
        "α = 1.75 against 2, mean over depths: {}.{}",
        differences(&gaps),
        explosions(results, &[Arm::Paper, Arm::Gauss], &cells)
    );
    let verdict = Verdict::of_all(gaps.iter().map(|&(_, gap)| so(gap)));
    Claim::new(set.tried(says, "MNIST and CIFAR-10"), measured, verdict)
}

fn of_width(results: &Results, width: usize) -> Vec<(usize, usize)> {
    results.cells().into_iter().filter(|cell| cell.0 == width).collect()
}

#[cfg(test)]
mod tests;

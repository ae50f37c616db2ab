//! What becomes of the paper's claims about networks: computed from the runs and from nothing else.

use super::arm::Arm;
use super::reach::Reach;
use super::results::{Gap, Measure, Results};
use crate::reproduce::{Claim, Verdict};

/// A data set as claims name it, and the largest difference in accuracy that the paper tells of it, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Set {
    /// As in "on MNIST".
    pub(super) name: &'static str,
    /// None if the paper did not use it.
    pub(super) told: Option<f64>,
}

impl Set {
    /// By the name that the program knows it by.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "mnist" => Self { name: "MNIST", told: Some(2.0) },
            "cifar10" => Self { name: "CIFAR-10", told: Some(4.5) },
            _ => Self { name: "the digits", told: None },
        }
    }
}

/// The chance below which cells that were won are not taken for tosses of a coin.
const LUCK: f64 = 0.05;
/// What is less than this part of a gain has not remained of it.
const TRACE: f64 = 0.1;
/// The field that is off its straight line by less than this is that of SGD.
const STRAIGHT: f64 = 0.01;

/// All claims about networks on a data set. Those about widths that were not trained are left out.
pub(super) fn claims(set: Set, results: &Results, reach: Reach) -> Vec<Claim> {
    let mut claims = vec![better(set, results, Arm::Paper), better(set, results, Arm::Authors)];
    claims.push(remains(set, results, Arm::Paper, Arm::PaperControl));
    claims.push(remains(set, results, Arm::Authors, Arm::AuthorsControl));
    claims.push(stays_straight(set, reach));
    let widths = results.widths();
    if widths.contains(&256) && widths.len() > 1 {
        claims.push(widest_gap(set, results));
    }
    if widths.contains(&32) {
        claims.push(narrow(set, results));
    }
    if widths.contains(&512) {
        claims.push(wide(set, results));
    }
    claims
}

fn named(arm: Arm) -> &'static str {
    match arm {
        Arm::Authors => "as the authors' code computes it",
        _ => "by the paper's formula",
    }
}

/// "In most of the cases, α = 1.75 is better."
fn better(set: Set, results: &Results, arm: Arm) -> Claim {
    let cells = results.cells();
    let gaps = Measure::ALL.map(|measure| (measure, results.gap(arm, Arm::Gauss, measure, &cells)));
    let won: Vec<String> = gaps
        .iter()
        .map(|(measure, gap)| {
            format!("{} {} of {} (chance {})", measure.label(), gap.won, cells.len(), small(gap.chance()))
        })
        .collect();
    let measured = format!(
        "Combinations of width and depth in which it is better: {}. On average {}.{}",
        won.join(", "),
        averages(&gaps),
        explosions(results, &[arm, Arm::Gauss])
    );
    Claim::new(
        format!(
            "On {}, α = 1.75 {} does better than α = 2 in most cases, in training and test, in loss and accuracy.",
            set.name,
            named(arm)
        ),
        measured,
        Verdict::of_all(gaps.iter().map(|(_, gap)| gap.won > gap.lost && gap.chance() < LUCK)),
    )
}

/// "Hence the noise is heavy-tailed": what is left of the gain once the learning rate is the same.
fn remains(set: Set, results: &Results, arm: Arm, control: Arm) -> Claim {
    let cells = results.cells();
    let (mut parts, mut told) = (Vec::new(), Vec::new());
    for measure in [Measure::TrainLoss, Measure::TestLoss, Measure::TestAccuracy] {
        let gain = results.gap(arm, Arm::Gauss, measure, &cells);
        let rest = results.gap(arm, control, measure, &cells);
        parts.push((rest.is_gain() && rest.mean > TRACE * gain.mean.abs(), rest.mean >= 0.5 * gain.mean));
        let share = if gain.is_gain() {
            format!(", {:.0} % of the gain", 100.0 * rest.mean / gain.mean).replace('-', "−")
        } else {
            String::new()
        };
        told.push(format!(
            "{} {} than with α = 2, and {} than with SGDm at the matched step{share}",
            measure.label(),
            amount(measure, gain),
            amount(measure, rest)
        ));
    }
    let verdict = match parts.iter().filter(|(left, _)| *left).count() {
        0 => Verdict::Fails,
        _ if parts.iter().all(|&(left, half)| left && half) => Verdict::Holds,
        _ => Verdict::InPart,
    };
    Claim::new(
        format!(
            "On {}, what α = 1.75 {} gains shows noise with heavy tails: it is no matter of the step, and remains against SGDm whose small \
             steps are as large.",
            set.name,
            named(arm)
        ),
        sentence(&told.join("; ")) + &explosions(results, &[arm, control]),
        verdict,
    )
}

/// Where the field is straight, α is nothing but a learning rate.
fn stays_straight(set: Set, Reach { typical, bent, largest }: Reach) -> Claim {
    let verdict = match () {
        () if bent < STRAIGHT => Verdict::Holds,
        () if typical < 1.0 => Verdict::InPart,
        () => Verdict::Fails,
    };
    Claim::ours(
        format!(
            "On {}, momenta stay below the bend of ∇G_α at |v| ~ 1: there the field is a straight line, and α = 1.75 a learning rate.",
            set.name
        ),
        format!(
            "In a typical network the largest |v| of any weight at any step was {typical:.3}, where the field is off a straight line by \
             {:.2} % of itself; in the one that went furthest, {largest:.3}.",
            100.0 * bent
        ),
        verdict,
    )
}

/// "More visible at width 256", by about 2 % and 4.5 %.
fn widest_gap(set: Set, results: &Results) -> Claim {
    let (width, depth, gap) = largest(results, Arm::Paper);
    let (their_width, their_depth, theirs) = largest(results, Arm::Authors);
    let there = width == 256 && gap.is_gain();
    let size = set.told.map(|told| gap.is_gain() && (0.5 * told..=2.0 * told).contains(&gap.mean));
    let told = set.told.map_or(String::new(), |told| format!(", about {told} points of accuracy"));
    Claim::new(
        format!("On {}, the difference is largest at width 256{told}.", set.name),
        format!(
            "The largest mean difference in test accuracy by the paper's formula is {} (width {width}, depth {depth}); as the authors' code \
             computes it, {} (width {their_width}, depth {their_depth}).",
            points(gap),
            points(theirs)
        ),
        Verdict::of_all([Some(there), size].into_iter().flatten()),
    )
}

/// The cell in which an arm is ahead of α = 2 by most, in test accuracy.
fn largest(results: &Results, arm: Arm) -> (usize, usize, Gap) {
    let gap =
        |cell: (usize, usize)| (cell.0, cell.1, results.gap(arm, Arm::Gauss, Measure::TestAccuracy, &[cell]));
    let gaps = results.cells().into_iter().map(gap).filter(|(_, _, gap)| !gap.mean.is_nan());
    let none = (0, 0, Gap { mean: f64::NAN, error: f64::NAN, won: 0, lost: 0 });
    gaps.max_by(|a, b| a.2.mean.total_cmp(&b.2.mean)).unwrap_or(none)
}

/// "No significant difference at width 32."
fn narrow(set: Set, results: &Results) -> Claim {
    let gaps = of_width(results, 32);
    Claim::new(
        format!("On {}, at width 32 there is no significant difference.", set.name),
        format!(
            "α = 1.75 against 2, all depths: {}.{}",
            averages(&gaps),
            explosions(results, &[Arm::Paper, Arm::Gauss])
        ),
        Verdict::of_all(gaps.iter().map(|(_, gap)| !gap.is_gain() && !gap.is_loss())),
    )
}

/// "At width 512 α = 2 is slightly better."
fn wide(set: Set, results: &Results) -> Claim {
    let gaps = of_width(results, 512);
    Claim::new(
        format!("On {}, at width 512 α = 2 is slightly better.", set.name),
        format!(
            "α = 1.75 against 2, all depths: {}.{}",
            averages(&gaps),
            explosions(results, &[Arm::Paper, Arm::Gauss])
        ),
        Verdict::of_all(gaps.iter().map(|(_, gap)| gap.is_loss())),
    )
}

fn of_width(results: &Results, width: usize) -> [(Measure, Gap); 4] {
    let cells: Vec<_> = results.cells().into_iter().filter(|cell| cell.0 == width).collect();
    Measure::ALL.map(|measure| (measure, results.gap(Arm::Paper, Arm::Gauss, measure, &cells)))
}

fn averages(gaps: &[(Measure, Gap)]) -> String {
    gaps.iter().map(|&(measure, gap)| difference(measure, gap)).collect::<Vec<_>>().join(", ")
}

/// In words, with its standard error.
fn difference(measure: Measure, gap: Gap) -> String {
    format!("{} {}", measure.label(), amount(measure, gap))
}

fn amount(measure: Measure, gap: Gap) -> String {
    let (size, error) = (gap.mean.abs(), gap.error);
    let way = if measure.is_loss() == (gap.mean < 0.0) { "higher" } else { "lower" };
    if measure.is_loss() {
        format!("{size:.4} ± {error:.4} {way}")
    } else {
        format!("{size:.2} ± {error:.2} points {way}")
    }
}

fn points(gap: Gap) -> String {
    format!("{:+.2} ± {:.2} points", gap.mean, gap.error).replace('-', "−")
}

fn small(chance: f64) -> String {
    if chance < 0.001 { "below 0.001".into() } else { format!("{chance:.3}") }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect::<String>() + ".")
}

/// Never silently: runs that exploded are in no mean.
fn explosions(results: &Results, arms: &[Arm]) -> String {
    let told = |&arm: &Arm| {
        let (count, all) =
            (results.exploded(arm), results.outcomes.iter().filter(|run| run.arm == arm).count());
        (count > 0).then(|| format!("{count} of {all} runs of {}", arm.label()))
    };
    let told: Vec<String> = arms.iter().filter_map(told).collect();
    if told.is_empty() {
        String::new()
    } else {
        format!(" Exploded, and so in no mean: {}.", told.join(", "))
    }
}

#[cfg(test)]
mod tests;

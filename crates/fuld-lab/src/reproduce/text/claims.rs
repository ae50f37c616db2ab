//! What becomes of the claims about text: computed from the runs and from nothing else.

use super::arm::Arm;
use super::comparison::Comparison;
use super::gap::{Gap, SURE};
use super::tails::Tail;
use crate::reproduce::{Claim, Verdict};

/// All claims. Those about optimizers that were not compared are left out.
pub(super) fn claims(comparison: &Comparison, tails: &[Tail]) -> Vec<Claim> {
    let mut claims = vec![heavy(tails)];
    let adam = comparison.gap(Arm::Adam, Arm::Sgdm);
    claims.extend(adam.map(|gap| below(comparison, Arm::Adam, Arm::Sgdm, gap)));
    claims.extend(rare(comparison));
    claims
}

/// The gradient noise of every tensor has α̂ below 2.
fn heavy(tails: &[Tail]) -> Claim {
    let told: Vec<String> = tails
        .iter()
        .map(|tail| format!("{} {:.2} ± {:.2}", tail.tensor, tail.estimate.alpha, tail.estimate.alpha_error))
        .collect();
    Claim::ours(
        "On text with a power-law vocabulary the noise of minibatches is heavy-tailed in every tensor of the model.",
        format!("α̂, from quadruples of minibatches: {}.", told.join(", ")),
        Verdict::of_all(
            tails.iter().map(|tail| tail.estimate.alpha + SURE * tail.estimate.alpha_error < 2.0),
        ),
    )
}

/// One ends below the other.
fn below(comparison: &Comparison, arm: Arm, other: Arm, gap: Gap) -> Claim {
    Claim::ours(
        format!("Tuned equally, {} ends below {}.", arm.label(), other.label()),
        told(comparison, arm, other, gap),
        Verdict::of(gap.is_below()),
    )
}

/// What SGDm lacks, it lacks in rare words.
fn rare(comparison: &Comparison) -> Option<Claim> {
    let [sgdm, adam] = [Arm::Sgdm, Arm::Adam].map(|arm| comparison.of(arm));
    let (sgdm, adam) = (sgdm?, adam?);
    let gaps: [Gap; 3] = std::array::from_fn(|n| {
        let of = |tuned: &super::comparison::Tuned| -> Vec<f64> {
            tuned.runs.iter().map(|run| run.by_rank[n]).collect()
        };
        Gap::between(&of(sgdm), &of(adam))
    });
    let [common, middle, rare] = gaps;
    Some(Claim::ours(
        "What SGDm lacks, it lacks in rare words more than in common ones.",
        format!(
            "SGDm less Adam, nats a word: words 1 to 10 {common:+}, 11 to 100 {middle:+}, all others {rare:+}."
        ),
        Verdict::of_all([rare.is_above(), rare.mean - common.mean > SURE * rare.error.hypot(common.error)]),
    ))
}

/// Both results, their difference, and what should be known of them.
fn told(comparison: &Comparison, arm: Arm, other: Arm, gap: Gap) -> String {
    let results = [arm, other].map(|arm| {
        comparison.of(arm).map_or(String::new(), |tuned| {
            let lost = match tuned.lost() {
                0 => String::new(),
                n => format!(" ({n} of {} runs lost)", tuned.runs.len()),
            };
            format!("{} {}{lost} at {}", arm.label(), tuned.result(), tuned.chosen)
        })
    });
    let ends =
        [arm, other].into_iter().filter(|&arm| comparison.of(arm).is_some_and(|tuned| tuned.at_an_end()));
    let ends: String = ends
        .map(|arm| format!(" The learning rate of {} is the first or last that was tried.", arm.label()))
        .collect();
    let difference =
        if gap.mean.is_finite() { format!("; difference {gap:+}, seed by seed") } else { String::new() };
    format!("Nats above the least possible loss: {}{difference}.{ends}", results.join(", "))
}

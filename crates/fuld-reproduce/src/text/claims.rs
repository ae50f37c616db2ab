//! What becomes of the claims about text: computed from the runs and from nothing else.

use super::arm::Arm;
use super::comparison::{Comparison, Tuned};
use super::gap::{Gap, SURE};
use super::tails::Tail;
use crate::Verdict;
use crate::unported::Claim;

/// A learning rate trains well if it ends within so many nats of SGDm's best.
const WELL: f64 = 0.1;

/// All claims. Those about optimizers that were not compared are left out.
pub(super) fn claims(comparison: &Comparison, tails: &[Tail]) -> Vec<Claim> {
    let mut claims = vec![heavy(tails)];
    claims.extend(below(comparison, Arm::Adam, Arm::Sgdm));
    claims.extend(rare(comparison));
    claims.extend(below(comparison, Arm::Auto, Arm::Sgdm));
    let clipped = [Arm::ClipNorm, Arm::ClipValue].into_iter().filter_map(|arm| comparison.of(arm));
    let best = clipped.min_by(|a, b| a.result().mean.total_cmp(&b.result().mean));
    claims.extend(best.and_then(|best| not_above(comparison, Arm::Auto, best.arm)));
    claims.extend(not_above(comparison, Arm::Auto, Arm::Adam));
    claims.extend(wider(comparison));
    claims
}

/// The tensors with a row or a column for every word have the heaviest tails.
fn heavy(tails: &[Tail]) -> Claim {
    let told = |of_words: bool| -> String {
        let those = tails.iter().filter(|tail| tail.of_words == of_words);
        let texts = those.map(|tail| {
            format!("{} {:.2} ± {:.2}", tail.tensor, tail.estimate.alpha, tail.estimate.alpha_error)
        });
        texts.collect::<Vec<_>>().join(", ")
    };
    let words = || tails.iter().filter(|tail| tail.of_words).map(|tail| tail.estimate);
    let others = tails.iter().filter(|tail| !tail.of_words).map(|tail| tail.estimate);
    let lightest = words().map(|e| e.alpha + SURE * e.alpha_error).fold(0.0, f64::max);
    let heaviest = others.map(|e| e.alpha - SURE * e.alpha_error).fold(f64::INFINITY, f64::min);
    let mut parts: Vec<bool> = words().map(|e| e.alpha + SURE * e.alpha_error < 2.0).collect();
    parts.push(lightest < heaviest);
    Claim::ours(
        "On text with a power-law vocabulary the gradient noise is heavy-tailed, most of all in the tensors that have a row or a column for \
         every word.",
        format!("α̂, from quadruples of minibatches: {}; the other tensors, {}.", told(true), told(false)),
        Verdict::of_all(parts),
    )
}

/// One ends below the other.
fn below(comparison: &Comparison, arm: Arm, other: Arm) -> Option<Claim> {
    let gap = comparison.gap(arm, other)?;
    let says = format!("Tuned equally on text, {} ends below {}.", arm.label(), other.label());
    Some(Claim::ours(says, told(comparison, arm, other, gap), Verdict::of(gap.is_below())))
}

/// One does not end above the other.
fn not_above(comparison: &Comparison, arm: Arm, other: Arm) -> Option<Claim> {
    let gap = comparison.gap(arm, other)?;
    let says = format!("Tuned equally on text, {} does not end above {}.", arm.label(), other.label());
    Some(Claim::ours(says, told(comparison, arm, other, gap), Verdict::of(!gap.is_above())))
}

/// More learning rates train well.
fn wider(comparison: &Comparison) -> Option<Claim> {
    let (auto, sgdm) = (comparison.of(Arm::Auto)?, comparison.of(Arm::Sgdm)?);
    let limit = WELL + sgdm.by_rate().iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let rates = |tuned: &Tuned| -> Vec<String> {
        let well = tuned.by_rate().into_iter().filter(|point| point.1 <= limit);
        well.map(|point| point.0.to_string()).collect()
    };
    let (ours, theirs) = (rates(auto), rates(sgdm));
    let list = |rates: &[String]| if rates.is_empty() { "none".into() } else { rates.join(", ") };
    Some(Claim::ours(
        "On text more learning rates train well with auto than with SGDm.",
        format!(
            "Of the {} learning rates, those that end within {WELL} nats of SGDm's best on the validation text: auto {}; SGDm {}.",
            sgdm.by_rate().len(),
            list(&ours),
            list(&theirs),
        ),
        Verdict::of(ours.len() > theirs.len()),
    ))
}

/// What SGDm lacks, it lacks in rare words.
fn rare(comparison: &Comparison) -> Option<Claim> {
    let [sgdm, adam] = [Arm::Sgdm, Arm::Adam].map(|arm| comparison.of(arm));
    let (sgdm, adam) = (sgdm?, adam?);
    let gaps: [Gap; 3] = std::array::from_fn(|n| {
        let of = |tuned: &Tuned| -> Vec<f64> { tuned.runs.iter().map(|run| run.by_rank[n]).collect() };
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

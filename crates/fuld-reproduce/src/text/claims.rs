//! The claims about text.

use super::tuning::{Tuned, Tuning};
use crate::claim::{Claim, Judgement, list};
use crate::study::{Difference, SIGNIFICANT, Treatment};
use fuld_train::text::TensorNoise;

/// A learning rate trains well if it ends within this many nats of SGDm's best.
const WELL: f64 = 0.1;

/// Returns all claims. Claims about optimizers that were not compared are left out.
pub(super) fn claims(tuning: &Tuning, noise: &[TensorNoise]) -> Vec<Claim> {
    use Treatment::{Adam, Auto, ClipNorm, ClipValue, Sgdm};
    let mut claims = vec![heavy_tails(noise)];
    claims.extend(compared("adam-below-sgdm", tuning, (Adam, Ends::Below, Sgdm)));
    claims.extend(rare_words(tuning));
    claims.extend(compared("auto-below-sgdm", tuning, (Auto, Ends::Below, Sgdm)));
    let clipped = [ClipNorm(0.0), ClipValue(0.0)].into_iter().filter_map(|kind| tuning.of_kind(kind));
    let mean = |tuned: &Tuned| tuned.excess().iter().sum::<f64>() / tuned.tests.len() as f64;
    let best = clipped.min_by(|a, b| mean(a).total_cmp(&mean(b)));
    claims.extend(best.and_then(|best| {
        compared("auto-not-above-clipping", tuning, (Auto, Ends::NotAbove, best.chosen.treatment))
    }));
    claims.extend(compared("auto-not-above-adam", tuning, (Auto, Ends::NotAbove, Adam)));
    claims.extend(more_rates(tuning));
    claims
}

/// The tensors with a row or a column for every word have the heaviest tails.
fn heavy_tails(noise: &[TensorNoise]) -> Claim {
    let listed = |per_word: bool| {
        let those = noise.iter().filter(|tensor| tensor.per_word == per_word);
        list(those, |tensor| format!("{} {:.2} ± {:.2}", tensor.tensor, tensor.alpha, tensor.alpha_error))
    };
    let per_word = || noise.iter().filter(|tensor| tensor.per_word);
    let others = noise.iter().filter(|tensor| !tensor.per_word);
    let upper = |tensor: &TensorNoise| tensor.alpha + SIGNIFICANT * tensor.alpha_error;
    let lightest = per_word().map(upper).fold(0.0, f64::max);
    let heaviest = others.map(|t| t.alpha - SIGNIFICANT * t.alpha_error).fold(f64::INFINITY, f64::min);
    let heavy = per_word()
        .map(|tensor| (upper(tensor) < 2.0, format!("α̂ of {} is not significantly below 2", tensor.tensor)));
    let heaviest_of_all =
        (lightest < heaviest, "another tensor has tails that are not significantly lighter".to_owned());
    Claim::ours(
        "heavy-tails",
        "On text with a power-law vocabulary the gradient noise is heavy-tailed, most of all in the tensors that have a row or a column for \
         every word.",
        format!("α̂, from quadruples of minibatches: {}; the other tensors: {}.", listed(true), listed(false)),
        Judgement::of(heavy.chain([heaviest_of_all])),
    )
}

/// One optimizer ends below another, or, if that is all that is claimed, not above it.
fn compared(id: &str, tuning: &Tuning, (kind, ends, other): (Treatment, Ends, Treatment)) -> Option<Claim> {
    let difference = tuning.difference(kind, other)?;
    let (label, rival) = (kind.label(), other.label());
    let (ends, holds, why) = match ends {
        Ends::Below => ("ends below", difference.is_gain(), "does not end significantly below"),
        Ends::NotAbove => ("does not end above", !difference.is_loss(), "ends significantly above"),
    };
    Some(Claim::ours(
        id,
        format!("Tuned equally on text, {label} {ends} {rival}."),
        measured(tuning, kind, other, difference),
        Judgement::of([(holds, format!("{label} {why} {rival}"))]),
    ))
}

enum Ends {
    Below,
    NotAbove,
}

/// More learning rates train well.
fn more_rates(tuning: &Tuning) -> Option<Claim> {
    let (auto, sgdm) = (tuning.of_kind(Treatment::Auto)?, tuning.of_kind(Treatment::Sgdm)?);
    let limit = WELL + sgdm.by_rate().iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let rates = |tuned: &Tuned| -> Vec<String> {
        let well = tuned.by_rate().into_iter().filter(|point| point.1 <= limit);
        well.map(|point| point.0.to_string()).collect()
    };
    let (ours, theirs) = (rates(auto), rates(sgdm));
    let list = |rates: &[String]| if rates.is_empty() { "none".into() } else { rates.join(", ") };
    Some(Claim::ours(
        "more-learning-rates",
        "On text more learning rates train well with FULD auto than with SGDm.",
        format!(
            "Of the {} learning rates, these end within {WELL} nats of SGDm's best on the validation text: auto {}; SGDm {}.",
            sgdm.by_rate().len(),
            list(&ours),
            list(&theirs),
        ),
        Judgement::of([(
            ours.len() > theirs.len(),
            format!("{} learning rates train well with auto, {} with SGDm", ours.len(), theirs.len()),
        )]),
    ))
}

/// SGDm loses more on rare words than on common ones.
fn rare_words(tuning: &Tuning) -> Option<Claim> {
    let (sgdm, adam) = (tuning.of_kind(Treatment::Sgdm)?, tuning.of_kind(Treatment::Adam)?);
    // How far Adam is below SGDm.
    let [common, middle, rare]: [Difference; 3] = std::array::from_fn(|n| {
        let of = |tuned: &Tuned| -> Vec<f64> { tuned.tests.iter().map(|run| run.by_rank()[n]).collect() };
        Difference::of_losses(&of(adam), &of(sgdm))
    });
    Some(Claim::ours(
        "rare-words",
        "SGDm falls behind Adam in rare words more than in common ones.",
        format!(
            "SGDm less Adam, in nats per word: words 1 to 10 {}, 11 to 100 {}, all others {}.",
            common.signed(3),
            middle.signed(3),
            rare.signed(3)
        ),
        Judgement::of([
            (rare.is_gain(), "SGDm is not significantly behind in rare words"),
            (
                rare.exceeds(&common),
                "it is not significantly further behind in rare words than in common ones",
            ),
        ]),
    ))
}

/// Says both results, their difference, and what limits the comparison.
fn measured(tuning: &Tuning, kind: Treatment, other: Treatment, difference: Difference) -> String {
    let both = || [kind, other].into_iter().filter_map(|kind| tuning.of_kind(kind));
    let results = list(both(), |tuned| {
        let diverged = match tuned.diverged() {
            0 => String::new(),
            n => format!(" ({n} of {} runs diverged)", tuned.tests.len()),
        };
        format!("{} {}{diverged} at {}", tuned.label(), tuned.result_text(), tuned.chosen.setting())
    });
    let ends: String = both()
        .filter(|tuned| tuned.is_at_an_end())
        .map(|tuned| format!(" The learning rate of {} is the first or last that was tried.", tuned.label()))
        .collect();
    // Positive differences mean below; readers expect the difference of the losses.
    let above = Difference { mean: -difference.mean, ..difference };
    let difference = if above.mean.is_finite() {
        format!("; difference {}, seed by seed", above.signed(3))
    } else {
        String::new()
    };
    format!("Nats per word above the lowest loss: {}{difference}.{ends}", results)
}

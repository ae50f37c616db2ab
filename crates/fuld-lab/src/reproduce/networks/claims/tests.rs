//! Verdicts on results that were made up so that each claim is true, true in part, and false.

use super::*;
use crate::reproduce::networks::made::made;

const FAR: Reach = Reach { typical: 0.04, bent: 0.001, largest: 0.08 };
const DEPTHS: [usize; 5] = [2, 3, 4, 5, 6];

/// Something that differs from seed to seed and arm to arm, much less than what matters, and cancels over the three seeds.
fn jitter(arm: Arm, depth: usize, seed: u64) -> f64 {
    1e-5 * f64::from(1 + arm as u8) * (depth as f64).cos() * (seed as f64 - 1.0)
}

/// Results whose gains over α = 2 are given: a loss so much lower, an accuracy so much higher.
fn with(widths: &[usize], gain: impl Fn(Arm, usize, usize) -> f64) -> Results {
    made(widths, &DEPTHS, |arm, width, depth, seed| {
        let gain = if arm == Arm::Gauss { 0.0 } else { gain(arm, width, depth) } + jitter(arm, depth, seed);
        (0.5 - gain, 0.8 + gain)
    })
}

#[track_caller]
fn verdict(set: &str, results: &Results, reach: Reach, says: &[&str]) -> Verdict {
    let claims = claims(Set::of(set), results, reach);
    let claim = claims.iter().find(|claim| says.iter().all(|text| claim.says.contains(text)));
    let claim = claim.unwrap_or_else(|| panic!("{says:?} is in none of {claims:#?}"));
    assert!(claim.says.contains(Set::of(set).name) && !claim.measured.contains("NaN"), "{claim:?}");
    claim.verdict
}

#[test]
fn better_in_most_cases() {
    for (arm, name) in [(Arm::Paper, "formula"), (Arm::Authors, "code")] {
        let of = |results: &Results| verdict("mnist", results, FAR, &["most cases", name]);
        assert_eq!(of(&with(&[64, 128], |a, _, _| if a == arm { 0.01 } else { -0.01 })), Verdict::Holds);
        assert_eq!(of(&with(&[64, 128], |a, _, _| if a == arm { -0.01 } else { 0.01 })), Verdict::Fails);
        // Six of ten is what a coin would do.
        let six = |a: Arm, _, depth| if a == arm && depth > 4 { -0.01 } else { 0.01 };
        assert_eq!(of(&with(&[64, 128], six)), Verdict::Fails);
        // A lower loss, at a lower accuracy.
        let mixed = made(&[64, 128], &DEPTHS, |a, _, depth, seed| {
            let gain = if a == arm { 0.01 } else { 0.0 } + jitter(a, depth, seed);
            (0.5 - gain, 0.8 - gain)
        });
        assert_eq!(of(&mixed), Verdict::InPart);
    }
}

#[test]
fn a_run_that_exploded_is_told_and_loses() {
    let mut results = with(&[64, 128], |arm, _, _| if arm == Arm::Paper { 0.01 } else { 0.0 });
    for run in
        results.outcomes.iter_mut().filter(|run| run.arm == Arm::Paper && run.seed == 1 && run.depth > 3)
    {
        run.summary = None;
    }
    assert_eq!(verdict("mnist", &results, FAR, &["most cases", "formula"]), Verdict::Fails);
    let claims = claims(Set::of("mnist"), &results, FAR);
    assert!(
        claims[0]
            .measured
            .contains("Exploded, and so in no mean: 6 of 30 runs of α = 1.75, paper's formula."),
        "{claims:#?}"
    );
    assert!(!claims[1].measured.contains("xploded"));
}

#[test]
fn tail_or_learning_rate() {
    let pairs = [(Arm::Paper, Arm::PaperControl, "formula"), (Arm::Authors, Arm::AuthorsControl, "code")];
    for (arm, control, name) in pairs {
        let of = |gain_of_control: f64| {
            let results = with(&[64], |a, _, _| match a {
                a if a == arm => 0.01,
                a if a == control => gain_of_control,
                _ => 0.0,
            });
            verdict("cifar10", &results, FAR, &["heavy tails", name])
        };
        assert_eq!(of(0.0), Verdict::Holds);
        assert_eq!(of(0.007), Verdict::InPart);
        // The control does as well: it was the step.
        assert_eq!(of(0.01), Verdict::Fails);
        assert_eq!(of(0.02), Verdict::Fails);
        // A hundredth of the gain is none, however small the error.
        assert_eq!(of(0.0099), Verdict::Fails);
    }
}

#[test]
fn largest_at_width_256() {
    let peak = |set: &str, width: usize, gain: f64| {
        let results = with(&[32, 128, 256], |arm, w, depth| match (arm, w == width && depth == 4) {
            (Arm::Paper, true) => gain,
            (Arm::Paper, false) => 0.001,
            // Another arm is not asked.
            _ => 0.05,
        });
        verdict(set, &results, FAR, &["largest at width 256"])
    };
    assert_eq!(peak("mnist", 256, 0.02), Verdict::Holds);
    assert_eq!(peak("mnist", 128, 0.02), Verdict::InPart);
    assert_eq!(peak("mnist", 256, 0.005), Verdict::InPart);
    assert_eq!(peak("mnist", 128, 0.005), Verdict::Fails);
    assert_eq!(peak("cifar10", 256, 0.045), Verdict::Holds);
    assert_eq!(peak("cifar10", 256, 0.02), Verdict::InPart);
    // Of the digits the paper says no number.
    assert_eq!(peak("digits", 256, 0.005), Verdict::Holds);
    assert_eq!(peak("digits", 128, 0.02), Verdict::Fails);
}

#[test]
fn narrow_and_wide() {
    let at =
        |width: usize, gain: f64| with(&[width], move |arm, _, _| if arm == Arm::Paper { gain } else { 0.0 });
    let narrow = |gain| verdict("mnist", &at(32, gain), FAR, &["width 32"]);
    assert_eq!(narrow(0.0), Verdict::Holds);
    assert_eq!(narrow(0.01), Verdict::Fails);
    assert_eq!(narrow(-0.01), Verdict::Fails);
    let wide = |gain| verdict("mnist", &at(512, gain), FAR, &["width 512"]);
    assert_eq!(wide(-0.003), Verdict::Holds);
    assert_eq!(wide(0.0), Verdict::Fails);
    assert_eq!(wide(0.01), Verdict::Fails);
    let claims = claims(Set::of("mnist"), &at(64, 0.0), FAR);
    assert!(!claims.iter().any(|claim| claim.says.contains("width")), "no run has these widths");
}

#[test]
fn the_bend() {
    let results = with(&[64], |_, _, _| 0.0);
    let of = |typical, bent| verdict("digits", &results, Reach { typical, bent, largest: 99.0 }, &["bend"]);
    assert_eq!(of(0.04, 0.001), Verdict::Holds);
    assert_eq!(of(0.6, 0.03), Verdict::InPart);
    assert_eq!(of(1.5, 0.3), Verdict::Fails);
    let claims = claims(Set::of("digits"), &results, FAR);
    assert!(
        claims.iter().all(|claim| claim.ours == claim.says.contains("bend")),
        "it is ours, and the only one"
    );
}

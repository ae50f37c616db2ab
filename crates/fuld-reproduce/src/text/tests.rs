use super::arm::{Setting, TRIALS};
use super::claims::claims;
use super::comparison::Tuned;
use super::exam::{Exam, mean};
use super::run::{Course, Trained};
use super::tails::Tail;
use super::*;
use crate::Verdict;
use fuld::Control;
use fuld_train::transformer::{Transformer, TransformerShape};
use levy_stable::tail_index::QuadrupleEstimate;
use std::sync::{Arc, Mutex};

fn small() -> Plan {
    Plan {
        topics: 4,
        shape: TransformerShape { words: 40, context: 4, width: 8, hidden: 8 },
        batch: 8,
        steps: 6,
        measurements: 3,
        sentences: 70,
        seeds: 2,
        ..Plan::new(7)
    }
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let made = |seed: u64, threads: usize| {
        let exhibit = of_plan(&Plan { seed, ..small() }, &Lab::new(seed, threads)).unwrap();
        (exhibit.data, exhibit.figures.iter().map(|(figure, _)| figure.svg()).collect::<Vec<_>>())
    };
    let one = made(7, 1);
    assert!(one == made(7, 2));
    assert!(one != made(8, 2));
    let [trials, curves, noise, calibration, results] = &one.0[..] else { panic!("{:?}", one.0.len()) };
    assert_eq!(trials.rows().len(), Arm::ALL.len() * TRIALS);
    assert_eq!((curves.rows().len(), noise.rows().len()), (Arm::ALL.len() * 2 * 3, 10));
    assert_eq!((results.rows().len(), calibration.rows().len()), (Arm::ALL.len(), 2 * 10));
}

#[test]
fn progress_is_told() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let note = heard.clone();
    let lab = Lab::new(7, 1).heard_by(move |share| note.lock().unwrap().push(share));
    of_plan(&small(), &lab).unwrap();
    let heard = heard.lock().unwrap();
    assert!(heard.len() > 4 && heard.is_sorted() && *heard.last().unwrap() > 0.7, "{heard:?}");
    assert!(heard.iter().all(|share| (0.0..=1.0).contains(share)));
}

/// A model of the report's own size, for as long as takes a second, ends half-way between what frequencies tell and all that can be known;
/// Adam with its usual settings, clipping that does nothing, and a step that is far too large.
#[test]
fn a_model_learns_more_than_frequencies() {
    let plan = Plan { steps: 150, measurements: 2, sentences: 128, ..Plan::new(1) };
    let language = plan.language();
    let exam = Exam::test(&plan, &language);
    let course = Course { plan: &plan, language: &language, exam: &exam, measurements: 2 };
    let train = |arm: Arm, rate: f64| {
        course.train(arm, Setting { rate, limit: None }, 5, &|| Control::Continue).unwrap().unwrap()
    };
    let adam = train(Arm::Adam, 0.0064);
    let frequencies = language.unigram_entropy() - exam.least();
    assert!(adam.excess < 0.5 * frequencies && adam.excess > 0.0, "{} {frequencies}", adam.excess);
    assert_eq!(adam.curve.iter().map(|point| point.0).collect::<Vec<_>>(), [75, 150]);
    assert_eq!(adam.curve[1].1, adam.excess);
    let lost = train(Arm::Sgdm, 1e38);
    assert!(lost.excess == f64::INFINITY && lost.by_rank == [f64::INFINITY; 3]);
    assert!(
        course.train(Arm::Adam, Setting { rate: 0.01, limit: None }, 5, &|| Control::Stop).unwrap().is_none()
    );
}

#[test]
fn clipping_is_what_its_name_says() {
    let plan = Plan { steps: 3, ..small() };
    let language = plan.language();
    let exam = Exam::test(&plan, &language);
    let course = Course { plan: &plan, language: &language, exam: &exam, measurements: 1 };
    let train = |arm: Arm, limit: Option<f64>| {
        let setting = Setting { rate: 0.1, limit };
        course.train(arm, setting, 5, &|| Control::Continue).unwrap().unwrap().excess
    };
    let plain = train(Arm::Sgdm, None);
    for arm in [Arm::ClipNorm, Arm::ClipValue] {
        assert_eq!(train(arm, Some(1e6)), plain);
        assert_ne!(train(arm, Some(0.01)), plain);
    }
    assert_ne!(train(Arm::ClipNorm, Some(0.01)), train(Arm::ClipValue, Some(0.01)));
}

#[test]
fn ranks_are_told_apart() {
    let plan = small();
    let exam = Exam::test(&plan, &plan.language());
    let model = Transformer::new(plan.shape, 1, &Default::default());
    let excess = exam.excess(&model);
    assert_eq!(excess.len(), 70 * 4);
    let [common, rare] = exam.by_rank(&excess, [10, u32::MAX]);
    let all = mean(excess.iter().copied());
    assert!(common != rare && (common - all) * (rare - all) < 0.0, "{common} {all} {rare}");
}

/// A comparison in which every seed of an arm ends at its number.
fn compared(ends: &[(Arm, [f64; 3])]) -> Comparison {
    let model = Transformer::new(small().shape, 1, &Default::default());
    let tuned = |&(arm, by_rank): &(Arm, [f64; 3])| {
        let settings = arm.settings();
        let run = |seed: u32| {
            let by_rank = by_rank.map(|x| x + 0.001 * f64::from(seed));
            let excess = by_rank.iter().sum::<f64>() / 3.0;
            Trained { curve: vec![(1, excess)], excess, by_rank, estimates: Vec::new(), model: model.clone() }
        };
        // Worse by as much for each rate further from the best, the more so the worse the end.
        let loss = |setting: &Setting| 0.3 * by_rank[0] * (setting.rate / 0.2).ln().abs();
        let trials = settings.iter().map(|setting| (*setting, loss(setting))).collect();
        Tuned { arm, trials, chosen: settings[4], runs: (0..5).map(run).collect() }
    };
    Comparison { all: ends.iter().map(tuned).collect() }
}

fn tail(of_words: bool, alpha: f64) -> Tail {
    let estimate = QuadrupleEstimate { alpha, alpha_error: 0.02, scale: 1.0, scale_error: 0.1 };
    Tail { tensor: "t", of_words, estimate, silent: 0.0 }
}

fn verdict(comparison: &Comparison, tails: &[Tail], says: &str) -> Verdict {
    let claims = claims(comparison, tails);
    claims
        .iter()
        .find(|claim| claim.says.contains(says))
        .unwrap_or_else(|| panic!("{says}: {claims:?}"))
        .verdict
}

#[test]
fn verdicts_come_out_either_way() {
    let [low, high] = [[0.1, 0.2, 0.3], [0.1, 0.3, 0.6]];
    let (usual, other) =
        (compared(&[(Arm::Sgdm, high), (Arm::Adam, low)]), compared(&[(Arm::Sgdm, low), (Arm::Adam, high)]));
    let says = "Adam ends below SGDm";
    assert_eq!([&usual, &other].map(|c| verdict(c, &[], says)), [Verdict::Holds, Verdict::Fails]);
    let lost = compared(&[(Arm::Sgdm, low), (Arm::Adam, [f64::INFINITY; 3])]);
    assert_eq!(verdict(&lost, &[], says), Verdict::Fails);
    let says = "rare words";
    assert_eq!([&usual, &other].map(|c| verdict(c, &[], says)), [Verdict::Holds, Verdict::Fails]);
    let says = "heavy-tailed";
    let tails = [
        [tail(true, 1.1), tail(false, 1.8)],
        [tail(true, 1.8), tail(false, 1.1)],
        [tail(true, 2.0), tail(false, 1.9)],
    ];
    let found = tails.map(|tails| verdict(&usual, &tails, says));
    assert_eq!(found, [Verdict::Holds, Verdict::InPart, Verdict::Fails]);
}

#[test]
fn auto_may_win_or_lose() {
    let [low, middle, high] = [0.1, 0.3, 0.6].map(|end| [end; 3]);
    let others = [(Arm::Sgdm, high), (Arm::ClipNorm, high), (Arm::ClipValue, middle), (Arm::Adam, low)];
    let with = |end: f64| compared(&[&others[..], &[(Arm::Auto, [end; 3])]].concat());
    let says = [
        "auto ends below SGDm",
        "auto does not end above SGDm clipped by component",
        "auto does not end above Adam",
        "more learning rates",
    ];
    let verdicts = |end: f64| says.map(|says| verdict(&with(end), &[], says) == Verdict::Holds);
    assert_eq!(verdicts(0.05), [true, true, true, true]);
    assert_eq!(verdicts(0.2), [true, true, false, true]);
    assert_eq!(verdicts(0.6), [false, false, false, false]);
    assert_eq!(claims(&compared(&others), &[]).len(), 3, "nothing is said of what was not run");
}

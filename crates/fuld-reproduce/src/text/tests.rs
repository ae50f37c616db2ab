use super::claims::claims;
use super::*;
use crate::claim::Verdict;
use crate::exhibit::Results;
use crate::table::Tables;
use std::sync::Mutex;
use tempfile::TempDir;

fn small(seed: u64) -> TextStudy {
    let study = TextStudy::new(seed);
    let shape = TransformerShape { words: 40, context: 4, width: 8, hidden: 8 };
    let task = TextTask { topics: 4, batch: 8, steps: 6, sentences: 70, shape, ..study.task };
    TextStudy { task, measurements: 3, seeds: 2 }
}

fn results(context: Context<'_>) -> Text {
    Text::of_study(&context, &small(context.seed)).unwrap()
}

/// Tables are compared as text: NaN is equal to itself there.
fn tables(results: &Text) -> Tables {
    results.to_tables().unwrap()
}

#[test]
fn results_depend_on_the_seed_and_not_on_threads() {
    let run = |seed, threads| {
        let folder = TempDir::new().unwrap();
        results(Context { threads, ..Context::new(seed, folder.path()) })
    };
    let one = run(7, 1);
    assert!(tables(&one) == tables(&run(7, 2)));
    assert!(tables(&one) != tables(&run(8, 2)));
    assert_eq!(one.runs.len(), KINDS.len() * (TRIALS + 2));
    assert_eq!(one.curves.len(), KINDS.len() * 2 * 3);
    assert_eq!(one.noise.len(), 10);
    assert_eq!(one.calibration.len(), 2 * 10);
    assert_eq!(one.figures().len(), 2);
    assert_eq!(one.claims().len(), 7);
    assert_eq!(one.shown()[0].rows.len(), KINDS.len());
    assert!(one.text().contains("40 words"));
    assert_eq!(small(7).settings().unwrap()["clip_norm_0.8"].as_array().unwrap().len(), 3);
}

#[test]
fn progress_is_reported_and_results_are_kept() {
    let (folder, progress, notes) = (TempDir::new().unwrap(), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let run = || {
        progress.lock().unwrap().clear();
        notes.lock().unwrap().clear();
        results(Context {
            threads: 1,
            on_note: Box::new(|note| notes.lock().unwrap().push(note.to_owned())),
            on_progress: Box::new(|share| progress.lock().unwrap().push(share)),
            ..Context::new(7, folder.path())
        })
    };
    let first = run();
    {
        let progress = progress.lock().unwrap();
        assert!(
            progress.len() > 4 && progress.is_sorted() && *progress.last().unwrap() > 0.7,
            "{progress:?}"
        );
        assert!(progress.iter().all(|share| (0.0..=1.0).contains(share)));
    }
    assert!(tables(&run()) == tables(&first));
    let notes = notes.lock().unwrap();
    assert!(notes[0].starts_with("tuning on text: 45 runs, 45 of them trained before"), "{notes:?}");
    assert!(notes[1].starts_with("best settings on text: 10 runs, 10 of them trained before"), "{notes:?}");
}

/// Rows in which every seed of an optimizer ends at its number.
fn tuning_ending_at(ends: &[(Treatment, [f64; 3])]) -> Tuning {
    let mut rows = Vec::new();
    for &(kind, by_rank) in ends {
        let row = |stage, (treatment, lr), seed, excess: f64, by_rank: [f64; 3]| TextRow {
            stage,
            treatment,
            lr,
            seed,
            excess,
            excess_ranks_1_to_10: by_rank[0],
            excess_ranks_11_to_100: by_rank[1],
            excess_other_ranks: by_rank[2],
        };
        for setting in candidates(kind) {
            // Worse by as much for each learning rate further from the best, the more so the worse the end.
            let loss = 0.3 * by_rank[0] * (setting.1 / 0.2f64).ln().abs();
            rows.push(row(Stage::Tuning, setting, 7, loss, [loss; 3]));
        }
        for seed in 0..5 {
            let by_rank = by_rank.map(|x| x + 0.001 * seed as f64);
            let excess = by_rank.iter().sum::<f64>() / 3.0;
            rows.push(row(Stage::Test, candidates(kind)[4], seed, excess, by_rank));
        }
    }
    Tuning::of(&rows)
}

fn noise(per_word: bool, alpha: f64) -> TensorNoise {
    TensorNoise {
        tensor: "t".into(),
        per_word,
        alpha,
        alpha_error: 0.02,
        noise_scale: 1.0,
        noise_scale_error: 0.1,
        silent: 0.0,
    }
}

fn verdict(tuning: &Tuning, noise: &[TensorNoise], says: &str) -> Verdict {
    let claims = claims(tuning, noise);
    let claim = claims.iter().find(|claim| claim.says.contains(says));
    claim.unwrap_or_else(|| panic!("{says}: {claims:?}")).verdict
}

#[test]
fn verdicts_come_out_either_way() {
    use Treatment::{Adam, Sgdm};
    let [low, high] = [[0.1, 0.2, 0.3], [0.1, 0.3, 0.6]];
    let (usual, other) =
        (tuning_ending_at(&[(Sgdm, high), (Adam, low)]), tuning_ending_at(&[(Sgdm, low), (Adam, high)]));
    let says = "Adam ends below SGDm";
    assert_eq!([&usual, &other].map(|t| verdict(t, &[], says)), [Verdict::Holds, Verdict::Fails]);
    let diverged = tuning_ending_at(&[(Sgdm, low), (Adam, [f64::INFINITY; 3])]);
    assert_eq!(verdict(&diverged, &[], says), Verdict::Fails);
    let says = "rare words";
    assert_eq!([&usual, &other].map(|t| verdict(t, &[], says)), [Verdict::Holds, Verdict::Fails]);
    let tensors = [
        [noise(true, 1.1), noise(false, 1.8)],
        [noise(true, 1.8), noise(false, 1.1)],
        [noise(true, 2.0), noise(false, 1.9)],
    ];
    let found = tensors.map(|tensors| verdict(&usual, &tensors, "heavy-tailed"));
    assert_eq!(found, [Verdict::Holds, Verdict::InPart, Verdict::Fails]);
}

#[test]
fn auto_may_win_or_lose() {
    use Treatment::{Adam, Auto, ClipNorm, ClipValue, Sgdm};
    let [low, middle, high] = [0.1, 0.3, 0.6].map(|end| [end; 3]);
    let others = [(Sgdm, high), (ClipNorm(0.0), high), (ClipValue(0.0), middle), (Adam, low)];
    let with = |end: f64| tuning_ending_at(&[&others[..], &[(Auto, [end; 3])]].concat());
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
    assert_eq!(
        claims(&tuning_ending_at(&others), &[]).len(),
        3,
        "no claim about an optimizer that was not run"
    );
}

use super::test_rows::{PLAIN, accuracies, grid, row};
use super::*;
use crate::study::RunOutcome;
use fuld_train::train::FinalMeans;

#[test]
fn a_run_without_a_finite_loss_has_not_learned() {
    let outcome = |train_loss, test_accuracy| {
        let means = FinalMeans {
            measurements: 2,
            train_loss,
            train_accuracy: 0.5,
            test_loss: 1.0,
            test_accuracy,
        };
        RunOutcome::of(Some(&means))
    };
    assert_eq!(outcome(0.1, 0.97), RunOutcome::Learned);
    assert_eq!(outcome(2.303, 0.1135), RunOutcome::AtChance);
    assert_eq!(outcome(1e9, 0.6), RunOutcome::Exploded);
    assert_eq!(outcome(f64::NAN, f64::NAN), RunOutcome::Diverged);
    assert_eq!(RunOutcome::of(None), RunOutcome::Diverged);
}

#[test]
fn a_lost_run_counts_as_a_random_answer() {
    let run = |loss, accuracy| row(Group::Clean, Treatment::Adam, PLAIN, 0, (loss, accuracy));
    let diverged = NetworkRow { outcome: RunOutcome::Diverged, ..run(1.0, 0.97) };
    let found =
        [run(1.0, 0.97), run(1.0, 0.1135), run(1e6, 0.6), diverged].map(|run| run.accuracy());
    assert_eq!(found, [97.0, 10.0, 10.0, 10.0]);
}

#[test]
fn treatments_are_compared_seed_by_seed() {
    // Seeds differ by far more than treatments.
    let accuracy = |treatment, _: &Cell, seed: u64| match (treatment, seed) {
        (Treatment::Sgdm, 4) => 10.0,
        (Treatment::Adam, seed) => 80.5 + seed as f64,
        (_, seed) => 80.0 + seed as f64,
    };
    let runs = accuracies(Group::Clean, &[Treatment::Sgdm, Treatment::Adam], &[PLAIN], accuracy);
    let ahead = |pairs| runs.ahead(Treatment::Adam, Treatment::Sgdm, &PLAIN, pairs);
    let learned = ahead(Pairs::Learned);
    assert!((learned.mean - 0.5).abs() < 1e-9 && learned.error < 1e-9, "{learned:?}");
    assert!((ahead(Pairs::All).mean - (4.0 * 0.5 + 74.5) / 5.0).abs() < 1e-9);
    assert_eq!((runs.lost(Treatment::Sgdm, &PLAIN), runs.lost(Treatment::Adam, &PLAIN)), (1, 0));
    assert_eq!(runs.best(&[Treatment::Sgdm, Treatment::Adam], &PLAIN), Some(Treatment::Adam));
}

#[test]
fn differences_are_paired_and_have_the_right_sign() {
    let runs = grid(&[64], &[2, 3], |treatment, _, _, seed| {
        let better =
            if treatment == Treatment::PaperFormula { 0.01 * (1.0 + seed as f64) } else { 0.0 };
        (1.0 + seed as f64 - better, 0.5 + better)
    });
    let cells = runs.cells();
    let gain =
        runs.over(Treatment::PaperFormula, Treatment::PaperGaussian, Measure::TrainLoss, &cells);
    assert!((gain.mean - 0.02).abs() < 1e-12 && gain.is_gain() && !gain.is_loss(), "{gain:?}");
    // 0.01, 0.02, 0.03 in both cells: 0.01/√3 for each, and √2 less for two.
    assert!((gain.error - 0.01 / 6f64.sqrt()).abs() < 1e-12, "{gain:?}");
    let other =
        runs.over(Treatment::PaperGaussian, Treatment::PaperFormula, Measure::TestAccuracy, &cells);
    assert!(
        (other.mean + 2.0).abs() < 1e-9 && other.is_loss() && (other.won, other.lost) == (0, 2)
    );
}

#[test]
fn the_treatment_that_explodes_more_often_loses_the_cell() {
    let mut runs = grid(&[64], &[2], |treatment, _, _, _| {
        (if treatment == Treatment::PaperFormula { 0.1 } else { 0.2 }, 0.9)
    });
    let cells = runs.cells();
    let gain = |runs: &NetworkRuns| {
        runs.over(Treatment::PaperFormula, Treatment::PaperGaussian, Measure::TrainLoss, &cells)
    };
    assert_eq!((gain(&runs).won, gain(&runs).lost), (1, 0));
    let place = runs.rows.iter().position(|run| run.treatment == Treatment::PaperFormula).unwrap();
    for outcome in [RunOutcome::Exploded, RunOutcome::Diverged] {
        runs.rows[place].outcome = outcome;
        let now = gain(&runs);
        assert_eq!((now.won, now.lost), (0, 1));
        assert!((now.mean - 0.1).abs() < 1e-12);
    }
}

#[test]
fn one_seed_is_never_significant() {
    let mut runs = grid(&[32], &[2], |treatment, _, _, _| {
        if treatment == Treatment::PaperFormula { (0.1, 0.9) } else { (0.9, 0.1) }
    });
    runs.rows.retain(|run| run.seed == 0);
    let cells = runs.cells();
    let gain =
        runs.over(Treatment::PaperFormula, Treatment::PaperGaussian, Measure::TestLoss, &cells);
    assert!(gain.error.is_nan() && !gain.is_gain() && !gain.is_loss() && gain.won == 1);
}

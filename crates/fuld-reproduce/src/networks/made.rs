//! Results made up for the tests.

use super::arm::Arm;
use super::results::{Outcome, Results};
use fuld_train::train::FinalMeans;

/// A run with these losses and accuracies, the same on both sets.
pub(super) fn outcome(
    arm: Arm,
    width: usize,
    depth: usize,
    seed: u64,
    (loss, accuracy): (f64, f64),
) -> Outcome {
    let summary = FinalMeans {
        measurements: 2,
        train_loss: loss,
        train_accuracy: accuracy,
        test_loss: loss,
        test_accuracy: accuracy,
    };
    Outcome { arm, width, depth, seed, summary: Some(summary), reached: 100 }
}

/// Three seeds of every arm in every cell, with the loss and the accuracy that a function gives.
pub(super) fn made(
    widths: &[usize],
    depths: &[usize],
    of: impl Fn(Arm, usize, usize, u64) -> (f64, f64),
) -> Results {
    let mut outcomes = Vec::new();
    for &width in widths {
        for &depth in depths {
            for seed in 0..3 {
                for arm in Arm::ALL {
                    outcomes.push(outcome(arm, width, depth, seed, of(arm, width, depth, seed)));
                }
            }
        }
    }
    Results { outcomes }
}

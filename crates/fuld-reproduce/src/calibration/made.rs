//! Results made up for the tests.

use super::arm::Arm;
use super::outcome::{Cell, Outcome, Results};
use super::plan::Study;
use fuld_train::spec::InjectedNoise;
use fuld_train::train::{FinalMeans, LayerCalibration};

/// A run with this test accuracy, in percent, and a loss that is neither good nor bad.
pub(super) fn outcome(study: Study, arm: Arm, cell: Cell, seed: u64, accuracy: f64) -> Outcome {
    let summary = FinalMeans {
        measurements: 2,
        train_loss: 1.0,
        train_accuracy: 0.5,
        test_loss: 1.0,
        test_accuracy: accuracy / 100.0,
    };
    Outcome { study, arm, cell, seed, summary: Some(summary), reached: 100, found: Vec::new() }
}

/// Five seeds of these arms in these cells, with the accuracies that a function gives.
pub(super) fn made(
    study: Study,
    arms: &[Arm],
    cells: &[Cell],
    accuracy: impl Fn(Arm, &Cell, u64) -> f64,
) -> Results {
    let mut outcomes = Vec::new();
    for &cell in cells {
        for seed in 0..5 {
            outcomes
                .extend(arms.iter().map(|&arm| outcome(study, arm, cell, seed, accuracy(arm, &cell, seed))));
        }
    }
    Results { outcomes }
}

/// A cell without noise, at the paper's step.
pub(super) const PLAIN: Cell = Cell { noise: None, width: 128, depth: 5, lr: 0.01, momentum: 0.99 };

/// The same with noise.
pub(super) fn noisy(alpha: f64, scale: f64) -> Cell {
    Cell { noise: Some(InjectedNoise { alpha, scale }), ..PLAIN }
}

/// What auto may have found in a layer.
pub(super) fn found_in_layer(layer: usize, noise_alpha: f64, noise_scale: f64) -> LayerCalibration {
    LayerCalibration {
        iteration: 100,
        layer,
        noise_alpha,
        noise_scale,
        alpha: noise_alpha,
        kappa: 1.0,
        limit: 1.0,
        beyond_knee: 0.1,
    }
}

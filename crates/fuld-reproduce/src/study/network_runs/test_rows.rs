//! Invented rows for the tests of claims.

use super::super::network_row::LabelledRun;
use super::*;
use fuld_train::spec::{DataDescription, InjectedNoise, TrainRequest};
use fuld_train::train::FinalMeans;

/// A cell without noise, of a study that does not vary the learning rate.
pub(crate) const PLAIN: Cell = Cell { noise: None, width: 128, depth: 5, lr: None, momentum: None };

/// The same at a learning rate, with the momentum of the paper.
pub(crate) fn at_rate(lr: f64) -> Cell {
    Cell { lr: Some(lr), momentum: Some(0.99), ..PLAIN }
}

/// The same with noise.
pub(crate) fn noisy(alpha: f64, scale: f64) -> Cell {
    Cell { noise: Some(InjectedNoise { alpha, scale }), ..PLAIN }
}

pub(crate) fn description(name: &str) -> DataDescription {
    DataDescription {
        name: name.into(),
        fingerprint: "1".into(),
        images: 50_000,
        inputs: 784,
        classes: 10,
    }
}

/// A row with this loss and accuracy (a share) on both sets.
pub(crate) fn row(
    group: Group,
    treatment: Treatment,
    cell: Cell,
    seed: u64,
    (loss, accuracy): (f64, f64),
) -> NetworkRow {
    let request = TrainRequest {
        width: Some(cell.width),
        depth: Some(cell.depth),
        lr: cell.lr,
        momentum: cell.momentum,
        seed: Some(seed),
        inject_noise: cell.noise,
        ..TrainRequest::default()
    };
    let spec = treatment.spec(&request, &description("mnist")).unwrap();
    let means = FinalMeans {
        measurements: 2,
        train_loss: loss,
        train_accuracy: accuracy,
        test_loss: loss,
        test_accuracy: accuracy,
    };
    NetworkRow::new(&LabelledRun { group, treatment, spec }, 100, Some(means))
}

/// Some seeds of these treatments in these cells, with the loss and accuracy of a function.
pub(crate) fn runs(
    group: Group,
    treatments: &[Treatment],
    cells: &[Cell],
    seeds: u64,
    of: impl Fn(Treatment, &Cell, u64) -> (f64, f64),
) -> NetworkRuns {
    let mut rows = Vec::new();
    for &treatment in treatments {
        for &cell in cells {
            for seed in 0..seeds {
                rows.push(row(group, treatment, cell, seed, of(treatment, &cell, seed)));
            }
        }
    }
    NetworkRuns { rows }
}

/// Five seeds with a loss that is neither good nor bad and these test accuracies in percent.
pub(crate) fn accuracies(
    group: Group,
    treatments: &[Treatment],
    cells: &[Cell],
    accuracy: impl Fn(Treatment, &Cell, u64) -> f64,
) -> NetworkRuns {
    runs(group, treatments, cells, 5, |treatment, cell, seed| {
        (1.0, accuracy(treatment, cell, seed) / 100.0)
    })
}

/// Three seeds of the paper's grid.
pub(crate) fn grid(
    widths: &[usize],
    depths: &[usize],
    of: impl Fn(Treatment, usize, usize, u64) -> (f64, f64),
) -> NetworkRuns {
    let cell = |width, depth| Cell { noise: None, width, depth, lr: None, momentum: None };
    let cells: Vec<Cell> = widths
        .iter()
        .flat_map(|&width| depths.iter().map(move |&depth| cell(width, depth)))
        .collect();
    runs(Group::Grid, &Treatment::PAPER, &cells, 3, |treatment, cell, seed| {
        of(treatment, cell.width, cell.depth, seed)
    })
}

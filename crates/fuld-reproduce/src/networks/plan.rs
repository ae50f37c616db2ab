//! Which networks are trained, on which data, for how long.

use super::arm::Arm;
use crate::training::{first_seed, steps};
use fuld_train::spec::{DataDescription, SpecError, TrainRequest, TrainSpec};

/// The grid of one data set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Units of a hidden layer.
    pub(super) widths: Vec<usize>,
    /// Linear layers.
    pub(super) depths: Vec<usize>,
    /// The first seed.
    pub(super) seed: u64,
    /// Runs of each cell and arm, with this seed and the following ones.
    pub(super) seeds: u64,
    /// Steps.
    pub(super) iterations: u64,
}

impl Plan {
    /// What is trained on a data set.
    pub(super) fn of(set: &str, full: bool, seed: u64) -> Self {
        let plan = Self::from(set, full, seed);
        Self { seed: first_seed(seed, plan.seeds), ..plan }
    }

    fn from(set: &str, full: bool, seed: u64) -> Self {
        if full {
            let (widths, depths) = (vec![32, 64, 128, 256, 512], (2..=10).collect());
            return Self { widths, depths, seed, seeds: 5, iterations: 10_000 };
        }
        match set {
            // Deeper ones explode at the paper's step, on so few images.
            "digits" => Self {
                widths: vec![32, 128, 256],
                depths: (2..=6).collect(),
                seed,
                seeds: 5,
                iterations: 600,
            },
            _ => Self {
                widths: vec![32, 128, 256],
                depths: vec![2, 4, 6, 8],
                seed,
                seeds: 3,
                iterations: 10_000,
            },
        }
    }

    /// The widths and depths.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize)> {
        self.widths.iter().flat_map(|&width| self.depths.iter().map(move |&depth| (width, depth)))
    }

    /// A run of a cell, with its optimizer left open.
    pub(super) fn request(&self, (width, depth): (usize, usize), seed: u64) -> TrainRequest {
        TrainRequest { width: Some(width), depth: Some(depth), seed: Some(seed), ..steps(self.iterations) }
    }

    /// Every run, the longest first: they should not be what everything waits for in the end.
    pub(super) fn runs(&self, subject: &DataDescription) -> Result<Vec<(Arm, TrainSpec)>, SpecError> {
        let mut cells: Vec<_> = self.cells().collect();
        cells.sort_by_key(|&(width, depth)| std::cmp::Reverse(width * (subject.inputs + width * depth)));
        let mut runs = Vec::new();
        for cell in cells {
            for seed in self.seed..self.seed + self.seeds {
                let request = self.request(cell, seed);
                for arm in Arm::ALL {
                    runs.push((arm, arm.spec(&request, subject)?));
                }
            }
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuld_train::spec::{FieldFormula, Optimizer};

    fn description(name: &str) -> DataDescription {
        DataDescription {
            name: name.into(),
            fingerprint: "1".into(),
            images: 60_000,
            inputs: 784,
            classes: 10,
        }
    }

    #[test]
    fn the_full_grid_is_that_of_the_paper() {
        let runs = Plan::of("mnist", true, 0).runs(&description("mnist")).unwrap();
        assert_eq!(runs.len(), 5 * 9 * 5 * 5);
        assert!(
            runs.iter().all(|(_, s)| s.iterations == 10_000 && s.batch == 100 && s.measure_every == 9_900)
        );
        assert_eq!((runs[0].1.width, runs[0].1.depth), (512, 10));
    }

    #[test]
    fn every_seed_has_others_to_go_with_it() {
        let runs = Plan::of("digits", false, u64::MAX).runs(&description("digits")).unwrap();
        assert_eq!(runs.len(), 3 * 5 * 5 * 5);
    }

    #[test]
    fn arms_differ_in_what_they_are_named_for() {
        for (set, momentum) in [("digits", 0.99), ("cifar10", 0.91)] {
            let runs = Plan::of(set, false, 7).runs(&description(set)).unwrap();
            let of = |arm| &runs.iter().find(|(other, s)| *other == arm && s.seed == 7).unwrap().1;
            let [gauss, paper, control, authors, authors_control] = Arm::ALL.map(of);
            assert_eq!((gauss.alpha, paper.alpha, authors.alpha), (2.0.into(), 1.75.into(), 1.75.into()));
            assert_eq!((paper.field, authors.field), (None, Some(FieldFormula::Authors)));
            for control in [control, authors_control] {
                assert_eq!(control.optimizer, Optimizer::Sgdm);
                assert!((control.momentum.unwrap() - momentum).abs() < 1e-12);
            }
            assert!(control.step() > 0.0110 && authors_control.step() < 0.0052);
        }
    }
}

//! Which runs there are: for each demand on the calibration a study, on each data set.

use super::arm::Arm;
use crate::training::{first_seed, steps};
use fuld_train::spec::{DataDescription, InjectedNoise, SpecError, TrainRequest, TrainSpec};
use std::ops::Range;

/// A demand and the runs that tell whether it is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Study {
    /// Stable noise on every gradient.
    Noise,
    /// Gaussian noise on every gradient.
    Gaussian,
    /// Gradients as they are, at many widths and depths.
    Clean,
    /// Gradients as they are, at a step that is a little too large for SGDm, with many seeds.
    Edge,
    /// Gradients as they are, at many learning rates.
    Rates,
}

impl Study {
    /// All of them, in the order of the report.
    pub(super) const ALL: [Self; 5] = [Self::Noise, Self::Gaussian, Self::Clean, Self::Edge, Self::Rates];

    /// For files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::Gaussian => "gaussian",
            Self::Clean => "clean",
            Self::Edge => "edge",
            Self::Rates => "rates",
        }
    }
}

/// A run of a study.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) study: Study,
    pub(super) arm: Arm,
    pub(super) spec: TrainSpec,
}

/// The limits of clipping by component, half a decade apart. The best of them is neither the first nor the last.
const VALUES: [f64; 9] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0];
/// Those for the digits, whose networks are smaller and their gradients larger.
const VALUES_OF_DIGITS: [f64; 9] = [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0];
/// The limits of clipping by norm.
const NORMS: [f64; 3] = [0.1, 1.0, 10.0];
/// The paper's η = γ = 0.1.
const LR: f64 = 0.01;
const MOMENTUM: f64 = 0.99;
/// Learning rates that are tried: nine, a factor of 2 apart, of which the first comes to this per step in the long run.
const SLOWEST: f64 = 0.05;
const RATES: i32 = 9;

/// What is trained on a data set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Runs of each cell and arm have these seeds, except at the edge.
    pub(super) seeds: Range<u64>,
    /// The studies with noise, where there are any.
    pub(super) noisy: Option<Noisy>,
    /// The study of widths and depths.
    pub(super) clean: Clean,
    /// The study of a step that is a little too large.
    pub(super) edge: Edge,
    /// The study of learning rates.
    pub(super) rates: Rates,
}

/// One network, with noise of these laws on its gradients.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Noisy {
    pub(super) network: Network,
    pub(super) alphas: Vec<f64>,
    pub(super) scales: Vec<f64>,
    /// Of clipping by component.
    pub(super) limits: Vec<f64>,
}

/// Networks of all these widths and depths.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clean {
    pub(super) widths: Vec<usize>,
    pub(super) depths: Vec<usize>,
    pub(super) iterations: u64,
}

/// One network, at one step, with many seeds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) network: Network,
    pub(super) lr: f64,
    pub(super) seeds: Range<u64>,
}

/// One network, at these momenta.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rates {
    pub(super) network: Network,
    pub(super) momenta: Vec<f64>,
}

/// A network and how long it is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    pub(super) width: usize,
    pub(super) depth: usize,
    pub(super) batch: usize,
    pub(super) iterations: u64,
}

impl Network {
    /// A run that leaves the optimizer open.
    fn request(self, lr: f64, momentum: f64, seed: u64) -> TrainRequest {
        let Self { width, depth, batch, iterations } = self;
        TrainRequest {
            width: Some(width),
            depth: Some(depth),
            batch: Some(batch),
            lr: Some(lr),
            momentum: Some(momentum),
            seed: Some(seed),
            ..steps(iterations)
        }
    }
}

impl Plan {
    /// What is trained on a data set.
    pub(super) fn of(set: &str, full: bool, seed: u64) -> Self {
        // Of forty seeds SGDm loses some, where it loses one in ten; and who loses one in ten does not lose none of them, but one time in
        // seventy.
        let [seeds, many] = [5, 40].map(|count| {
            let first = first_seed(seed, count);
            first..first + count
        });
        if set == "digits" {
            let network = Network { width: 64, depth: 4, batch: 100, iterations: 400 };
            return Self {
                seeds,
                noisy: Some(Noisy {
                    network,
                    alphas: vec![1.2, 1.5, 1.8],
                    scales: vec![3e-3, 1e-2, 3e-2],
                    limits: VALUES_OF_DIGITS.into(),
                }),
                // Deeper ones do not get off the ground in so few steps.
                clean: Clean { widths: vec![32, 128], depths: vec![2, 4, 6], iterations: 600 },
                edge: Edge { network, lr: 0.04, seeds: many },
                rates: Rates { network, momenta: vec![MOMENTUM] },
            };
        }
        let network = Network { width: 256, depth: 5, batch: 128, iterations: 1_500 };
        let noisy = Noisy {
            network,
            alphas: vec![1.2, 1.5, 1.8],
            scales: vec![3e-4, 1e-3, 3e-3],
            limits: VALUES.into(),
        };
        let iterations = if full { 10_000 } else { 2_000 };
        Self {
            seeds,
            // What noise does on one of the paper's two sets is enough to know.
            noisy: (set == "mnist").then_some(noisy),
            clean: Clean { widths: vec![32, 128, 512], depths: vec![2, 5, 9], iterations },
            // Who gets off the ground here does so within a thousand steps.
            edge: Edge {
                network: Network { width: 128, depth: 9, batch: 100, iterations: 1_500 },
                lr: LR,
                seeds: many,
            },
            rates: Rates { network: Network { width: 128, ..network }, momenta: vec![0.9, MOMENTUM] },
        }
    }

    /// Every run of every study.
    pub(super) fn runs(&self, subject: &DataDescription) -> Result<Vec<Run>, SpecError> {
        let mut runs = Vec::new();
        let mut add = |study, arms: &[Arm], request: &dyn Fn(u64) -> TrainRequest| {
            let seeds = if study == Study::Edge { &self.edge.seeds } else { &self.seeds };
            for seed in seeds.clone() {
                for &arm in arms {
                    runs.push(Run { study, arm, spec: arm.spec(&request(seed), subject)? });
                }
            }
            Ok::<(), SpecError>(())
        };
        if let Some(Noisy { network, alphas, scales, limits }) = &self.noisy {
            let noisy = |alpha, scale| {
                move |seed| TrainRequest {
                    inject_noise: Some(InjectedNoise { alpha, scale }),
                    ..network.request(LR, MOMENTUM, seed)
                }
            };
            let clipped = limits.iter().copied().map(Arm::Value).chain(NORMS.map(Arm::Norm));
            let all: Vec<Arm> = [Arm::Sgdm, Arm::Oracle, Arm::Auto].into_iter().chain(clipped).collect();
            for &scale in scales {
                for &alpha in alphas {
                    add(Study::Noise, &all, &noisy(alpha, scale))?;
                }
                add(Study::Gaussian, &PAIR, &noisy(2.0, scale))?;
            }
        }
        let Clean { widths, depths, iterations } = &self.clean;
        for &width in widths {
            for &depth in depths {
                let network = Network { width, depth, batch: 100, iterations: *iterations };
                add(Study::Clean, &PAIR, &|seed| network.request(LR, MOMENTUM, seed))?;
            }
        }
        let Edge { network, lr, .. } = self.edge;
        add(Study::Edge, &PAIR, &|seed| network.request(lr, MOMENTUM, seed))?;
        for &momentum in &self.rates.momenta {
            for lr in learning_rates(momentum) {
                add(Study::Rates, &PAIR, &|seed| self.rates.network.request(lr, momentum, seed))?;
            }
        }
        Ok(runs)
    }
}

/// What is compared where there is nothing to be told or to be clipped.
const PAIR: [Arm; 2] = [Arm::Sgdm, Arm::Auto];

/// Those that are tried at a momentum. In the long run a step is lr / (1 − μ) of the gradient.
fn learning_rates(momentum: f64) -> impl Iterator<Item = f64> {
    // Rounded, so that people can type them.
    let slowest = (1e6 * SLOWEST * (1.0 - momentum)).round() / 1e6;
    (0..RATES).map(move |k| slowest * 2f64.powi(k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuld_train::spec::{NumberOrAuto, Optimizer};

    fn runs(set: &str, full: bool) -> Vec<Run> {
        let subject = DataDescription {
            name: set.into(),
            fingerprint: "1".into(),
            images: 50_000,
            inputs: 784,
            classes: 10,
        };
        Plan::of(set, full, 3).runs(&subject).unwrap()
    }

    #[test]
    fn mnist_has_every_law_and_every_arm() {
        let all = runs("mnist", false);
        let of = |study| all.iter().filter(move |run| run.study == study);
        assert_eq!(of(Study::Noise).count(), 9 * 15 * 5);
        assert_eq!(of(Study::Gaussian).count(), 3 * 2 * 5);
        assert_eq!(of(Study::Clean).count(), 9 * 2 * 5);
        assert_eq!(of(Study::Rates).count(), 2 * 9 * 2 * 5);
        for Run { arm, spec, .. } in of(Study::Noise) {
            let noise = spec.inject_noise.unwrap();
            assert_eq!((spec.width, spec.depth, spec.batch), (256, 5, 128));
            assert_eq!((spec.lr, spec.momentum, spec.iterations), (Some(0.01), Some(0.99), 1_500));
            match arm {
                Arm::Oracle => {
                    assert_eq!((spec.alpha, spec.noise_scale), (noise.alpha.into(), Some(noise.scale.into())))
                }
                Arm::Value(limit) => {
                    assert_eq!((spec.optimizer, spec.clip), (Optimizer::ClipValue, Some(*limit)))
                }
                Arm::Auto => {
                    assert_eq!(
                        (spec.alpha, spec.noise_scale),
                        (NumberOrAuto::Auto, Some(NumberOrAuto::Auto))
                    );
                }
                _ => {}
            }
        }
        assert_eq!(of(Study::Edge).count(), 2 * 40);
        assert!(
            of(Study::Edge).all(|run| (run.spec.width, run.spec.depth, run.spec.lr) == (128, 9, Some(0.01)))
        );
    }

    #[test]
    fn cifar_is_clean_and_full_is_long() {
        assert!(runs("cifar10", false).iter().all(|run| run.spec.inject_noise.is_none()));
        let long = |run: &&Run| run.spec.iterations == 10_000;
        assert_eq!(runs("cifar10", true).iter().filter(long).count(), 90);
        assert_eq!(runs("cifar10", false).iter().filter(long).count(), 0);
    }

    #[test]
    fn learning_rates_are_round() {
        let rates: Vec<f64> = learning_rates(0.99).collect();
        assert_eq!((rates[0], rates[8], rates.len()), (0.0005, 0.128, 9));
        assert_eq!(learning_rates(0.9).next(), Some(0.005));
    }
}

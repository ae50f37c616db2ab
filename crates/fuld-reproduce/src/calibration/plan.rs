//! The runs of the calibration study on each data set.

use super::PAIR;
use crate::context::Context;
use crate::study::driver::{seeds, steps};
use crate::study::network_runs::{Group, PlannedRun};
use crate::study::treatment::Treatment;
use fuld_train::spec::{DataDescription, InjectedNoise, SpecError, TrainRequest};
use std::ops::Range;

/// Limits of clipping by component, half a decade apart. The best of them is neither the first nor the last.
const LIMITS: [f64; 9] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0];
/// The same for the digits, whose smaller networks have larger gradients.
const LIMITS_FOR_DIGITS: [f64; 9] = [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0];
/// Limits of clipping by norm.
const NORMS: [f64; 3] = [0.1, 1.0, 10.0];
/// Learning rate and momentum of the paper's η = γ = 0.1.
const LR: f64 = 0.01;
const MOMENTUM: f64 = 0.99;
/// The smallest learning rate divided by 1 − μ; the others are larger by factors of 2.
const SLOWEST: f64 = 0.05;
/// Number of learning rates.
const RATES: i32 = 9;

/// The runs on a data set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Seeds of every cell and treatment, except in the group `Edge`.
    pub(super) seeds: Range<u64>,
    /// The groups with injected noise, if any.
    pub(super) noisy: Option<Noisy>,
    /// The group `Clean`.
    pub(super) clean: Clean,
    /// The group `Edge`.
    pub(super) edge: Edge,
    /// The group `Rates`.
    pub(super) rates: Rates,
}

/// One network with injected noise of several laws.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Noisy {
    pub(super) network: Network,
    pub(super) alphas: Vec<f64>,
    pub(super) scales: Vec<f64>,
    /// Limits of clipping by component.
    pub(super) limits: Vec<f64>,
}

/// Networks of several widths and depths.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clean {
    pub(super) widths: Vec<usize>,
    pub(super) depths: Vec<usize>,
    pub(super) iterations: u64,
}

/// One network at one learning rate, with many seeds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) network: Network,
    pub(super) lr: f64,
    pub(super) seeds: Range<u64>,
}

/// One network at several momenta and learning rates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rates {
    pub(super) network: Network,
    pub(super) momenta: Vec<f64>,
}

/// A network and the length of its training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    pub(super) width: usize,
    pub(super) depth: usize,
    pub(super) batch: usize,
    pub(super) iterations: u64,
}

impl Network {
    /// Returns a run that leaves the optimizer and the seed open.
    fn request(self, lr: f64, momentum: f64) -> TrainRequest {
        let Self { width, depth, batch, iterations } = self;
        TrainRequest {
            width: Some(width),
            depth: Some(depth),
            batch: Some(batch),
            lr: Some(lr),
            momentum: Some(momentum),
            ..steps(iterations)
        }
    }
}

impl Plan {
    pub(super) fn of(context: &Context<'_>) -> anyhow::Result<Self> {
        Ok(Self::new(context.data()?.name, context.full, context.seed))
    }

    pub(super) fn new(data: &str, full: bool, seed: u64) -> Self {
        // If SGDm loses one seed in ten, it loses some of forty; a rule that loses one in ten loses none of forty once in seventy.
        let [few, many] = [5, 40].map(|count| seeds(seed, count));
        let alphas = vec![1.2, 1.5, 1.8];
        if data == "digits" {
            let network = Network { width: 64, depth: 4, batch: 100, iterations: 400 };
            let limits = LIMITS_FOR_DIGITS.into();
            return Self {
                seeds: few,
                noisy: Some(Noisy { network, alphas, scales: vec![3e-3, 1e-2, 3e-2], limits }),
                // Deeper networks do not leave their initial plateau in so few steps.
                clean: Clean { widths: vec![32, 128], depths: vec![2, 4, 6], iterations: 600 },
                edge: Edge { network, lr: 0.04, seeds: many },
                rates: Rates { network, momenta: vec![MOMENTUM] },
            };
        }
        let network = Network { width: 256, depth: 5, batch: 128, iterations: 1_500 };
        let noisy = Noisy { network, alphas, scales: vec![3e-4, 1e-3, 3e-3], limits: LIMITS.into() };
        let iterations = if full { 10_000 } else { 2_000 };
        Self {
            seeds: few,
            // One of the paper's two sets is enough to see the effect of noise.
            noisy: (data == "mnist").then_some(noisy),
            clean: Clean { widths: vec![32, 128, 512], depths: vec![2, 5, 9], iterations },
            edge: Edge {
                // Networks that leave their initial plateau here do so within a thousand steps.
                network: Network { width: 128, depth: 9, batch: 100, iterations: 1_500 },
                lr: LR,
                seeds: many,
            },
            rates: Rates { network: Network { width: 128, ..network }, momenta: vec![0.9, MOMENTUM] },
        }
    }

    /// Returns all runs of all groups.
    pub(super) fn runs(&self, data: &DataDescription) -> Result<Vec<PlannedRun>, SpecError> {
        let mut runs = Vec::new();
        let mut add = |group, treatments: &[Treatment], request: TrainRequest| {
            let seeds = if group == Group::Edge { &self.edge.seeds } else { &self.seeds };
            for seed in seeds.clone() {
                let request = TrainRequest { seed: Some(seed), ..request.clone() };
                for &treatment in treatments {
                    runs.push(PlannedRun { group, treatment, spec: treatment.spec(&request, data)? });
                }
            }
            Ok::<(), SpecError>(())
        };
        if let Some(Noisy { network, alphas, scales, limits }) = &self.noisy {
            let noisy = |alpha, scale| TrainRequest {
                inject_noise: Some(InjectedNoise { alpha, scale }),
                ..network.request(LR, MOMENTUM)
            };
            let mut all = vec![Treatment::Sgdm, Treatment::KnownNoise, Treatment::Auto];
            all.extend(limits.iter().copied().map(Treatment::ClipComponents));
            all.extend(NORMS.map(Treatment::ClipNorm));
            for &scale in scales {
                for &alpha in alphas {
                    add(Group::Noise, &all, noisy(alpha, scale))?;
                }
                add(Group::Gaussian, &PAIR, noisy(2.0, scale))?;
            }
        }
        let Clean { widths, depths, iterations } = &self.clean;
        for &width in widths {
            for &depth in depths {
                let network = Network { width, depth, batch: 100, iterations: *iterations };
                add(Group::Clean, &PAIR, network.request(LR, MOMENTUM))?;
            }
        }
        add(Group::Edge, &PAIR, self.edge.network.request(self.edge.lr, MOMENTUM))?;
        for &momentum in &self.rates.momenta {
            for lr in learning_rates(momentum) {
                add(Group::Rates, &PAIR, self.rates.network.request(lr, momentum))?;
            }
        }
        Ok(runs)
    }
}

/// Returns the learning rates at a momentum. In the long run a gradient moves the weights by lr / (1 − μ).
fn learning_rates(momentum: f64) -> impl Iterator<Item = f64> {
    // Rounded, so that people can type them.
    let slowest = (1e6 * SLOWEST * (1.0 - momentum)).round() / 1e6;
    (0..RATES).map(move |k| slowest * 2f64.powi(k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::network_runs::made_up::description;
    use fuld_train::spec::{NumberOrAuto, Optimizer};

    fn runs(data: &str, full: bool) -> Vec<PlannedRun> {
        Plan::new(data, full, 3).runs(&description(data)).unwrap()
    }

    #[test]
    fn mnist_has_every_law_and_every_treatment() {
        let all = runs("mnist", false);
        let of = |group| all.iter().filter(move |run| run.group == group);
        assert_eq!(of(Group::Noise).count(), 9 * 15 * 5);
        assert_eq!(of(Group::Gaussian).count(), 3 * 2 * 5);
        assert_eq!(of(Group::Clean).count(), 9 * 2 * 5);
        assert_eq!(of(Group::Rates).count(), 2 * 9 * 2 * 5);
        for PlannedRun { treatment, spec, .. } in of(Group::Noise) {
            let noise = spec.inject_noise.unwrap();
            assert_eq!((spec.width, spec.depth, spec.batch), (256, 5, 128));
            assert_eq!((spec.lr, spec.momentum, spec.iterations), (Some(0.01), Some(0.99), 1_500));
            match treatment {
                Treatment::KnownNoise => {
                    let given = (NumberOrAuto::Given(noise.alpha), Some(NumberOrAuto::Given(noise.scale)));
                    assert_eq!((spec.alpha, spec.noise_scale), given);
                }
                Treatment::ClipComponents(limit) => {
                    assert_eq!((spec.optimizer, spec.clip), (Optimizer::ClipValue, Some(*limit)));
                }
                Treatment::Auto => {
                    assert_eq!(
                        (spec.alpha, spec.noise_scale),
                        (NumberOrAuto::Auto, Some(NumberOrAuto::Auto))
                    );
                }
                _ => {}
            }
        }
        assert_eq!(of(Group::Edge).count(), 2 * 40);
        let edge = |run: &PlannedRun| (run.spec.width, run.spec.depth, run.spec.lr);
        assert!(of(Group::Edge).all(|run| edge(run) == (128, 9, Some(0.01))));
    }

    #[test]
    fn cifar_is_clean_and_full_is_long() {
        assert!(runs("cifar10", false).iter().all(|run| run.spec.inject_noise.is_none()));
        let long = |run: &&PlannedRun| run.spec.iterations == 10_000;
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

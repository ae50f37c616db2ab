//! The runs of the study of the guard on each data set.

use super::{COMPARISONS, GUARDED_SGDM};
use crate::study::{Grid, Group, Treatment, distinct, seeds};
use fuld_train::spec::InjectedNoise;
use std::ops::Range;

/// Limits of clipping by component, half a decade apart. The best of them is neither the first nor
/// the last.
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

/// A network and its training; all groups have the same few seeds, except [`Group::Edge`].
#[derive(Clone)]
pub(super) struct Network {
    pub(super) width: usize,
    pub(super) depth: usize,
    pub(super) batch: usize,
    pub(super) iterations: u64,
    pub(super) seeds: Range<u64>,
}

impl Network {
    /// Returns the grid of this network alone, for every optimizer with and without a guard. SGDm
    /// takes the paper's step.
    fn grid(&self, group: Group) -> Grid {
        Grid {
            group,
            treatments: distinct(COMPARISONS.iter().flat_map(|it| [it.plain, it.guarded])),
            noise: vec![None],
            widths: vec![self.width],
            depths: vec![self.depth],
            batch: Some(self.batch),
            rates: vec![Some((LR, MOMENTUM))],
            iterations: self.iterations,
            seeds: self.seeds.clone(),
        }
    }

    /// Returns the network with injected noise of several laws.
    pub(super) fn noisy(&self, alphas: &[f64], scales: &[f64], limits: &[f64]) -> Vec<Grid> {
        let mut treatments = self.grid(Group::Noise).treatments;
        treatments.push(Treatment::KnownNoise);
        treatments.extend(limits.iter().copied().map(Treatment::ClipValue));
        treatments.extend(NORMS.map(Treatment::ClipNorm));
        let grids = |&scale: &f64| {
            let law = |&alpha: &f64| Some(InjectedNoise { alpha, scale });
            let noise = alphas.iter().map(law).collect();
            let stable = Grid { treatments: treatments.clone(), noise, ..self.grid(Group::Noise) };
            [stable, Grid { noise: vec![law(&2.0)], ..self.grid(Group::Gaussian) }]
        };
        scales.iter().flat_map(grids).collect()
    }

    /// Returns networks of several widths and depths, trained with the paper's batches.
    pub(super) fn clean(&self, widths: &[usize], depths: &[usize], iterations: u64) -> Grid {
        let (widths, depths) = (widths.into(), depths.into());
        Grid { widths, depths, batch: Some(100), iterations, ..self.grid(Group::Clean) }
    }

    /// Returns the network at one learning rate, with many seeds, for SGDm with and without a
    /// guard.
    pub(super) fn edge(&self, lr: f64, seeds: Range<u64>) -> Grid {
        Grid { rates: vec![Some((lr, MOMENTUM))], seeds, ..self.of_sgdm(Group::Edge) }
    }

    /// Returns the network at several momenta and learning rates, for SGDm with and without a
    /// guard.
    pub(super) fn rates(&self, momenta: &[f64]) -> Grid {
        let rates = |&momentum| learning_rates(momentum).map(move |lr| Some((lr, momentum)));
        Grid { rates: momenta.iter().flat_map(rates).collect(), ..self.of_sgdm(Group::Rates) }
    }

    fn of_sgdm(&self, group: Group) -> Grid {
        Grid { treatments: vec![Treatment::Sgdm, GUARDED_SGDM], ..self.grid(group) }
    }
}

/// Returns the grids of all groups on a data set.
pub(super) fn grids(data: &str, full: bool, seed: u64) -> Vec<Grid> {
    const ALPHAS: [f64; 3] = [1.2, 1.5, 1.8];
    // If SGDm loses one seed in ten, it loses some of forty; a rule that loses one in ten loses
    // none of forty once in seventy.
    let few = if full || data != "digits" { 5 } else { 3 };
    let [few, many] = [few, 40].map(|count| seeds(seed, count));
    if data == "digits" {
        let network = Network { width: 64, depth: 4, batch: 100, iterations: 400, seeds: few };
        let mut grids = network.noisy(&ALPHAS, &[3e-3, 1e-2, 3e-2], &LIMITS_FOR_DIGITS);
        // Deeper networks do not leave their initial plateau in so few steps.
        grids.push(network.clean(&[32, 128], &[2, 4, 6], 600));
        grids.extend([network.edge(0.04, many), network.rates(&[MOMENTUM])]);
        return grids;
    }
    let network = Network { width: 256, depth: 5, batch: 128, iterations: 1_500, seeds: few };
    // One of the paper's two sets is enough to see the effect of noise.
    let scales: &[f64] = if data == "mnist" { &[3e-4, 1e-3, 3e-3] } else { &[] };
    let mut grids = network.noisy(&ALPHAS, scales, &LIMITS);
    grids.push(network.clean(&[32, 128, 512], &[2, 5, 9], if full { 10_000 } else { 2_000 }));
    // Networks that leave their initial plateau here do so within a thousand steps.
    grids.push(Network { width: 128, depth: 9, batch: 100, ..network.clone() }.edge(LR, many));
    grids.push(Network { width: 128, ..network }.rates(&[0.9, MOMENTUM]));
    grids
}

/// Returns the learning rates at a momentum. In the long run a gradient moves the weights by lr /
/// (1 − μ).
fn learning_rates(momentum: f64) -> impl Iterator<Item = f64> {
    // Rounded, so that people can type them.
    let slowest = (1e6 * SLOWEST * (1.0 - momentum)).round() / 1e6;
    (0..RATES).map(move |k| slowest * 2f64.powi(k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::test_rows::description;
    use crate::study::{LabelledRun, all_runs};
    use fuld_train::spec::Optimizer;

    fn runs(data: &str, full: bool) -> Vec<LabelledRun> {
        all_runs(&grids(data, full, 3), &description(data)).unwrap()
    }

    #[test]
    fn mnist_has_every_law_and_every_treatment() {
        let all = runs("mnist", false);
        let of = |group| all.iter().filter(move |run| run.group == group);
        assert_eq!(of(Group::Noise).count(), 9 * 18 * 5);
        assert_eq!(of(Group::Gaussian).count(), 3 * 5 * 5);
        assert_eq!(of(Group::Clean).count(), 9 * 5 * 5);
        assert_eq!(of(Group::Rates).count(), 2 * 9 * 2 * 5);
        for LabelledRun { treatment, spec, .. } in of(Group::Noise) {
            let noise = spec.inject_noise.unwrap();
            assert_eq!((spec.width, spec.depth, spec.batch), (256, 5, 128));
            assert_eq!(spec.iterations, 1_500);
            let adam = spec.optimizer == Optimizer::Adam;
            let rates = if adam { (Some(0.001), None) } else { (Some(0.01), Some(0.99)) };
            assert_eq!((spec.lr, spec.momentum), rates);
            match treatment {
                Treatment::KnownNoise => {
                    assert_eq!((spec.alpha, spec.noise_scale), (noise.alpha, Some(noise.scale)));
                }
                Treatment::ClipValue(limit) => {
                    assert_eq!((spec.optimizer, spec.clip), (Optimizer::ClipValue, Some(*limit)));
                }
                Treatment::GuardedSgdm(c) => {
                    assert_eq!((spec.optimizer, spec.guard), (Optimizer::Sgdm, Some(*c)));
                }
                Treatment::GuardedAdam(c) => assert!(adam && spec.guard == Some(*c)),
                _ => assert_eq!(spec.guard, None),
            }
        }
        assert_eq!(of(Group::Edge).count(), 2 * 40);
        let edge = |run: &LabelledRun| (run.spec.width, run.spec.depth, run.spec.lr);
        assert!(of(Group::Edge).all(|run| edge(run) == (128, 9, Some(0.01))));
    }

    #[test]
    fn cifar_is_clean_and_full_is_long() {
        assert!(runs("cifar10", false).iter().all(|run| run.spec.inject_noise.is_none()));
        let long = |run: &&LabelledRun| run.spec.iterations == 10_000;
        assert_eq!(runs("cifar10", true).iter().filter(long).count(), 9 * 5 * 5);
        assert_eq!(runs("cifar10", false).iter().filter(long).count(), 0);
    }

    #[test]
    fn learning_rates_are_round() {
        let rates: Vec<f64> = learning_rates(0.99).collect();
        assert_eq!((rates[0], rates[8], rates.len()), (0.0005, 0.128, 9));
        assert_eq!(learning_rates(0.9).next(), Some(0.005));
    }
}

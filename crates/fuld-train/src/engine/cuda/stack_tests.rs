//! The engine on the emulated device beside the engine for CPUs.

use super::super::cpu::CpuEngine;
use super::super::{Engine, ImageSet};
use super::device::Lane;
use super::emulated::Emulated;
use super::stack::Stack;
use crate::data::DataSet;
use crate::network::Network;
use crate::spec::{Device, GuardRequest, InjectedNoise, Optimizer, TrainRequest, TrainSpec};
use fuld::random::Purpose;

pub(super) fn digits() -> DataSet {
    DataSet::load("digits", std::path::Path::new("")).unwrap()
}

pub(super) fn specs(data: &DataSet, requests: &[TrainRequest]) -> Vec<TrainSpec> {
    let description = data.description();
    requests.iter().map(|request| request.spec(&description, Device::Cpu).unwrap()).collect()
}

fn request(seed: u64) -> TrainRequest {
    TrainRequest {
        width: Some(9),
        depth: Some(3),
        batch: Some(40),
        seed: Some(seed),
        ..TrainRequest::default()
    }
}

fn emulated<'a>(data: &'a DataSet, specs: &[TrainSpec]) -> Stack<'a, Emulated> {
    Stack::new(data, specs, |plan| Ok(Emulated::open(plan))).unwrap()
}

/// Returns the bits of all weights.
pub(super) fn bits(networks: &[Network]) -> Vec<u32> {
    let layers = networks.iter().flat_map(|network| &network.layers);
    layers.flat_map(|layer| &layer.weights).map(|w| w.to_bits()).collect()
}

/// Returns the largest difference of weights, relative to the largest weight of a layer.
pub(super) fn distance(ours: &[Network], theirs: &[Network]) -> f64 {
    let mut worst = 0.0f64;
    for (ours, theirs) in ours.iter().zip(theirs) {
        for (ours, theirs) in ours.layers.iter().zip(&theirs.layers) {
            let largest = theirs.weights.iter().fold(0f32, |a, w| a.max(w.abs()));
            for (a, b) in ours.weights.iter().zip(&theirs.weights) {
                let far = f64::from((a - b).abs() / largest);
                worst = worst.max(if far.is_nan() { f64::INFINITY } else { far });
            }
        }
    }
    worst
}

/// Stacks that differ in what a stack may differ in, for each optimizer.
pub(super) fn stacks() -> Vec<(&'static str, Vec<TrainRequest>)> {
    let noise = |alpha, scale| Some(InjectedNoise { alpha, scale });
    let sgdm = |seed, lr, momentum| TrainRequest {
        optimizer: Some(Optimizer::Sgdm),
        lr: Some(lr),
        momentum: Some(momentum),
        ..request(seed)
    };
    let fuld = |seed, alpha| TrainRequest { alpha: Some(alpha), ..request(seed) };
    let clipped = |optimizer, seed, limit| TrainRequest {
        optimizer: Some(optimizer),
        clip: Some(limit),
        ..request(seed)
    };
    let adam =
        |seed, lr| TrainRequest { optimizer: Some(Optimizer::Adam), lr: Some(lr), ..request(seed) };
    let guarded = |requests: Vec<TrainRequest>, c: f64| -> Vec<TrainRequest> {
        let guard = |request| TrainRequest { guard: Some(GuardRequest::Given(c)), ..request };
        requests.into_iter().map(guard).collect()
    };
    let noisy = |requests: Vec<TrainRequest>| -> Vec<TrainRequest> {
        let laws = [noise(1.5, 1e-3), noise(0.15, 1e-30), noise(1.2, 2e-3)];
        let add = |(request, noise)| TrainRequest { inject_noise: noise, ..request };
        requests.into_iter().zip(laws.into_iter().cycle()).map(add).collect()
    };
    let matched = TrainRequest {
        lr: Some(0.02),
        momentum: Some(0.9),
        noise_scale: Some("1e-3".parse().unwrap()),
        ..fuld(9, 1.6)
    };
    let fulds = || vec![fuld(1, 1.75), fuld(2, 2.0), fuld(3, 1.2), matched.clone()];
    vec![
        ("sgdm", vec![sgdm(1, 0.05, 0.9), sgdm(2, 0.02, 0.0), sgdm(3, 0.01, 0.99)]),
        ("one run", vec![fuld(7, 1.5)]),
        ("fuld", fulds()),
        ("fuld, guarded", guarded(fulds(), 0.7)),
        ("fuld, noisy", noisy(fulds())),
        ("fuld, noisy and guarded", guarded(noisy(fulds()), 1.0)),
        (
            "clip-norm",
            vec![clipped(Optimizer::ClipNorm, 1, 0.5), clipped(Optimizer::ClipNorm, 2, 9.0)],
        ),
        (
            "clip-norm, guarded",
            guarded(
                noisy(vec![
                    clipped(Optimizer::ClipNorm, 1, 0.5),
                    clipped(Optimizer::ClipNorm, 2, 1.0),
                ]),
                1.0,
            ),
        ),
        (
            "clip-value",
            vec![clipped(Optimizer::ClipValue, 1, 1e-3), clipped(Optimizer::ClipValue, 2, 0.1)],
        ),
        ("adam", vec![adam(1, 1e-3), adam(2, 3e-3)]),
        ("adam, guarded", guarded(noisy(vec![adam(1, 1e-3), adam(2, 3e-3)]), 30.0)),
    ]
}

/// Twelve steps agree within rounding, and so do losses, scores, gradients and momenta.
#[test]
fn every_optimizer_takes_the_steps_of_the_cpu() {
    let data = digits();
    for (name, requests) in stacks() {
        let specs = specs(&data, &requests);
        let (mut ours, mut theirs) =
            (emulated(&data, &specs), CpuEngine::new(&data, &specs).unwrap());
        assert_eq!(ours.networks().unwrap(), theirs.networks().unwrap(), "{name}");
        for iteration in 0..12 {
            ours.step(iteration).unwrap();
            theirs.step(iteration).unwrap();
            let losses = [ours.losses().unwrap(), theirs.losses().unwrap()];
            for (a, b) in losses[0].iter().zip(&losses[1]) {
                assert!((a - b).abs() < 1e-5 * b.abs(), "{name}, {iteration}: {losses:?}");
            }
        }
        let far = distance(&ours.networks().unwrap(), &theirs.networks().unwrap());
        assert!(far < 2e-5, "{name}: {far:e}");
        // Measurements take a thousand images at a time.
        let images = if name == "one run" { 1234 } else { 60 };
        for (set, count) in [(ImageSet::Test, 50), (ImageSet::Training, images)] {
            let scores = [ours.score(set, count).unwrap(), theirs.score(set, count).unwrap()];
            for (a, b) in scores[0].iter().zip(&scores[1]) {
                assert!((a.loss - b.loss).abs() < 1e-5 * b.loss, "{name}: {scores:?}");
                assert!((a.accuracy - b.accuracy).abs() < 1.5 / count as f64, "{name}: {scores:?}");
            }
        }
        let [v, expected] = [ours.largest_v().unwrap(), theirs.largest_v().unwrap()];
        assert_eq!(v.is_some(), expected.is_some());
        for (v, expected) in v.iter().flatten().zip(expected.iter().flatten()) {
            assert!((v - expected).abs() < 2e-5 * expected, "{name}: {v} {expected}");
        }
        let indices: Vec<u32> = (0..specs.len() as u32 * 40).map(|n| n * 7 % 1000).collect();
        let noise = (Purpose::MeasuredNoise, 77);
        let ours_at = ours.gradients(&indices, noise).unwrap();
        let theirs_at = theirs.gradients(&indices, noise).unwrap();
        for (ours, theirs) in ours_at.iter().flatten().zip(theirs_at.iter().flatten()) {
            let largest = theirs.iter().fold(0f32, |a, g| a.max(g.abs()));
            let far = ours.iter().zip(theirs).fold(0f32, |a, (x, y)| a.max((x - y).abs()));
            assert!(far < 3e-5 * largest, "{name}: {far} of {largest}");
        }
        // A gradient at other minibatches does not change training.
        ours.step(12).unwrap();
        theirs.step(12).unwrap();
        let far = distance(&ours.networks().unwrap(), &theirs.networks().unwrap());
        assert!(far < 2e-5, "{name}: {far:e}");
    }
}

/// Lanes run at the same time: any order that the signals allow gives the same bits.
#[test]
fn the_order_of_lanes_does_not_matter() {
    use Lane::{Gradients, Main, Updates};
    let data = digits();
    for (name, requests) in stacks() {
        let specs = specs(&data, &requests);
        let trained = |preference| {
            let mut stack = emulated(&data, &specs);
            stack.device_mut().preference = preference;
            (0..6).for_each(|iteration| stack.step(iteration).unwrap());
            bits(&stack.networks().unwrap())
        };
        let expected = trained([Main, Gradients, Updates]);
        for preference in
            [[Updates, Gradients, Main], [Gradients, Main, Updates], [Gradients, Updates, Main]]
        {
            assert!(trained(preference) == expected, "{name}: {preference:?}");
        }
    }
}

/// A stack continues from its tensors to the same bits, at any iteration, and across epochs.
#[test]
fn a_restored_stack_continues_with_the_same_bits() {
    let data = digits();
    for (name, requests) in stacks() {
        // Three minibatches per epoch.
        let requests: Vec<_> = requests
            .into_iter()
            .map(|request| TrainRequest { batch: Some(data.train.len() / 3 - 1), ..request })
            .collect();
        let specs = specs(&data, &requests);
        let steps = |stack: &mut Stack<'_, Emulated>, range: std::ops::Range<u64>| {
            range.for_each(|iteration| stack.step(iteration).unwrap());
        };
        let mut whole = emulated(&data, &specs);
        steps(&mut whole, 0..5);
        let file = whole.save().unwrap();
        steps(&mut whole, 5..8);
        let mut second = emulated(&data, &specs);
        // A stack that has taken steps already can be restored as well.
        steps(&mut second, 0..2);
        second.restore(file.clone(), 5).unwrap();
        steps(&mut second, 5..8);
        assert!(bits(&whole.networks().unwrap()) == bits(&second.networks().unwrap()), "{name}");
        // The engine for CPUs reads the same file.
        let mut cpu = CpuEngine::new(&data, &specs).unwrap();
        cpu.restore(file, 5).unwrap();
        (5..8).for_each(|iteration| cpu.step(iteration).unwrap());
        let far = distance(&whole.networks().unwrap(), &cpu.networks().unwrap());
        assert!(far < 2e-5, "{name}: {far:e}");
    }
}

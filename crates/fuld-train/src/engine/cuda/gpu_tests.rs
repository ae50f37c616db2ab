//! The engine on an NVIDIA GPU beside the engine for CPUs. All tests but one require a GPU and are
//! ignored without one: `make test-gpu` runs them.

use super::super::cpu::CpuEngine;
use super::super::{Engine, ImageSet};
use super::stack_tests::{bits, digits, distance, specs, stacks};
use crate::data::DataSet;
use crate::engine::{CudaError, EngineError};
use crate::spec::TrainSpec;
use fuld::random::Purpose;

/// Steps that are compared: rounding errors grow tenfold in a hundred steps.
const STEPS: u64 = 30;

fn on_gpu<'a>(data: &'a DataSet, specs: &[TrainSpec]) -> impl Engine + 'a {
    super::open(data, specs, false).unwrap()
}

/// Without a driver the engine is refused with an error that says what to install.
#[test]
fn a_machine_without_a_driver_is_an_error() {
    // SAFETY: opening the driver's library runs its initialisers only.
    if unsafe { cudarc::driver::sys::is_culib_present() } {
        return;
    }
    let data = digits();
    let specs = specs(&data, &stacks()[0].1);
    let Err(EngineError::Cuda(error)) = super::open(&data, &specs, false).map(drop) else {
        panic!("there is no driver, but no error either");
    };
    assert_eq!(error, CudaError::NoDriver);
    assert!(error.to_string().contains("install the NVIDIA driver"), "{error}");
}

/// Initial weights have the same bits; steps, losses, scores, momenta and gradients agree within
/// rounding.
#[test]
#[ignore = "requires an NVIDIA GPU: make test-gpu"]
fn cuda_takes_the_steps_of_the_cpu() {
    let data = digits();
    for (name, requests) in stacks() {
        let specs = specs(&data, &requests);
        let (mut ours, mut theirs) =
            (on_gpu(&data, &specs), CpuEngine::new(&data, &specs).unwrap());
        assert_eq!(ours.networks().unwrap(), theirs.networks().unwrap(), "{name}");
        for iteration in 0..STEPS {
            ours.step(iteration).unwrap();
            theirs.step(iteration).unwrap();
        }
        let (losses, expected) = (ours.losses().unwrap(), theirs.losses().unwrap());
        for (a, b) in losses.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-4 * b.abs(), "{name}: {losses:?} {expected:?}");
        }
        let far = distance(&ours.networks().unwrap(), &theirs.networks().unwrap());
        assert!(far < 1e-4, "{name}: {far:e}");
        for (set, count) in [(ImageSet::Test, data.test.len()), (ImageSet::Training, 1234)] {
            let scores = ours.score(set, count).unwrap();
            for (a, b) in scores.iter().zip(theirs.score(set, count).unwrap()) {
                assert!((a.loss - b.loss).abs() < 1e-4 * b.loss, "{name}: {a:?} {b:?}");
                assert!(
                    (a.accuracy - b.accuracy).abs() < 2.5 / count as f64,
                    "{name}: {a:?} {b:?}"
                );
            }
        }
        let (v, expected) = (ours.largest_v().unwrap(), theirs.largest_v().unwrap());
        for (v, expected) in v.iter().flatten().zip(expected.iter().flatten()) {
            assert!((v - expected).abs() < 1e-4 * expected, "{name}: {v} {expected}");
        }
        let indices: Vec<u32> = (0..specs.len() as u32 * 40).map(|n| n * 7 % 1000).collect();
        let noise = (Purpose::MeasuredNoise, 77);
        let ours_at = ours.gradients(&indices, noise).unwrap();
        let theirs_at = theirs.gradients(&indices, noise).unwrap();
        for (ours, theirs) in ours_at.iter().flatten().zip(theirs_at.iter().flatten()) {
            let largest = theirs.iter().fold(0f32, |a, g| a.max(g.abs()));
            let far = ours.iter().zip(theirs).fold(0f32, |a, (x, y)| a.max((x - y).abs()));
            assert!(far < 1e-3 * largest, "{name}: {far} of {largest}");
        }
    }
}

/// The same seeds give the same bits, and so does a run that continues from its tensors.
#[test]
#[ignore = "requires an NVIDIA GPU: make test-gpu"]
fn cuda_gives_the_same_bits_again() {
    let data = digits();
    for (name, requests) in stacks() {
        let specs = specs(&data, &requests);
        let trained = |stop: Option<u64>| {
            let mut stack = on_gpu(&data, &specs);
            for iteration in 0..100 {
                if stop == Some(iteration) {
                    let file = stack.save().unwrap();
                    stack = on_gpu(&data, &specs);
                    stack.restore(file, iteration).unwrap();
                }
                stack.step(iteration).unwrap();
            }
            bits(&stack.networks().unwrap())
        };
        let whole = trained(None);
        assert!(whole == trained(None), "{name}: two runs differ");
        // Within the second epoch, after an odd number of steps.
        assert!(whole == trained(Some(37)), "{name}: the continued run differs");
    }
}

/// Several stacks in turn, and at the same time, do not disturb each other.
#[test]
#[ignore = "requires an NVIDIA GPU: make test-gpu"]
fn cuda_stacks_do_not_disturb_each_other() {
    let data = digits();
    let specs: Vec<_> =
        stacks().iter().take(4).map(|(_, requests)| specs(&data, requests)).collect();
    let alone = |specs: &Vec<TrainSpec>| {
        let mut stack = on_gpu(&data, specs);
        (0..50).for_each(|iteration| stack.step(iteration).unwrap());
        bits(&stack.networks().unwrap())
    };
    let expected: Vec<_> = specs.iter().map(alone).collect();
    let mut together: Vec<_> = specs.iter().map(|specs| on_gpu(&data, specs)).collect();
    for iteration in 0..50 {
        together.iter_mut().for_each(|stack| stack.step(iteration).unwrap());
    }
    for (stack, expected) in together.iter_mut().zip(&expected) {
        assert!(bits(&stack.networks().unwrap()) == *expected);
    }
}

/// A stack that does not fit is refused with the bytes that it needs.
#[test]
#[ignore = "requires an NVIDIA GPU: make test-gpu"]
fn cuda_memory_is_checked() {
    let data = digits();
    let mut specs = specs(&data, &stacks()[0].1);
    specs.iter_mut().for_each(|spec| (spec.width, spec.depth) = (16_000, 4));
    let specs: Vec<_> = specs.iter().cycle().take(300).cloned().collect();
    match super::open(&data, &specs, false).map(drop) {
        Err(EngineError::Cuda(CudaError::Memory { needed, free })) => assert!(needed > free),
        other => panic!("{other:?}"),
    }
}

//! Guard, clipping and steps on the emulated device, number by number beside the code for slices.

use super::device::{Device, Plan};
use super::emulated::Emulated;
use super::kernel_tests::{bits, wave};
use super::updates::Updates;
use crate::engine::rules::{Clip, StepRule, UpdateRule};
use fuld::guard::{Guard, GuardState, LogSum};
use fuld::optimizer::{Adam, Coordinates, Matched, Options, Rule, Sgd, clip};

fn momentum_rule(alpha: f64, momentum: f64) -> Rule {
    let kappa = 0.3;
    let coordinates = if alpha == 2.0 {
        Coordinates::sgd(Sgd { alpha, learning_rate: 0.1, momentum })
    } else {
        Coordinates::matched(Matched { alpha, learning_rate: 0.1, momentum, kappa })
    };
    Rule::new(coordinates.unwrap(), Options::default()).unwrap()
}

/// Gradients of one layer over some steps, with components that are not finite in the last one.
fn gradients(runs: usize, size: usize, broken: bool) -> Vec<Vec<f32>> {
    let mut all: Vec<_> = (0..4).map(|step| wave(runs * size, f64::from(step))).collect();
    // A burst, and a step without components that count.
    all[2].iter_mut().for_each(|g| *g *= 100.0);
    if broken {
        all[1][..size].fill(0.0);
        let last = all.last_mut().unwrap();
        for run in 0..runs {
            let part = &mut last[run * size..][..size];
            (part[0], part[1], part[2]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
        }
    }
    all
}

/// What happens to one layer of a stack in some steps: weights and state of the optimizer.
fn on_device(rules: &[UpdateRule], size: usize, gradients: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut plan = Plan::default();
    let updates = Updates::plan(&mut plan, rules, vec![size]).unwrap();
    let [weights, gradient] = [0, 1].map(|_| plan.array::<f32>(rules.len() * size));
    let iteration = plan.array::<u64>(1);
    let mut device = Emulated::open(&plan);
    updates.upload(&mut device).unwrap();
    device.upload(weights, &wave(rules.len() * size, 0.1)).unwrap();
    for (number, numbers) in (0u64..).zip(gradients) {
        device.upload(iteration, &[number]).unwrap();
        device.upload(gradient, numbers).unwrap();
        updates.layer(&mut device, 0, weights, gradient, iteration).unwrap();
        updates.finish(&mut device, &[weights], &[gradient], iteration).unwrap();
    }
    let state = updates.state(0).into_iter().map(|state| state.array);
    [weights].into_iter().chain(state).map(|array| device.read(array)).collect()
}

/// The same by the code for slices.
fn on_slices(rules: &[UpdateRule], size: usize, gradients: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut weights = wave(rules.len() * size, 0.1);
    let (mut first, mut second) = (vec![0f32; weights.len()], vec![0f32; weights.len()]);
    let mut states = vec![GuardState::new(); rules.len()];
    for (k, numbers) in (1..).zip(gradients) {
        for (run, rule) in rules.iter().enumerate() {
            let part = run * size..(run + 1) * size;
            let mut g = numbers[part.clone()].to_vec();
            if let Some(guard) = rule.guard {
                guard.observe(&mut states[run], LogSum::of(&g)).apply(&mut g);
            }
            match rule.clip {
                Some(Clip::Value(limit)) => clip::by_value(&mut g, limit).unwrap(),
                Some(Clip::Norm(limit)) => {
                    clip::by_norm(&mut [&mut g], limit).unwrap();
                }
                None => {}
            }
            let x = &mut weights[part.clone()];
            match &rule.step {
                StepRule::Momentum(rule) => rule.step(x, &mut first[part], &g),
                StepRule::Adam(adam) => {
                    let (m, v) = (&mut first[part.clone()], &mut second[part]);
                    adam.step(f64::from(k), None, x, m, v, &g);
                }
            }
        }
    }
    let guard = rules[0].guard.map(|_| states.iter().flat_map(|s| s.to_numbers()).collect());
    let second = matches!(rules[0].step, StepRule::Adam(_)).then_some(second);
    [Some(weights), guard, Some(first), second].into_iter().flatten().collect()
}

/// Asserts that arrays agree within a tolerance relative to their numbers; 0 for equal bits.
fn assert_close(ours: &[Vec<f32>], theirs: &[Vec<f32>], tolerance: f32, name: &str) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (array, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours.len(), theirs.len(), "{name}");
        for (n, (a, b)) in ours.iter().zip(theirs).enumerate() {
            let same = bits(&[*a]) == bits(&[*b]);
            let close = (a - b).abs() <= tolerance * (a.abs().max(b.abs()) + f32::MIN_POSITIVE);
            assert!(same || close, "{name}, array {array}, number {n}: {a:e} {b:e}");
        }
    }
}

fn unguarded(step: StepRule) -> UpdateRule {
    UpdateRule { guard: None, clip: None, step }
}

/// At α = 2 a step has the bits of SGD, with components that are not finite too.
#[test]
fn sgd_has_the_bits_of_the_cpu() {
    for size in [12, 1003] {
        let rules = [0.9, 0.0, 0.99]
            .map(|momentum| unguarded(StepRule::Momentum(momentum_rule(2.0, momentum))));
        let gradients = gradients(3, size, true);
        let ours = on_device(&rules, size, &gradients);
        assert_close(&ours, &on_slices(&rules, size, &gradients), 0.0, "sgd");
    }
}

/// The momenta have the same bits. A step differs from that of the CPU by the errors of two tables
/// of the field, 2e-7 each, and so does a sum of steps, relative to the largest term.
#[test]
fn steps_through_the_field_are_those_of_the_cpu() {
    for size in [12, 1003] {
        let laws = [(1.75, 0.9), (2.0, 0.9), (1.1, 0.0), (0.1, 0.5), (1.999, 0.99)];
        let rules = laws.map(|(alpha, mu)| unguarded(StepRule::Momentum(momentum_rule(alpha, mu))));
        let gradients = gradients(laws.len(), size, true);
        let [ours, theirs] = [on_device, on_slices].map(|steps| steps(&rules, size, &gradients));
        assert_eq!(bits(&ours[1]), bits(&theirs[1]), "momenta");
        let start = wave(laws.len() * size, 0.1);
        for (n, (a, b)) in ours[0].iter().zip(&theirs[0]).enumerate() {
            let scale = start[n].abs() + (b - start[n]).abs() + 0.3;
            let same = bits(&[*a]) == bits(&[*b]);
            assert!(same || (a - b).abs() <= 2e-6 * scale, "{n}: {a} {b}");
        }
        // From weights that are 0 the step shows the field itself.
        let v: Vec<f32> = (0..laws.len() * size).map(|n| wave(1, n as f64)[0].powi(3)).collect();
        let mut plan = Plan::default();
        let updates = Updates::plan(&mut plan, &rules, vec![size]).unwrap();
        let [weights, gradient] = [0, 1].map(|_| plan.array::<f32>(v.len()));
        let iteration = plan.array::<u64>(1);
        let mut device = Emulated::open(&plan);
        updates.upload(&mut device).unwrap();
        device.upload(gradient, &v).unwrap();
        updates.layer(&mut device, 0, weights, gradient, iteration).unwrap();
        for (run, rule) in rules.iter().enumerate() {
            let StepRule::Momentum(rule) = &rule.step else { continue };
            let (mut x, mut b) = (vec![0.0; size], vec![0.0; size]);
            rule.step(&mut x, &mut b, &v[run * size..][..size]);
            let ours = device.read(weights.part(run * size, size));
            assert_close(&[ours], &[x], 5e-7, "field");
        }
    }
}

#[test]
fn adam_is_that_of_the_cpu() {
    for size in [12, 1003] {
        let adam = |learning_rate| Adam { learning_rate, ..Adam::default() };
        let rules = [1e-3, 0.1].map(|lr| unguarded(StepRule::Adam(adam(lr))));
        let gradients = gradients(2, size, true);
        let ours = on_device(&rules, size, &gradients);
        // The bias corrections may differ in the last bit.
        assert_close(&ours, &on_slices(&rules, size, &gradients), 1e-6, "adam");
    }
}

/// Guarded gradients, of small tensors and of tensors that are sampled; without momentum the state b
/// is the guarded gradient.
#[test]
fn the_guard_is_that_of_the_cpu() {
    for size in [3, 12, 4096, 4097, 9001] {
        for broken in [false, true] {
            for momentum in [0.0, 0.9] {
                let rule = |c| UpdateRule {
                    guard: Some(Guard::new(c).unwrap()),
                    ..unguarded(StepRule::Momentum(momentum_rule(2.0, momentum)))
                };
                let rules = [rule(1.0), rule(0.3), rule(f64::INFINITY)];
                let gradients = gradients(3, size, broken);
                let [ours, theirs] =
                    [on_device, on_slices].map(|steps| steps(&rules, size, &gradients));
                // The logarithm of the scale, and what follows from it.
                assert_close(&ours, &theirs, 2e-6, &format!("guard, {size}"));
            }
        }
    }
}

/// After 50 steps the weight of a step in the running mean no longer changes.
#[test]
fn the_guard_is_that_of_the_cpu_for_many_steps() {
    let rule = UpdateRule {
        guard: Some(Guard::FOR_SGD),
        ..unguarded(StepRule::Momentum(momentum_rule(2.0, 0.9)))
    };
    let steps: Vec<_> = (0..70).map(|step| wave(200_003, 0.37 * f64::from(step))).collect();
    let [ours, theirs] =
        [on_device, on_slices].map(|take| take(std::slice::from_ref(&rule), 200_003, &steps));
    assert_eq!(ours[1][1], 50.0);
    assert_close(&ours[1..2], &theirs[1..2], 1e-6, "state");
    assert_close(&ours[2..], &theirs[2..], 1e-3, "momenta");
}

#[test]
fn clipping_is_that_of_the_cpu() {
    for size in [12, 1003] {
        let sgd = || StepRule::Momentum(momentum_rule(2.0, 0.5));
        let clipped = |clip| UpdateRule { clip: Some(clip), ..unguarded(sgd()) };
        let by_value = [1e-2, 3.0].map(|limit| clipped(Clip::Value(limit)));
        let gradients = gradients(2, size, true);
        let ours = on_device(&by_value, size, &gradients);
        assert_close(&ours, &on_slices(&by_value, size, &gradients), 0.0, "by value");
        let by_norm = [1e-2, 1e9].map(|limit| clipped(Clip::Norm(limit)));
        let ours = on_device(&by_norm, size, &gradients[..3]);
        assert_close(&ours, &on_slices(&by_norm, size, &gradients[..3]), 1e-6, "by norm");
        let guarded = by_norm.map(|rule| UpdateRule { guard: Some(Guard::FOR_SGD), ..rule });
        let ours = on_device(&guarded, size, &gradients);
        assert_close(&ours, &on_slices(&guarded, size, &gradients), 2e-6, "guarded, by norm");
    }
}

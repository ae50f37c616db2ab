//! Each kernel on the emulated device, number by number beside the code for CPUs.

use super::super::noise::Noise;
use super::device::{Argument, Array, Device, Kernel, Lane, Plain, Plan};
use super::emulated::Emulated;
use super::noise::StackNoise;
use super::updates::Updates;
use crate::data::{ImageShape, Images, Minibatches, Standardization};
use crate::engine::rules::{Clip, StepRule, UpdateRule};
use crate::spec::InjectedNoise;
use fuld::guard::{Guard, GuardState, LogSum};
use fuld::optimizer::{Adam, Coordinates, Matched, Options, Rule, Sgd, clip};
use fuld::random::Purpose;

/// Numbers of all sizes and signs, without pattern.
fn wave(count: usize, seed: f64) -> Vec<f32> {
    (0..count)
        .map(|n| {
            let phase = n as f64 * 1.7 + seed;
            (phase.sin() * (9.0 * (0.3 * phase).cos()).exp2()) as f32
        })
        .collect()
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
}

/// Returns a device with arrays of these contents.
fn with<T: Plain, U: Plain, V: Plain>(
    a: &[T],
    b: &[U],
    c: &[V],
) -> (Emulated, Array<T>, Array<U>, Array<V>) {
    let mut plan = Plan::default();
    let arrays = (plan.array(a.len()), plan.array(b.len()), plan.array(c.len()));
    let mut device = Emulated::open(&plan);
    device.upload(arrays.0, a).unwrap();
    device.upload(arrays.1, b).unwrap();
    device.upload(arrays.2, c).unwrap();
    (device, arrays.0, arrays.1, arrays.2)
}

fn run(device: &mut Emulated, kernel: Kernel, grid: [u32; 2], arguments: &[Argument]) {
    device.launch(Lane::Main, kernel, grid, arguments).unwrap();
}

#[test]
fn images_are_those_of_the_cpu() {
    for (channels, width) in [(2, 3), (3, 4), (1, 784)] {
        let shape = ImageShape { channels, height: 1, width };
        let count = 11;
        let standard = Standardization {
            peak: 255,
            channels: (0..channels).map(|c| (0.3 + c as f32 / 9.0, 0.2 + c as f32 / 7.0)).collect(),
        };
        let pixels: Vec<u8> = (0..count * shape.features()).map(|n| (n * 37 % 256) as u8).collect();
        let labels: Vec<u8> = (0..count as u8).collect();
        let images = Images::new(shape, pixels, labels, &standard).unwrap();
        let mut plan = Plan::default();
        let on_device = super::images::DeviceImages::plan(&mut plan, &images);
        let (out, out_labels) = (plan.array::<f32>(6 * shape.features()), plan.array::<u8>(6));
        let (indices, iteration) = (plan.array::<u32>(6), plan.array::<u64>(1));
        let mut orders = super::images::Orders::plan(&mut plan, count, 3, &[5, 6]).unwrap();
        let mut device = Emulated::open(&plan);
        on_device.upload(&mut device).unwrap();
        let check = |device: &mut Emulated, chosen: &[u32]| {
            let mut expected = vec![0.0; chosen.len() * shape.features()];
            images.gather(chosen, &mut expected);
            let found = device.read(out.part(0, expected.len()));
            assert_eq!(bits(&found), bits(&expected), "{shape:?}");
            let labels: Vec<u8> = chosen.iter().map(|&n| images.labels()[n as usize]).collect();
            assert_eq!(device.read(out_labels.part(0, chosen.len())), labels);
        };
        let chosen = [3, 0, 10, 10, 7, 1];
        device.upload(indices, &chosen).unwrap();
        on_device.gather(&mut device, indices, 6, (out, out_labels)).unwrap();
        check(&mut device, &chosen);
        on_device.gather_range(&mut device, 5, 4, (out, out_labels)).unwrap();
        check(&mut device, &[5, 6, 7, 8]);
        let mut batches = [5, 6].map(|seed| Minibatches::new(count, 3, seed).unwrap());
        // Three minibatches per epoch; the epoch is provided in advance.
        for now in [0u64, 1, 2, 3, 7, 8] {
            orders.provide(&mut device, now).unwrap();
            orders.provide(&mut device, now + 1).unwrap();
            device.upload(iteration, &[now]).unwrap();
            for ahead in 0..2 {
                let to = (out, out_labels);
                orders.gather(&mut device, Lane::Main, &on_device, (iteration, ahead), to).unwrap();
                let at = now + u64::from(ahead);
                let chosen: Vec<u32> =
                    batches.iter_mut().flat_map(|batches| batches.at(at).to_vec()).collect();
                check(&mut device, &chosen);
            }
        }
    }
}

#[test]
fn relu_and_its_derivative() {
    for size in [8usize, 1001] {
        let mut z = wave(size, 0.4);
        (z[0], z[1], z[2], z[3]) = (f32::NAN, -0.0, f32::NEG_INFINITY, f32::INFINITY);
        let g = wave(size, 2.0);
        let (mut device, outputs, gradient, _) = with(&z, &g, &[0u8]);
        run(
            &mut device,
            Kernel::ReluBackward,
            [2, 1],
            &[gradient.into(), outputs.into(), (size as u64).into()],
        );
        run(&mut device, Kernel::Relu, [2, 1], &[outputs.into(), (size as u64).into()]);
        let expected: Vec<f32> = z.iter().map(|&z| if z < 0.0 { 0.0 } else { z }).collect();
        assert_eq!(bits(&device.read(outputs)), bits(&expected));
        let expected: Vec<f32> =
            z.iter().zip(&g).map(|(&z, &g)| if z > 0.0 { g } else { 0.0 }).collect();
        assert_eq!(bits(&device.read(gradient)), bits(&expected));
    }
}

#[test]
fn cross_entropy_is_that_of_a_naive_softmax() {
    let (runs, batch, classes) = (3, 300, 10);
    let mut logits: Vec<f32> = wave(runs * batch * classes, 1.0).iter().map(|x| x / 40.0).collect();
    // Equal logits, in two orders.
    logits[..10].fill(0.5);
    logits[10..20].fill(0.5);
    let labels: Vec<u8> = (0..runs * batch).map(|n| (n * 7 % classes) as u8).collect();
    let (mut device, rows, on_device, sums) = with(&logits, &labels, &vec![0.0f64; 2 * runs]);
    // Measurements have one label per image, for all runs.
    run(
        &mut device,
        Kernel::AddScores,
        [runs as u32, 1],
        &[
            rows.into(),
            on_device.into(),
            sums.into(),
            (batch as u32).into(),
            (classes as u32).into(),
        ],
    );
    let scores = device.read(sums);
    let losses = sums.part(0, runs);
    run(
        &mut device,
        Kernel::LossAndGradient,
        [runs as u32, 1],
        &[
            rows.into(),
            on_device.into(),
            losses.into(),
            (batch as u32).into(),
            (classes as u32).into(),
        ],
    );
    let (gradient, losses) = (device.read(rows), device.read(losses));
    for run in 0..runs {
        let (mut loss, mut scored, mut correct) = (0.0, 0.0, 0.0);
        for image in 0..batch {
            let start = (run * batch + image) * classes;
            let row: Vec<f64> = logits[start..start + classes].iter().map(|&z| z.into()).collect();
            let sum: f64 = row.iter().map(|z| z.exp()).sum();
            let label = usize::from(labels[run * batch + image]);
            loss -= (row[label].exp() / sum).ln() / batch as f64;
            for (k, z) in row.iter().enumerate() {
                let target = f64::from(u8::from(k == label));
                let expected = (z.exp() / sum - target) / batch as f64;
                let found = f64::from(gradient[start + k]);
                assert!((found - expected).abs() < 1e-6 / batch as f64, "{found} {expected}");
            }
            let label = usize::from(labels[image]);
            scored -= (row[label].exp() / sum).ln();
            let first = row.iter().position(|z| row.iter().all(|other| other <= z));
            correct += f64::from(u8::from(first == Some(label)));
        }
        assert!((losses[run] - loss).abs() < 1e-6 * loss, "{} {loss}", losses[run]);
        assert!((scores[2 * run] - scored).abs() < 1e-6 * scored);
        assert_eq!(scores[2 * run + 1], correct);
    }
}

#[test]
fn infinite_and_missing_logits_are_not_hidden() {
    let logits = [f32::NAN, 1.0, f32::INFINITY, 0.0];
    let (mut device, rows, labels, sums) = with(&logits, &[1u8, 0], &[0f64; 4]);
    run(
        &mut device,
        Kernel::AddScores,
        [1, 1],
        &[rows.into(), labels.into(), sums.into(), 2u32.into(), 2u32.into()],
    );
    let scores = device.read(sums);
    assert!(scores[0].is_nan() && scores[1] == 1.0, "{scores:?}");
    run(
        &mut device,
        Kernel::LossAndGradient,
        [1, 1],
        &[rows.into(), labels.into(), sums.into(), 2u32.into(), 2u32.into()],
    );
    assert!(device.read(sums)[0].is_nan());
}

/// The draws have the bits of the sampler, by the table and by the method of Chambers, Mallows and
/// Stuck.
#[test]
fn noise_has_the_bits_of_the_cpu() {
    let laws = [(1.5, 1e-3), (0.2, 2.0), (2.0, 0.1), (0.15, 1e-3), (1.5, 1e-3), (0.12, 3.0)];
    let mut noises: Vec<_> = laws
        .iter()
        .zip(7..)
        .map(|(&(alpha, scale), seed)| (Some(InjectedNoise { alpha, scale }), seed))
        .collect();
    // A run without noise.
    noises.push((None, 3));
    for size in [1, 999, 1000] {
        let mut plan = Plan::default();
        let noise = StackNoise::plan(&mut plan, &noises, 3).unwrap().unwrap();
        let gradient = plan.array(noises.len() * size);
        let iteration = plan.array(1);
        let mut device = Emulated::open(&plan);
        noise.upload(&mut device).unwrap();
        let before = wave(noises.len() * size, 0.7);
        device.upload(gradient, &before).unwrap();
        device.upload(iteration, &[1u64 << 33]).unwrap();
        let noise_of = (Purpose::MeasuredNoise, iteration);
        noise.add(&mut device, noise_of, 2, gradient, size).unwrap();
        let found = device.read(gradient);
        for (run, &(noise, seed)) in noises.iter().enumerate() {
            let mut expected = before[run * size..][..size].to_vec();
            if let Some(noise) = noise {
                let noise = Noise::new(noise, seed, 3).unwrap();
                noise.add((Purpose::MeasuredNoise, 1 << 33), 2, &mut expected);
            }
            assert_eq!(bits(&found[run * size..][..size]), bits(&expected), "{:?}", noises[run]);
        }
    }
}

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
    let [ours, theirs] = [on_device, on_slices].map(|take| take(std::slice::from_ref(&rule), 200_003, &steps));
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

#[test]
fn the_largest_momentum_shows_nan() {
    let mut b = wave(3 * 500, 0.0);
    b[700] = f32::NAN;
    b[1400] = f32::NEG_INFINITY;
    let (mut device, momenta, largest, _) = with(&b, &[0f32; 3], &[0u8]);
    run(
        &mut device,
        Kernel::LargestMomentum,
        [3, 1],
        &[momenta.into(), largest.into(), 500u32.into()],
    );
    let found = device.read(largest);
    let expected = b[..500].iter().fold(0f32, |a, b| a.max(b.abs()));
    assert!(found[0] == expected && found[1].is_nan() && found[2] == f32::INFINITY, "{found:?}");
}

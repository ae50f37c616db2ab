//! Each kernel on the emulated device, number by number beside the code for CPUs.

use super::super::noise::Noise;
use super::device::{Argument, Array, Device, Kernel, Lane, Plain, Plan};
use super::emulated::Emulated;
use super::noise::StackNoise;
use crate::data::{ImageShape, Images, Minibatches, Standardization};
use crate::spec::InjectedNoise;
use fuld::random::Purpose;

/// Numbers of all sizes and signs, without pattern.
pub(super) fn wave(count: usize, seed: f64) -> Vec<f32> {
    (0..count)
        .map(|n| {
            let phase = n as f64 * 1.7 + seed;
            (phase.sin() * (9.0 * (0.3 * phase).cos()).exp2()) as f32
        })
        .collect()
}

pub(super) fn bits(numbers: &[f32]) -> Vec<u32> {
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

/// Losses far below the rounding of the logits: with the sum added to the largest logit in single
/// precision, the loss would be 3e-5 or 0.
#[test]
fn small_losses_are_kept_beside_large_logits() {
    let (gap, batch) = (14.0, 100);
    let logits: Vec<f32> = [300.0, 300.0 - gap].repeat(batch);
    let (mut device, rows, labels, losses) = with(&logits, &vec![0u8; batch], &[0f64; 2]);
    let sizes = [(batch as u32).into(), 2u32.into()];
    let expected = f64::from((-gap).exp()).ln_1p();
    for kernel in [Kernel::AddScores, Kernel::LossAndGradient] {
        run(
            &mut device,
            kernel,
            [1, 1],
            &[rows.into(), labels.into(), losses.into(), sizes[0], sizes[1]],
        );
        let found = device.read(losses)[0];
        let mean = if kernel == Kernel::AddScores { found / batch as f64 } else { found };
        assert!((mean / expected - 1.0).abs() < 0.05, "{mean} {expected}");
    }
    let gradient = f64::from(device.read(rows)[1]) * batch as f64;
    assert!((gradient / expected - 1.0).abs() < 1e-3, "{gradient} {expected}");
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

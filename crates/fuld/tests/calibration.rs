//! The rule with estimated settings, on streams of gradients with known noise.

use fuld::optimizer::{
    AutoRule, AutoSettings, Calibration, CalibrationStateError, Coordinates, Estimates, Options, Rule, Sgd,
    WeightDecay,
};
use levy_stable::SymmetricStable;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const MOMENTUM: f64 = 0.9;

/// Returns the estimates after `steps` gradients, each computed from the step, the coordinate and SαS(1) noise.
fn estimates(
    alpha: f64,
    length: usize,
    steps: u64,
    mut gradient: impl FnMut(u64, usize, f64) -> f32,
) -> Estimates {
    let rule = AutoRule::new(AutoSettings::new(MOMENTUM), 0.01).unwrap();
    let sampler = SymmetricStable::new(alpha).unwrap().sampler();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut calibration = Calibration::new(length);
    let (mut x, mut b) = (vec![0f32; length], vec![0f32; length]);
    let (mut noise, mut g) = (vec![0f64; length], vec![0f32; length]);
    for step in 0..steps {
        sampler.fill(&mut random, &mut noise);
        for (i, (g, noise)) in g.iter_mut().zip(&noise).enumerate() {
            *g = gradient(step, i, *noise);
        }
        rule.step(&mut calibration, &mut x, &mut b, &g);
    }
    calibration.estimates()
}

/// With 64 quadruples of 1024 coordinates the standard deviation of α̂ is about 0.015 and that of σ̂ 1.5 %. The bounds are five of them.
#[test]
fn estimates_alpha_and_scale_of_the_noise() {
    for alpha in [1.2, 1.5, 1.8] {
        let found = estimates(alpha, 20_000, 400, |_, _, noise| (3e-4 * noise) as f32);
        assert!((found.noise_alpha - alpha).abs() < 0.08, "{alpha}: {found:?}");
        assert!((found.noise_scale / 3e-4 - 1.0).abs() < 0.08, "{alpha}: {found:?}");
        assert!((found.alpha - alpha).abs() < 0.1, "{alpha}: {found:?}");
        // The limit keeps jumps out of the momentum, so that little of it is beyond the knee.
        assert!((1e-4..6e-4).contains(&found.limit), "{alpha}: {found:?}");
        assert!(found.momentum_knee < 20.0 * found.limit && found.beyond_knee < 0.05, "{alpha}: {found:?}");
    }
}

/// Coordinates whose scales spread over six decades, a mean that drifts, a third of the coordinates dead, gradients that
/// are larger as a whole at some steps than at others: none of it is noise of another tail.
#[test]
fn alpha_depends_only_on_the_tails_of_the_noise() {
    let alpha = 1.5;
    let spread = estimates(alpha, 20_000, 400, |_, i, noise| {
        (10f64.powf((i % 61) as f64 / 10.0 - 6.0) * noise) as f32
    });
    let drift = estimates(alpha, 20_000, 400, |step, i, noise| {
        ((i % 7) as f64 * (1.0 + step as f64 / 50.0) + noise) as f32
    });
    let dead = estimates(alpha, 20_000, 400, |_, i, noise| if i % 3 == 0 { 0.0 } else { noise as f32 });
    let uneven = estimates(alpha, 20_000, 400, |step, _, noise| {
        (noise * if step % 5 < 2 { 100.0 } else { 1.0 }) as f32
    });
    for (what, found) in [("spread", spread), ("drift", drift), ("dead", dead), ("uneven", uneven)] {
        assert!((found.noise_alpha - alpha).abs() < 0.12, "{what}: {found:?}");
    }
    assert!((dead.noise_scale - 1.0).abs() < 0.1, "{dead:?}");
}

/// All estimates scale with the gradients.
#[test]
fn estimates_scale_with_the_gradients() {
    let [small, large] =
        [1e-9, 1e6].map(|scale| estimates(1.5, 2_000, 100, |_, _, noise| (scale * noise) as f32));
    for of in [|r: &Estimates| r.momentum_knee, |r: &Estimates| r.limit, |r: &Estimates| r.noise_scale] {
        assert!((of(&large) / of(&small) / 1e15 - 1.0).abs() < 1e-3, "{small:?} {large:?}");
    }
    assert!(small.alpha == large.alpha, "{small:?} {large:?}");
}

/// With a spread of scales the knee lies beyond nearly all coordinates, not at the median one.
#[test]
fn a_spread_of_scales_does_not_stall_the_largest() {
    let found =
        estimates(1.5, 20_000, 400, |_, i, noise| (10f64.powf((i % 61) as f64 / 10.0 - 6.0) * noise) as f32);
    assert!(found.beyond_knee < 0.15, "{found:?}");
    assert!(found.alpha > 1.7, "{found:?}");
}

/// Rows of an embedding table of which one in fifty is used per step: rare large gradients are a signal and are let through. Noise with
/// the same tail but independent neighbours is not.
#[test]
fn rare_rows_are_a_signal() {
    let row = |step: u64, i: usize| (step * 7919 + (i / 32) as u64 * 104_729).is_multiple_of(50);
    let words =
        estimates(2.0, 20_000, 400, |step, i, noise| (noise * if row(step, i) { 1.0 } else { 0.01 }) as f32);
    assert!(words.noise_alpha < 1.7, "{words:?}");
    assert!(words.alpha > 1.6 && words.beyond_knee < 0.25 && words.limit > 0.25, "{words:?}");
    let noise = estimates(1.3, 20_000, 400, |_, _, noise| (0.01 * noise) as f32);
    assert!(noise.alpha < 1.4 && noise.limit < 0.02, "{noise:?}");
}

/// A constant gradient in one coordinate out of ten takes it beyond the knee, and is counted.
#[test]
fn a_persistent_gradient_is_beyond_the_knee() {
    let found =
        estimates(1.5, 20_000, 400, |_, i, noise| (noise + if i % 10 == 0 { 30.0 } else { 0.0 }) as f32);
    assert!((0.03..0.3).contains(&found.beyond_knee), "{found:?}");
}

#[test]
fn gaussian_noise_gives_sgd_bit_for_bit() {
    let length = 20_000;
    let options = Options { weight_decay: WeightDecay::Coupled(1e-3), nesterov: true, maximize: true };
    let rule = AutoRule::new(AutoSettings { options, ..AutoSettings::new(MOMENTUM) }, 0.01).unwrap();
    let sgd = Rule::new(
        Coordinates::sgd(Sgd { alpha: 2.0, learning_rate: 0.01, momentum: MOMENTUM }).unwrap(),
        options,
    )
    .unwrap();
    let sampler = SymmetricStable::new(2.0).unwrap().with_scale(1e-3).unwrap().sampler();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut calibration = Calibration::new(length);
    let (mut x, mut b) = (vec![1f32; length], vec![0f32; length]);
    let mut noise = vec![0f64; length];
    let mut plain = 0;
    for step in 0..300 {
        sampler.fill(&mut random, &mut noise);
        let g: Vec<f32> = noise.iter().map(|&noise| noise as f32).collect();
        let (mut y, mut c) = (x.clone(), b.clone());
        rule.step(&mut calibration, &mut x, &mut b, &g);
        let estimates = calibration.estimates();
        sgd.step(&mut y, &mut c, &g);
        if step >= 160 {
            assert!(estimates.noise_alpha > 1.9, "step {step}: {estimates:?}");
        }
        if estimates.alpha == 2.0 {
            assert!(x == y && b == c, "step {step}");
            plain += 1;
        }
    }
    // α̂ scatters and is sometimes below 1.95. Of the seeds 0 to 11, one (6) has fewer such steps than this.
    assert!(plain > 150, "{plain}");
}

#[test]
fn nonfinite_gradients_are_not_counted() {
    let clean = estimates(1.5, 2_000, 100, |_, _, noise| noise as f32);
    for accident in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let found =
            estimates(
                1.5,
                2_000,
                100,
                |step, i, noise| {
                    if step == 17 && i % 100 == 0 { accident } else { noise as f32 }
                },
            );
        assert!((found.noise_alpha - clean.noise_alpha).abs() < 0.02, "{accident}: {found:?}");
        assert!((found.limit / clean.limit - 1.0).abs() < 0.05, "{accident}: {found:?}");
    }
}

/// Gradients of zero carry no information.
#[test]
fn zeros_do_not_change_the_estimates() {
    let nothing = estimates(1.5, 100, 20, |_, _, _| 0.0);
    assert!(nothing.noise_scale.is_nan() && nothing.beyond_knee == 0.0, "{nothing:?}");
    let after = estimates(1.5, 2_000, 200, |step, _, noise| if step < 100 { noise as f32 } else { 0.0 });
    assert!((after.noise_alpha - 1.5).abs() < 0.15 && (after.noise_scale - 1.0).abs() < 0.15, "{after:?}");
}

/// A jump is bounded from the first step on. SGD would move a hundred times as far.
#[test]
fn the_first_step_is_already_bounded() {
    let length = 1_000;
    let rule = AutoRule::new(AutoSettings::new(MOMENTUM), 1.0).unwrap();
    let mut calibration = Calibration::new(length);
    let (mut x, mut b) = (vec![0f32; length], vec![0f32; length]);
    let mut g: Vec<f32> = (0..length).map(|i| (i as f32 - 499.5) / 500.0).collect();
    g[7] = 1e6;
    rule.step(&mut calibration, &mut x, &mut b, &g);
    assert!(x[7].abs() < 10.0, "{}", x[7]);
    assert!((x[500] / -g[500] - 1.0).abs() < 0.05, "{} {}", x[500], g[500]);
}

#[test]
fn a_loaded_state_continues_with_the_same_bits() {
    let length = 3_000;
    let rule = AutoRule::new(AutoSettings::new(MOMENTUM), 0.01).unwrap();
    let sampler = SymmetricStable::new(1.5).unwrap().sampler();
    let mut noise = vec![0f64; length];
    let run = |broken: Option<u64>, noise: &mut Vec<f64>| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut calibration = Calibration::new(length);
        let (mut x, mut b) = (vec![0f32; length], vec![0f32; length]);
        for step in 0..50 {
            if Some(step) == broken {
                calibration = Calibration::from_state(calibration.state().to_vec(), length).unwrap();
            }
            sampler.fill(&mut random, noise);
            let g: Vec<f32> = noise.iter().map(|&noise| noise as f32).collect();
            rule.step(&mut calibration, &mut x, &mut b, &g);
        }
        x
    };
    let unbroken = run(None, &mut noise);
    for step in [1, 22, 23, 25] {
        assert!(run(Some(step), &mut noise) == unbroken, "{step}");
    }
    assert!(Calibration::from_state([0.0; 20], length).is_err());
    assert!(Calibration::from_state([], length).is_err());
}

/// A state of another format, shape or tensor is refused, even if the sizes agree.
#[test]
fn a_state_is_checked_when_it_is_loaded() {
    let new = |length| Calibration::new(length).state().to_vec();
    let (length, other) = (20_000, 20_001);
    assert_eq!(Calibration::state_size(length), Calibration::state_size(other));
    assert_eq!(
        Calibration::from_state(new(other), length).unwrap_err(),
        CalibrationStateError::Length { expected: length, given: 20_001.0 }
    );
    assert!(matches!(
        Calibration::from_state(new(300), length),
        Err(CalibrationStateError::Size { given, .. }) if given == Calibration::state_size(300)
    ));
    let mut old = new(length);
    let version = Calibration::state_size(0) - 3;
    assert_eq!(old[version], 1.0);
    old[version] = 0.0;
    assert_eq!(
        Calibration::from_state(old.clone(), length).unwrap_err(),
        CalibrationStateError::Version { given: 0.0 }
    );
    assert!(Calibration::for_part(&old, 100).is_err() && Calibration::for_part(&[], 100).is_err());
    // Lengths that single precision cannot represent in one number.
    for length in [(1usize << 24) + 1, (1 << 33) + 7] {
        assert!(Calibration::from_state(new(length), length).is_ok());
        assert!(Calibration::from_state(new(length), length + 1).is_err());
    }
}

/// If one of α and noise scale is given, the other is estimated. A given scale determines the knee.
#[test]
fn given_settings_are_kept() {
    let length = 5_000;
    let sampler = SymmetricStable::new(1.5).unwrap().sampler();
    let last = |alpha, noise_scale| {
        let rule =
            AutoRule::new(AutoSettings { alpha, noise_scale, ..AutoSettings::new(MOMENTUM) }, 0.01).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut calibration = Calibration::new(length);
        let (mut x, mut b, mut noise) = (vec![0f32; length], vec![0f32; length], vec![0f64; length]);
        for _ in 0..100 {
            sampler.fill(&mut random, &mut noise);
            let g: Vec<f32> = noise.iter().map(|&noise| noise as f32).collect();
            rule.step(&mut calibration, &mut x, &mut b, &g);
        }
        calibration.estimates()
    };
    let scale = last(None, Some(2.0));
    assert!(
        (scale.momentum_knee - 2.0 * (1.0f64 - MOMENTUM).powf(-1.0 / scale.alpha)).abs() < 1e-5,
        "{scale:?}"
    );
    assert!(scale.limit.is_infinite() && (scale.alpha - 1.5).abs() < 0.1, "{scale:?}");
    let alpha = last(Some(1.3), None);
    assert!((alpha.alpha - 1.3).abs() < 1e-6 && alpha.limit.is_finite(), "{alpha:?}");
}

#[test]
fn wrong_settings_are_refused() {
    let new = |alpha, noise_scale, lr, momentum| {
        AutoRule::new(AutoSettings { alpha, noise_scale, ..AutoSettings::new(momentum) }, lr)
    };
    for (rule, told) in [
        (new(Some(2.1), None, 0.1, 0.9), "2.1"),
        (new(None, Some(-1.0), 0.1, 0.9), "-1"),
        (new(None, Some(1.0), 0.1, 1.0), "below 1, got 1"),
        (new(None, None, f64::NAN, 0.9), "NaN"),
        (new(None, None, 0.1, 1.5), "1.5"),
    ] {
        let error = rule.unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    assert!(new(None, None, 0.0, 1.0).is_ok());
}

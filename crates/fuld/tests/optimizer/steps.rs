//! Steps over slices compared with single steps, schedules, gradients that are not finite, and
//! clipping.

use super::forms::{all_options, gradient, matched, noise_matched, paper, rule, sgd};
use fuld::optimizer::{NonFiniteGradient, Options, Real, Rule, RuleError, WeightDecay, clip};
use levy_stable::SymmetricStable;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

#[test]
fn a_rule_made_with_another_shares_its_table() {
    let first = rule(sgd(1.5, 0.1, 0.9), Options::default());
    let options =
        Options { maximize: true, weight_decay: WeightDecay::Coupled(0.1), nesterov: true };
    let coordinates = noise_matched(1.5, 0.01, 0.8, 0.3).unwrap();
    let second = first.with(coordinates, options).unwrap();
    assert!(std::ptr::eq(first.field().unwrap(), second.field().unwrap()));
    assert_eq!(
        second.step_one(1.0, 0.5, 2.0),
        rule(Ok(coordinates), options).step_one(1.0, 0.5, 2.0)
    );
    let bad = Options { weight_decay: WeightDecay::Coupled(-1.0), ..options };
    assert_eq!(first.with(coordinates, bad).unwrap_err(), RuleError::WeightDecay(-1.0));
    assert!(first.with(sgd(1.5, 0.1, 0.0).unwrap(), options).is_err());
}

#[test]
fn slices_of_any_length_equal_single_steps_bit_for_bit() {
    fn check<T: Real + std::fmt::Debug>(rule: &Rule, length: usize, narrow: fn(f64) -> T) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(length as u64);
        let mut draw =
            || -> Vec<T> { gradient(&mut rng, length).into_iter().map(narrow).collect() };
        let (mut x, mut b, g) = (draw(), draw(), draw());
        let expected: Vec<(T, T)> = (0..length).map(|i| rule.step_one(x[i], b[i], g[i])).collect();
        let (mut chunked_x, mut chunked_b) = (x.clone(), b.clone());
        rule.step(&mut x, &mut b, &g);
        for ((x, b), g) in chunked_x.chunks_mut(23).zip(chunked_b.chunks_mut(23)).zip(g.chunks(23))
        {
            rule.step(x, b, g);
        }
        // No zeros or NaN here, so equal numbers are equal bits.
        for (i, &(expected_x, expected_b)) in expected.iter().enumerate() {
            assert!(x[i] == expected_x && b[i] == expected_b, "{i} of {length}");
        }
        assert!(x == chunked_x && b == chunked_b);
    }
    for options in all_options(0.9) {
        let rule = rule(matched(1.6, 0.01, 0.9, 0.05), options);
        for length in [0, 1, 63, 64, 65, 1000] {
            check(&rule, length, |x| x as f32);
            check(&rule, length, |x| x);
        }
    }
}

#[test]
fn without_momentum() {
    for alpha in [1.4, 2.0] {
        for options in all_options(0.0) {
            let with = rule(sgd(alpha, 0.04, 0.0), options);
            // Steps without a buffer use neither the momentum of the rule nor Nesterov's form.
            let without = rule(sgd(alpha, 0.04, 0.9), Options { nesterov: true, ..options });
            let g: Vec<f32> = gradient(&mut Xoshiro256PlusPlus::seed_from_u64(5), 65)
                .iter()
                .map(|&g| g as f32)
                .collect();
            let (mut x, mut y, mut b) = (vec![0.5; 65], vec![0.5; 65], vec![f32::INFINITY; 65]);
            with.step(&mut x, &mut b, &g);
            without.step_without_momentum(&mut y, &g);
            assert_eq!(x, y);
            assert!(x.iter().all(|x| x.is_finite()));
        }
    }
    let law = SymmetricStable::kinetic(1.4).unwrap();
    let mut x = [0.0f64];
    rule(paper(1.4, 0.2, 1.0, 1.0), Options::default()).step_without_momentum(&mut x, &[3.0]);
    assert!((x[0] + 0.2 * law.score(-0.2 * 3.0)).abs() < 1e-14);
}

#[test]
fn gradients_that_are_not_finite_are_refused_or_passed_on() {
    let rule = rule(matched(1.5, 0.01, 0.9, 0.1), Options::default());
    let mut g = vec![0.1f32; 3000];
    (g[2000], g[2500]) = (f32::NEG_INFINITY, f32::NAN);
    let (mut x, mut b) = (vec![1.0; 3000], vec![0.5; 3000]);
    let error = rule.step_checked(&mut x, &mut b, &g).unwrap_err();
    assert_eq!(error, NonFiniteGradient { index: 2000, value: f64::NEG_INFINITY });
    assert_eq!(error.to_string(), "component 2000 of the gradient is -inf; nothing was changed");
    assert!(x.iter().all(|&x| x == 1.0) && b.iter().all(|&b| b == 0.5));
    rule.step(&mut x, &mut b, &g);
    assert!(
        x[2000].is_nan() && b[2000] == f32::NEG_INFINITY && x[2500].is_nan() && b[2500].is_nan()
    );
    let mut y = [1.0f32; 20];
    rule.step_without_momentum(&mut y, &[f32::INFINITY; 20]);
    assert!(y.iter().all(|y| y.is_nan()) && rule.step_one(1.0f64, 0.0, f64::INFINITY).0.is_nan());
    assert!(x[..2000].iter().all(|&x| x == x.clamp(0.9, 0.9999)));
    g.truncate(2000);
    assert_eq!(rule.step_checked(&mut x[..2000], &mut b[..2000], &g), Ok(()));
}

#[test]
fn schedules_keep_the_table() {
    let options = Options { nesterov: true, ..Options::default() };
    let mut scheduled = rule(matched(1.5, 0.0, 0.9, 0.1), options);
    assert_eq!(scheduled.step_one(1.0f32, 0.5, 0.5).0, 1.0);
    for (alpha, rate) in [(1.5, 0.01), (1.5, 0.1), (2.0, 0.1), (1.3, 0.1)] {
        let coordinates = matched(alpha, rate, 0.9, 0.1).unwrap();
        scheduled.set_coordinates(coordinates).unwrap();
        assert_eq!(
            scheduled.step_one(1.0, 0.5, 0.5),
            rule(Ok(coordinates), options).step_one(1.0, 0.5, 0.5)
        );
    }
    let still = sgd(1.5, 0.1, 0.0).unwrap();
    assert_eq!(scheduled.set_coordinates(still), Err(RuleError::NesterovWithoutMomentum));
    assert_eq!(scheduled.coordinates().alpha(), 1.3);
}

#[test]
fn clipping() {
    let mut g = [-3.0, 0.5, f64::NAN, f64::INFINITY];
    clip::by_value(&mut g, 1.0).unwrap();
    assert!(g[0] == -1.0 && g[1] == 0.5 && g[2].is_nan() && g[3] == 1.0);
    // One norm over all slices, whatever their lengths.
    let (mut a, mut b) = (vec![1.0f32; 100], vec![-1.0f32; 44]);
    let norm = clip::by_norm(&mut [&mut a, &mut b], 3.0).unwrap();
    assert_eq!(norm, 12.0);
    assert!(a.iter().chain(&b).all(|g| (g.abs() - 0.25).abs() < 1e-6) && b[0] < 0.0);
    let before = a.clone();
    assert!(clip::by_norm(&mut [&mut a], 3.0).unwrap() < 3.0);
    assert_eq!(a, before);
}

#[test]
#[should_panic(expected = "the same length")]
fn lengths_must_agree() {
    rule(sgd(1.5, 0.1, 0.9), Options::default()).step(&mut [0.0f32; 3], &mut [0.0; 3], &[0.0; 2]);
}

//! The update rule against SGD, against the law itself, and against its own scalar form.

use fuld::ParameterError;
use fuld::optimizer::{
    Coordinates, NonFiniteGradient, Options, Real, Rule, RuleError, WeightDecay, clip, kappa_of_noise,
};
use levy_stable::SymmetricStable;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Uniform on (−1, 1).
fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 52) as f64 - 1.0
}

/// A gradient with small and, now and then, huge components.
fn gradient(rng: &mut Xoshiro256PlusPlus, length: usize) -> Vec<f64> {
    (0..length).map(|_| uniform(rng) * 10f64.powf(3.0 * uniform(rng) - 1.0)).collect()
}

fn rule(coordinates: Result<Coordinates, RuleError>, options: Options) -> Rule {
    Rule::new(coordinates.unwrap(), options).unwrap()
}

/// Every combination of options; Nesterov only where there is a momentum.
fn all_options(momentum: f64) -> Vec<Options> {
    let mut all = Vec::new();
    for weight_decay in [WeightDecay::None, WeightDecay::Coupled(0.01), WeightDecay::Decoupled(0.02)] {
        for (nesterov, maximize) in [(false, false), (false, true), (true, false), (true, true)] {
            if momentum > 0.0 || !nesterov {
                all.push(Options { weight_decay, nesterov, maximize });
            }
        }
    }
    all
}

macro_rules! sgd_bit_for_bit {
    ($name:ident, $float:ty) => {
        /// torch.optim.SGD written down statement by statement; every product and sum is rounded by itself.
        #[test]
        fn $name() {
            let (rate, length) = (0.03, 37);
            for momentum in [0.0, 0.9, 0.99] {
                for options in all_options(momentum) {
                    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
                    let rules = [
                        rule(Coordinates::sgd(2.0, rate, momentum), options),
                        rule(Coordinates::matched(2.0, rate, momentum, 0.37), options),
                    ];
                    let start: Vec<$float> =
                        gradient(&mut rng, length).iter().map(|&x| x as $float).collect();
                    let (mut x, mut buffer) = (start.clone(), None::<Vec<$float>>);
                    let mut ours = rules.map(|rule| (rule, start.clone(), vec![0.0; length]));
                    for _ in 0..1000 {
                        let given: Vec<$float> =
                            gradient(&mut rng, length).iter().map(|&g| g as $float).collect();
                        let mut g: Vec<$float> = given.clone();
                        for i in 0..length {
                            if options.maximize {
                                g[i] = -g[i];
                            }
                            match options.weight_decay {
                                WeightDecay::Coupled(decay) => {
                                    let pull = decay as $float * x[i];
                                    g[i] += pull;
                                }
                                WeightDecay::Decoupled(decay) => x[i] *= (1.0 - rate * decay) as $float,
                                WeightDecay::None => {}
                            }
                        }
                        if momentum != 0.0 {
                            if let Some(b) = &mut buffer {
                                for i in 0..length {
                                    b[i] *= momentum as $float;
                                    b[i] += g[i];
                                }
                            }
                            let b = buffer.get_or_insert_with(|| g.clone());
                            for i in 0..length {
                                if options.nesterov {
                                    let ahead = momentum as $float * b[i];
                                    g[i] += ahead;
                                } else {
                                    g[i] = b[i];
                                }
                            }
                        }
                        for i in 0..length {
                            let step = rate as $float * g[i];
                            x[i] -= step;
                        }
                        for (rule, ours, b) in &mut ours {
                            rule.step(ours, b, &given);
                            assert!(
                                x.iter().zip(&*ours).all(|(a, b)| a.to_bits() == b.to_bits()),
                                "{momentum} {options:?}"
                            );
                        }
                    }
                }
            }
        }
    };
}

sgd_bit_for_bit!(sgd_bit_for_bit_f32, f32);
sgd_bit_for_bit!(sgd_bit_for_bit_f64, f64);

#[test]
fn paper_form_at_two_is_sgd() {
    let paper = rule(Coordinates::paper(2.0, 0.1, 0.1, 3.0), Options::default());
    let sgd = rule(Coordinates::sgd(2.0, 0.1 * 0.1, 1.0 - 0.1 * 0.1), Options::default());
    assert_eq!(paper.step_one(1.5, 0.3, -0.7), sgd.step_one(1.5, 0.3, -0.7));
}

/// Runs a rule, and beside it (eulerv2_optim) in the paper's own variables, v and x, in doubles and with the law itself.
fn against_the_law<T: Real>(
    rule: &Rule,
    (eta, friction): (f64, f64),
    h: impl Fn(f64) -> f64,
    narrow: fn(f64) -> T,
    tolerance: f64,
) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let length = 100;
    let mut x: Vec<T> = (0..length).map(|_| narrow(uniform(&mut rng))).collect();
    let mut b = vec![narrow(0.0); length];
    let mut exact: Vec<(f64, f64)> = x.iter().map(|&x| (x.into(), 0.0)).collect();
    for _ in 0..50 {
        let g: Vec<T> = gradient(&mut rng, length).into_iter().map(narrow).collect();
        rule.step(&mut x, &mut b, &g);
        for i in 0..length {
            let (ours, our_b, g): (f64, f64, f64) = (x[i].into(), b[i].into(), g[i].into());
            let (x, v) = &mut exact[i];
            *v = (1.0 - friction * eta) * *v - eta * g;
            *x += eta * h(*v);
            assert!((ours - *x).abs() < tolerance * (1.0 + x.abs()), "x = {ours}, not {x}");
            let room = tolerance * (1.0 + v.abs() + eta * g.abs());
            assert!((-eta * our_b - *v).abs() < room, "v = {}, not {v}", -eta * our_b);
            // In single precision what was rounded off a large b outlives it: each step is compared by itself.
            if tolerance > 1e-10 {
                exact[i] = (ours, -eta * our_b);
            }
        }
    }
}

#[test]
fn three_coordinates_against_the_law() {
    let (eta, friction) = (0.3, 0.5);
    let (rate, momentum) = (eta * eta, 1.0 - friction * eta);
    for alpha in [1.0, 1.2, 1.5, 1.75, 1.95] {
        let law = SymmetricStable::kinetic(alpha).unwrap();
        let both = |coordinates, h: &dyn Fn(f64) -> f64| {
            let rule = rule(coordinates, Options::default());
            against_the_law(&rule, (eta, friction), h, |x| x, 1e-12);
            against_the_law(&rule, (eta, friction), h, |x| x as f32, 1e-6);
        };
        for beta in [0.2, 1.0, 5.0f64] {
            let width = beta.powf(1.0 / alpha);
            both(Coordinates::paper(alpha, eta, friction, beta), &|v| width / beta * law.score(width * v));
        }
        both(Coordinates::sgd(alpha, rate, momentum), &|v| law.score(v));
        for kappa in [0.1, 2.0f64] {
            let slope = law.score_derivative(0.0);
            let coordinates = Coordinates::matched(alpha, rate, momentum, kappa);
            assert!((coordinates.unwrap().temperature() * slope / kappa.powi(2) - 1.0).abs() < 1e-14);
            both(coordinates, &|v| kappa / slope * law.score(v / kappa));
        }
    }
}

/// s(αv)/2 from the law itself, at unit scale.
#[test]
fn the_authors_field_is_what_their_code_computes() {
    let (eta, friction) = (0.3, 0.5);
    for alpha in [0.8, 1.0, 1.2, 1.5, 1.75, 1.95, 1.999] {
        let unit = SymmetricStable::new(alpha).unwrap();
        let coordinates = Coordinates::authors(alpha, eta, friction);
        let h = |v: f64| 0.5 * unit.score(alpha * v);
        against_the_law(&rule(coordinates, Options::default()), (eta, friction), h, |x| x, 1e-12);
        let (ours, papers) =
            (coordinates.unwrap().slope(), Coordinates::paper(alpha, eta, friction, 1.0).unwrap().slope());
        assert!((ours / (0.5 * alpha * unit.score_derivative(0.0)) - 1.0).abs() < 1e-12);
        if alpha > 1.0 {
            assert!((1.99..2.3).contains(&(papers / ours)), "alpha = {alpha}: {}", papers / ours);
        }
    }
    // There their code is SGD, and its step twice what it is just below.
    let gauss = Coordinates::authors(2.0, eta, friction);
    assert_eq!(gauss, Coordinates::paper(2.0, eta, friction, 1.0));
    assert!(Coordinates::authors(0.0, eta, friction).is_err());
    assert_eq!(Coordinates::authors(1.5, 0.5, 3.0), Err(RuleError::Momentum(-0.5)));
}

/// Small gradients: the control and what it controls for move alike, and SGD at the same learning rate does not.
#[test]
fn small_steps_are_those_of_the_small_signal() {
    for alpha in [1.2, 1.75] {
        let forms = [
            Coordinates::paper(alpha, 0.1, 0.9, 0.5),
            Coordinates::authors(alpha, 0.1, 0.9),
            Coordinates::matched(alpha, 0.01, 0.91, 0.3),
        ];
        for form in forms {
            let control = rule(Ok(form.unwrap().small_signal()), Options::default());
            let form = rule(form, Options::default());
            let mut states = [(0.0, 0.0); 2];
            for k in 0..100 {
                let g = 1e-4 * f64::from(k).sin();
                states[0] = form.step_one(states[0].0, states[0].1, g);
                states[1] = control.step_one(states[1].0, states[1].1, g);
            }
            let [(x, _), (y, _)] = states;
            assert!(x != 0.0 && (x / y - 1.0).abs() < 1e-5, "{x} and {y}");
        }
    }
}

#[test]
fn matched_form_starts_as_sgd() {
    for alpha in [1.0, 1.5, 1.75, 1.99, 2.0] {
        let coordinates = Coordinates::matched(alpha, 0.04, 0.9, 0.7).unwrap();
        assert!((coordinates.slope() - 1.0).abs() < 1e-14);
        let (x, _) = rule(Ok(coordinates), Options::default()).step_one(0.0f64, 0.0, 1e-6);
        assert!((x / (-0.04 * 1e-6) - 1.0).abs() < 1e-9, "alpha = {alpha}");
    }
    // ∇G_α′(0) = α^(2/α) Γ(3/α)/Γ(1/α): 2 at α = 1.
    assert!((Coordinates::sgd(1.0, 0.01, 0.9).unwrap().slope() - 2.0).abs() < 1e-14);
}

#[test]
fn kappa_is_the_scale_of_the_noise() {
    let (alpha, eta, gamma, noise) = (1.5f64, 0.1f64, 0.2, 1e-3);
    let kappa = kappa_of_noise(alpha, eta * eta, 1.0 - gamma * eta, noise).unwrap();
    assert!((kappa.powf(alpha) / ((eta * noise).powf(alpha) / (eta * gamma)) - 1.0).abs() < 1e-12);
    assert_eq!(kappa_of_noise(1.5, 0.01, 1.0, 1.0), Err(RuleError::NoFriction(1.0)));
}

#[test]
fn in_the_matched_form_of_noise_the_learning_rate_is_a_factor() {
    let (alpha, momentum, noise) = (1.5, 0.9, 1e-2);
    let bend = noise * 0.1f64.powf(-1.0 / alpha);
    for lr in [1e-35, 1e-4, 0.03, 1.0] {
        let coordinates = Coordinates::of_noise(alpha, lr, momentum, noise).unwrap();
        assert!((coordinates.inner() * bend - 1.0).abs() < 1e-12, "{lr}");
        assert!((coordinates.slope() - 1.0).abs() < 1e-14);
        assert!(
            (coordinates.outer()
                * coordinates.inner()
                * SymmetricStable::kinetic(alpha).unwrap().score_derivative(0.0)
                / lr
                - 1.0)
                .abs()
                < 1e-12,
            "{lr}"
        );
    }
    let still = rule(Coordinates::of_noise(alpha, 0.0, momentum, noise), Options::default());
    assert_eq!(still.step_one(3.0f64, 0.0, 1.0), (3.0, 1.0));
    assert!(Coordinates::of_noise(alpha, 0.0, momentum, -1.0).is_err());
    assert!(Coordinates::of_noise(alpha, 0.0, 1.0, noise).is_err());
}

#[test]
fn the_papers_form_in_the_coordinates_of_sgd() {
    let (alpha, eta, gamma, beta) = (1.3, 0.2, 0.5, 4.0f64);
    let paper = Coordinates::paper(alpha, eta, gamma, beta).unwrap();
    let sgd = Coordinates::paper_sgd(alpha, eta * eta, 1.0 - gamma * eta, beta.powf(-1.0 / alpha)).unwrap();
    for (a, b) in [
        (paper.inner(), sgd.inner()),
        (paper.outer(), sgd.outer()),
        (paper.temperature(), sgd.temperature()),
        (paper.momentum(), sgd.momentum()),
    ] {
        assert!((a / b - 1.0).abs() < 1e-14, "{a} {b}");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Coordinates::paper_sgd(alpha, 0.1, 0.9, bad), Err(RuleError::Kappa(_))));
    }
}

#[test]
fn a_rule_made_with_another_shares_its_table() {
    let first = rule(Coordinates::sgd(1.5, 0.1, 0.9), Options::default());
    let options = Options { maximize: true, weight_decay: WeightDecay::Coupled(0.1), nesterov: true };
    let coordinates = Coordinates::of_noise(1.5, 0.01, 0.8, 0.3).unwrap();
    let second = first.with(coordinates, options).unwrap();
    assert!(std::ptr::eq(first.field().unwrap(), second.field().unwrap()));
    assert_eq!(second.step_one(1.0, 0.5, 2.0), rule(Ok(coordinates), options).step_one(1.0, 0.5, 2.0));
    let bad = Options { weight_decay: WeightDecay::Coupled(-1.0), ..options };
    assert_eq!(first.with(coordinates, bad).unwrap_err(), RuleError::WeightDecay(-1.0));
    assert!(first.with(Coordinates::sgd(1.5, 0.1, 0.0).unwrap(), options).is_err());
}

#[test]
fn any_length_has_the_bits_of_single_steps() {
    fn check<T: Real + std::fmt::Debug>(rule: &Rule, length: usize, narrow: fn(f64) -> T) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(length as u64);
        let mut draw = || -> Vec<T> { gradient(&mut rng, length).into_iter().map(narrow).collect() };
        let (mut x, mut b, g) = (draw(), draw(), draw());
        let expected: Vec<(T, T)> = (0..length).map(|i| rule.step_one(x[i], b[i], g[i])).collect();
        let (mut chunked_x, mut chunked_b) = (x.clone(), b.clone());
        rule.step(&mut x, &mut b, &g);
        for ((x, b), g) in chunked_x.chunks_mut(23).zip(chunked_b.chunks_mut(23)).zip(g.chunks(23)) {
            rule.step(x, b, g);
        }
        // No zeros or NaN here, so equal numbers are equal bits.
        for (i, &(expected_x, expected_b)) in expected.iter().enumerate() {
            assert!(x[i] == expected_x && b[i] == expected_b, "{i} of {length}");
        }
        assert!(x == chunked_x && b == chunked_b);
    }
    for options in all_options(0.9) {
        let rule = rule(Coordinates::matched(1.6, 0.01, 0.9, 0.05), options);
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
            let with = rule(Coordinates::sgd(alpha, 0.04, 0.0), options);
            // The momentum of a rule is not used where it is asked to do without; nor is Nesterov's form.
            let without = rule(Coordinates::sgd(alpha, 0.04, 0.9), Options { nesterov: true, ..options });
            let g: Vec<f32> =
                gradient(&mut Xoshiro256PlusPlus::seed_from_u64(5), 65).iter().map(|&g| g as f32).collect();
            let (mut x, mut y, mut b) = (vec![0.5; 65], vec![0.5; 65], vec![f32::INFINITY; 65]);
            with.step(&mut x, &mut b, &g);
            without.step_without_momentum(&mut y, &g);
            assert_eq!(x, y);
            assert!(x.iter().all(|x| x.is_finite()));
        }
    }
    let law = SymmetricStable::kinetic(1.4).unwrap();
    let mut x = [0.0f64];
    rule(Coordinates::paper(1.4, 0.2, 1.0, 1.0), Options::default()).step_without_momentum(&mut x, &[3.0]);
    assert!((x[0] - 0.2 * law.score(-0.2 * 3.0)).abs() < 1e-14);
}

#[test]
fn bad_gradients_are_named_or_go_through() {
    let rule = rule(Coordinates::matched(1.5, 0.01, 0.9, 0.1), Options::default());
    let mut g = vec![0.1f32; 3000];
    (g[2000], g[2500]) = (f32::NEG_INFINITY, f32::NAN);
    let (mut x, mut b) = (vec![1.0; 3000], vec![0.5; 3000]);
    let error = rule.step_checked(&mut x, &mut b, &g).unwrap_err();
    assert_eq!(error, NonFiniteGradient { index: 2000, value: f64::NEG_INFINITY });
    assert_eq!(error.to_string(), "component 2000 of the gradient is -inf; nothing was changed");
    assert!(x.iter().all(|&x| x == 1.0) && b.iter().all(|&b| b == 0.5));
    rule.step(&mut x, &mut b, &g);
    assert!(x[2000].is_nan() && b[2000] == f32::NEG_INFINITY && x[2500].is_nan() && b[2500].is_nan());
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
    let mut scheduled = rule(Coordinates::matched(1.5, 0.0, 0.9, 0.1), options);
    assert_eq!(scheduled.step_one(1.0f32, 0.5, 0.5).0, 1.0);
    for (alpha, rate) in [(1.5, 0.01), (1.5, 0.1), (2.0, 0.1), (1.3, 0.1)] {
        let coordinates = Coordinates::matched(alpha, rate, 0.9, 0.1).unwrap();
        scheduled.set_coordinates(coordinates).unwrap();
        assert_eq!(scheduled.step_one(1.0, 0.5, 0.5), rule(Ok(coordinates), options).step_one(1.0, 0.5, 0.5));
    }
    let still = Coordinates::sgd(1.5, 0.1, 0.0).unwrap();
    assert_eq!(scheduled.set_coordinates(still), Err(RuleError::NesterovWithoutMomentum));
    assert_eq!(scheduled.coordinates().alpha(), 1.3);
}

#[test]
fn bad_settings_are_named() {
    let law = |error: levy_stable::ParameterError| RuleError::Parameter(ParameterError::Law(error));
    assert_eq!(Coordinates::sgd(2.5, 0.1, 0.9), Err(law(levy_stable::ParameterError::Alpha(2.5))));
    assert_eq!(Coordinates::sgd(1.5, -0.1, 0.9), Err(RuleError::LearningRate(-0.1)));
    assert_eq!(Coordinates::sgd(1.5, 0.1, 1.5), Err(RuleError::Momentum(1.5)));
    assert_eq!(Coordinates::paper(1.5, 0.5, 4.0, 1.0), Err(RuleError::Momentum(-1.0)));
    assert_eq!(Coordinates::paper(1.5, 0.1, 0.1, 0.0), Err(RuleError::Parameter(ParameterError::Beta(0.0))));
    assert_eq!(Coordinates::matched(1.5, 0.1, 0.9, 0.0), Err(RuleError::Kappa(0.0)));
    assert!(matches!(Coordinates::matched(1.5, 0.1, 0.9, 1e-40), Err(RuleError::Extreme { .. })));
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(Coordinates::sgd(1.5, bad, 0.9).is_err() && Coordinates::sgd(1.5, 0.1, bad).is_err());
        assert!(
            Coordinates::matched(1.5, 0.1, 0.9, bad).is_err()
                && Coordinates::paper(1.5, bad, 0.1, 1.0).is_err()
        );
        assert!(
            Coordinates::paper(1.5, 0.1, bad, 1.0).is_err()
                && Coordinates::paper(1.5, 0.1, 0.1, bad).is_err()
        );
        assert!(kappa_of_noise(1.5, 0.1, 0.9, bad).is_err() && kappa_of_noise(1.5, bad, 0.9, 1.0).is_err());
        for weight_decay in [WeightDecay::Coupled(bad), WeightDecay::Decoupled(bad)] {
            let options = Options { weight_decay, ..Options::default() };
            let error = Rule::new(Coordinates::sgd(1.5, 0.1, 0.9).unwrap(), options).unwrap_err();
            assert!(matches!(error, RuleError::WeightDecay(value) if value.to_bits() == bad.to_bits()));
        }
        assert!(
            clip::by_value(&mut [1.0f32], bad).is_err() && clip::by_norm(&mut [&mut [1.0f32]], bad).is_err()
        );
    }
    let error =
        Rule::new(Coordinates::sgd(1.5, 0.1, 0.0).unwrap(), Options { nesterov: true, ..Options::default() });
    assert_eq!(error.unwrap_err(), RuleError::NesterovWithoutMomentum);
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
    rule(Coordinates::sgd(1.5, 0.1, 0.9), Options::default()).step(
        &mut [0.0f32; 3],
        &mut [0.0; 3],
        &[0.0; 2],
    );
}

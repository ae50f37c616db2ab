//! Every form of the step, compared with the stable law itself.

use super::forms::{
    self, authors, gradient, matched, noise_matched, paper, paper_sgd, rule, sgd, uniform,
};
use fuld::ParameterError;
use fuld::optimizer::{Options, Real, Rule, RuleError};
use levy_stable::SymmetricStable;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Runs a rule, and beside it (eulerv2_optim) in the paper's own variables, v and x, in doubles and
/// with the law itself.
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
            // In single precision what was rounded off a large b outlives it: each step is compared
            // by itself.
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
            both(paper(alpha, eta, friction, beta), &|v| -width / beta * law.score(width * v));
        }
        both(sgd(alpha, rate, momentum), &|v| -law.score(v));
        for kappa in [0.1, 2.0f64] {
            let slope = -law.score_derivative(0.0);
            let coordinates = matched(alpha, rate, momentum, kappa);
            assert!((coordinates.unwrap().beta() / slope * kappa.powi(2) - 1.0).abs() < 1e-14);
            both(coordinates, &|v| -kappa / slope * law.score(v / kappa));
        }
    }
}

/// s(αv)/2 from the law itself, at unit scale.
#[test]
fn the_authors_field_matches_their_code() {
    let (eta, friction) = (0.3, 0.5);
    for alpha in [0.8, 1.0, 1.2, 1.5, 1.75, 1.95, 1.999] {
        let unit = SymmetricStable::new(alpha).unwrap();
        let coordinates = authors(alpha, eta, friction);
        let h = |v: f64| -0.5 * unit.score(alpha * v);
        against_the_law(&rule(coordinates, Options::default()), (eta, friction), h, |x| x, 1e-12);
        let (ours, papers) =
            (coordinates.unwrap().slope(), paper(alpha, eta, friction, 1.0).unwrap().slope());
        assert!((ours / (-0.5 * alpha * unit.score_derivative(0.0)) - 1.0).abs() < 1e-12);
        if alpha > 1.0 {
            assert!((1.99..2.3).contains(&(papers / ours)), "alpha = {alpha}: {}", papers / ours);
        }
    }
    // At α = 2 their code is SGD, whose step is twice that just below 2.
    let gauss = authors(2.0, eta, friction);
    assert_eq!(gauss, paper(2.0, eta, friction, 1.0));
    assert!(authors(0.0, eta, friction).is_err());
    assert_eq!(authors(1.5, 0.5, 3.0), Err(RuleError::Momentum(-0.5)));
}

/// For small gradients the rule and its control take the same steps; SGD at the same learning rate
/// does not.
#[test]
fn small_steps_equal_those_of_the_small_signal_control() {
    for alpha in [1.2, 1.75] {
        let forms = [
            paper(alpha, 0.1, 0.9, 0.5),
            authors(alpha, 0.1, 0.9),
            matched(alpha, 0.01, 0.91, 0.3),
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
        let coordinates = matched(alpha, 0.04, 0.9, 0.7).unwrap();
        assert!((coordinates.slope() - 1.0).abs() < 1e-14);
        let (x, _) = rule(Ok(coordinates), Options::default()).step_one(0.0f64, 0.0, 1e-6);
        assert!((x / (-0.04 * 1e-6) - 1.0).abs() < 1e-9, "alpha = {alpha}");
    }
    // ∇G_α′(0) = α^(2/α) Γ(3/α)/Γ(1/α): 2 at α = 1.
    assert!((sgd(1.0, 0.01, 0.9).unwrap().slope() - 2.0).abs() < 1e-14);
}

#[test]
fn kappa_is_the_scale_of_the_noise() {
    let (alpha, eta, gamma, noise) = (1.5f64, 0.1f64, 0.2, 1e-3);
    let kappa = forms::kappa(alpha, eta * eta, 1.0 - gamma * eta, noise).unwrap();
    assert!((kappa.powf(alpha) / ((eta * noise).powf(alpha) / (eta * gamma)) - 1.0).abs() < 1e-12);
    assert_eq!(forms::kappa(1.5, 0.01, 1.0, 1.0), Err(RuleError::NoFriction(1.0)));
}

#[test]
fn in_the_matched_form_of_noise_the_learning_rate_is_a_factor() {
    let (alpha, momentum, noise) = (1.5, 0.9, 1e-2);
    let momentum_knee = noise * 0.1f64.powf(-1.0 / alpha);
    for lr in [1e-35, 1e-4, 0.03, 1.0] {
        let coordinates = noise_matched(alpha, lr, momentum, noise).unwrap();
        assert!((coordinates.inner() * momentum_knee - 1.0).abs() < 1e-12, "{lr}");
        assert!((coordinates.slope() - 1.0).abs() < 1e-14);
        assert!(
            (coordinates.outer()
                * coordinates.inner()
                * -SymmetricStable::kinetic(alpha).unwrap().score_derivative(0.0)
                / lr
                - 1.0)
                .abs()
                < 1e-12,
            "{lr}"
        );
    }
    let still = rule(noise_matched(alpha, 0.0, momentum, noise), Options::default());
    assert_eq!(still.step_one(3.0f64, 0.0, 1.0), (3.0, 1.0));
    assert!(noise_matched(alpha, 0.0, momentum, -1.0).is_err());
    assert!(noise_matched(alpha, 0.0, 1.0, noise).is_err());
}

#[test]
fn the_papers_form_in_the_coordinates_of_sgd() {
    let (alpha, eta, gamma, beta) = (1.3, 0.2, 0.5, 4.0f64);
    let paper = forms::paper(alpha, eta, gamma, beta).unwrap();
    let sgd = paper_sgd(alpha, eta * eta, 1.0 - gamma * eta, beta).unwrap();
    for (a, b) in [
        (paper.inner(), sgd.inner()),
        (paper.outer(), sgd.outer()),
        (paper.beta(), sgd.beta()),
        (paper.beta(), beta),
        (paper.momentum(), sgd.momentum()),
    ] {
        assert!((a / b - 1.0).abs() < 1e-14, "{a} {b}");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            paper_sgd(alpha, 0.1, 0.9, bad),
            Err(RuleError::Parameter(ParameterError::Beta(_)))
        ));
    }
}

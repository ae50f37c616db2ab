//! For every number the law returns a value in its range, without NaN or panic.

use levy_stable::SymmetricStable;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Returns a number with random bits, so that all exponents are equally likely.
fn any_number(rng: &mut Xoshiro256PlusPlus) -> f64 {
    loop {
        let x = f64::from_bits(rng.next_u64());
        if !x.is_nan() {
            return x;
        }
    }
}

fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn check(alpha: f64, scale: f64, x: f64) {
    let law = SymmetricStable::new(alpha).unwrap().with_scale(scale).unwrap();
    let at = format!("alpha = {alpha:?}, scale = {scale:?}, x = {x:?}");
    let (pdf, sf, cdf) = (law.pdf(x), law.sf(x), law.cdf(x));
    assert!(pdf >= 0.0, "pdf {pdf} at {at}");
    assert!((0.0..=1.0).contains(&sf) && (0.0..=1.0).contains(&cdf), "sf {sf}, cdf {cdf} at {at}");
    assert!((sf + cdf - 1.0).abs() < 1e-12, "sf {sf} + cdf {cdf} at {at}");
    assert!(!law.ln_pdf(x).is_nan(), "ln_pdf at {at}");
    let score = law.score(x);
    assert!(score == 0.0 || (score < 0.0) == (x > 0.0), "score {score} at {at}");
    assert!(!law.score_derivative(x).is_nan(), "score derivative at {at}");
}

#[test]
fn any_double_has_a_valid_result() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20);
    for _ in 0..60_000 {
        let alpha = match rng.next_u64() % 6 {
            0 => 2.0 - 10f64.powf(-16.0 * uniform(&mut rng)),
            1 => {
                1.0 + 10f64.powf(-16.0 * uniform(&mut rng)) - 10f64.powf(-16.0 * uniform(&mut rng))
            }
            2 => 10f64.powf(-10.0 * uniform(&mut rng)),
            _ => 2.0 * uniform(&mut rng),
        };
        let alpha = alpha.clamp(1e-12, 2.0);
        let x = if rng.next_u64() % 2 == 0 {
            any_number(&mut rng)
        } else {
            40.0 * uniform(&mut rng) - 20.0
        };
        let scale = if rng.next_u64() % 4 == 0 {
            any_number(&mut rng).abs().clamp(1e-300, 1e300)
        } else {
            1.0
        };
        check(alpha, scale, x);
    }
}

#[test]
fn edges_of_the_doubles() {
    let edges = [
        0.0,
        -0.0,
        5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        1e-300,
        1e-16,
        1.0,
        1e16,
        1e300,
        f64::MAX,
        f64::INFINITY,
    ];
    for alpha in
        [1e-300, 1e-12, 1e-3, 0.01, 0.05, 0.1, 0.3, 0.75, 1.0, 1.25, 1.93, 2.0f64.next_down(), 2.0]
    {
        for x in edges {
            check(alpha, 1.0, x);
            check(alpha, 1.0, -x);
        }
    }
}

#[test]
fn any_probability_has_a_quantile() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(21);
    for _ in 0..20_000 {
        let alpha = (2.0 * uniform(&mut rng)).max(1e-3);
        let law = SymmetricStable::new(alpha).unwrap();
        let q = 0.5 * 10f64.powf(-320.0 * uniform(&mut rng).powi(3));
        let x = law.isf(q);
        assert!(x >= 0.0, "alpha = {alpha:?}, q = {q:?}: {x}");
        assert_eq!(law.quantile(q), -x);
    }
}

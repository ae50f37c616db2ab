//! The drift of fractional Langevin Monte Carlo, compared with two other computations and with the
//! equation it solves.

use fuld::ParameterError;
use fuld::dynamics::{DifferentiableFunction, FlmcDrift, FlmcError, approximation_factor};
use fuld::numerics::riesz;

fn drift_of(
    alpha: f64,
    beta: f64,
    f: impl Fn(f64) -> f64,
    derivative: impl Fn(f64) -> f64,
    reach: f64,
) -> Result<FlmcDrift, FlmcError> {
    let f = DifferentiableFunction { value: f, derivative };
    FlmcDrift::new(crate::parameters::alpha(alpha), crate::parameters::beta(beta), f, reach)
}

fn f(x: f64) -> f64 {
    0.25 * x.powi(4) - 0.5 * x * x
}

fn slope(x: f64) -> f64 {
    x * x * x - x
}

/// 𝒟^(−s) u(x) = 1/(2Γ(s)cos(πs/2)) ∫|x−y|^(s−1) u(y) dy, 0 < s < 1: with |x−y| = w^(1/s) the
/// kernel is constant and the midpoint rule does.
fn potential(s: f64, x: f64, u: &dyn Fn(f64) -> f64) -> f64 {
    let (reach, steps) = (f64::powf(12.0, s), 200_000);
    let step = reach / f64::from(steps);
    let sum: f64 = (0..steps)
        .map(|i| {
            let r = (step * (f64::from(i) + 0.5)).powf(1.0 / s);
            u(x - r) + u(x + r)
        })
        .sum();
    step * sum / s / (2.0 * libm::tgamma(s) * (0.5 * std::f64::consts::PI * s).cos())
}

#[test]
fn quartic_by_direct_quadrature() {
    for (alpha, beta) in [(1.1, 1.0), (1.5, 1.0), (1.5, 3.0), (1.7, 0.5)] {
        let drift = drift_of(alpha, beta, f, slope, 3.5).unwrap();
        let phi = |x: f64| (-beta * f(x)).exp();
        for i in -17..=17 {
            let x = 0.19 * f64::from(i);
            let exact = -potential(2.0 - alpha, x, &|y| phi(y) * slope(y)) / phi(x);
            let error = (drift.at(x) - exact).abs() / (1.0 + exact.abs());
            // The midpoint rule is the worse of the two: its error is some 1e-8 of ∫|u|, and 1/φ(x)
            // magnifies it.
            assert!(
                error < 1e-7 + 1e-8 / phi(x) / (1.0 + exact.abs()),
                "{alpha} {beta} {x}: {} {exact}",
                drift.at(x)
            );
        }
    }
}

#[test]
fn quartic_by_the_spectral_method() {
    let (dx, n) = (0.02, 400);
    let x: Vec<f64> = (-n..=n).map(|i| dx * f64::from(i)).collect();
    let mut worst = 0.0f64;
    for (alpha, beta) in [(1.05, 1.0), (1.3, 2.0), (1.5, 1.0), (1.9, 0.5), (2.0, 1.0)] {
        let drift = drift_of(alpha, beta, f, slope, 4.0).unwrap();
        let phi = |x: f64| (-beta * f(x)).exp();
        let samples: Vec<f64> = x.iter().map(|&x| phi(x) * slope(x)).collect();
        let spectral = riesz(&samples, dx, alpha - 2.0).unwrap();
        for (&x, &value) in x.iter().zip(&spectral).filter(|(x, _)| x.abs() <= 3.0) {
            let error = (drift.at(x) * phi(x) + value).abs();
            worst = worst.max(error);
            assert!(error < 1e-10, "{alpha} {beta} {x}: {error:e}");
        }
    }
    println!("largest difference from the spectral method, in b·φ: {worst:e}");
}

#[test]
fn the_stationary_equation_is_solved() {
    // 0 = −∂(bp) − β⁻¹ 𝒟^α p, with a lopsided double well; ∂ by differences of tenth order.
    const WEIGHTS: [f64; 5] = [5.0 / 6.0, -5.0 / 21.0, 5.0 / 84.0, -5.0 / 504.0, 1.0 / 1260.0];
    let f = |x: f64| 0.25 * x.powi(4) - 0.5 * x * x + 0.3 * x;
    let slope = |x: f64| x * x * x - x + 0.3;
    let (dx, n) = (0.02, 400);
    let x: Vec<f64> = (-n..=n).map(|i| dx * f64::from(i)).collect();
    let mut worst = 0.0f64;
    for (alpha, beta) in [(0.6, 1.0), (1.0, 2.0), (1.5, 1.0), (1.5, 0.5), (1.8, 3.0)] {
        let drift = drift_of(alpha, beta, f, slope, 4.0).unwrap();
        let p = |x: f64| (-beta * f(x)).exp();
        let noise = riesz(&x.iter().map(|&x| p(x)).collect::<Vec<_>>(), dx, alpha).unwrap();
        for (&x, &noise) in x.iter().zip(&noise).filter(|(x, _)| x.abs() <= 3.0) {
            let flux = |x: f64| drift.at(x) * p(x);
            let derivative: f64 = (1..)
                .zip(WEIGHTS)
                .map(|(k, weight)| {
                    weight * (flux(x + f64::from(k) * dx) - flux(x - f64::from(k) * dx)) / dx
                })
                .sum();
            let residual = derivative + noise / beta;
            worst = worst.max(residual.abs());
            assert!(residual.abs() < 1e-8, "{alpha} {beta} {x}: {residual:e}");
        }
    }
    println!("largest residual of the Fokker-Planck equation: {worst:e}");
}

#[test]
fn gaussian_limit_ends_and_errors() {
    let newton = drift_of(2.0, 0.7, f, slope, 3.0).unwrap();
    for i in -30..=30 {
        let x = 0.1 * f64::from(i);
        assert!((newton.at(x) + slope(x)).abs() < 1e-10);
    }
    assert_eq!(newton.at(7.0), newton.at(3.0));
    assert!(newton.at(f64::NAN).is_nan() && newton.at(f64::NEG_INFINITY) > 0.0);
    assert!(matches!(drift_of(1.5, 1.0, f, slope, 0.0), Err(FlmcError::Reach(_))));
    assert!(matches!(
        drift_of(1.5, 1.0, |x| 1.0 / x, slope, 1.0),
        Err(FlmcError::NotFinite { .. })
    ));
    assert!(matches!(drift_of(1.5, 1.0, f, slope, 60.0), Err(FlmcError::Rough(_))));
    assert!(fuld::Alpha::new(2.5).is_err());
}

#[test]
fn the_approximation() {
    assert_eq!(approximation_factor(crate::parameters::alpha(2.0)), Ok(1.0));
    assert!(
        (approximation_factor(crate::parameters::alpha(1.5)).unwrap()
            - 1.7724538509055159 / 1.2254167024651776f64.powi(2))
        .abs()
            < 1e-14
    );
    assert_eq!(
        approximation_factor(crate::parameters::alpha(1.0)),
        Err(ParameterError::AlphaAboveOne(1.0))
    );
}

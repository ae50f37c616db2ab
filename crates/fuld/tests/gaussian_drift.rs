//! The drift of the Gaussian kinetic energy, compared with the formulas of papers, and its flow,
//! compared with mpmath.

use fuld::dynamics::{DriftFlow, FlowError, GaussianDrift, OddDrift};
use std::f64::consts::PI;

fn gaussian(alpha: f64, beta: f64) -> GaussianDrift {
    GaussianDrift::new(crate::parameters::alpha(alpha), crate::parameters::beta(beta))
}

/// Returns the modified Bessel function I_ν(x), computed by its series.
fn bessel_i(nu: f64, x: f64) -> f64 {
    let mut term = (0.5 * x).powf(nu) / libm::tgamma(nu + 1.0);
    let mut sum = 0.0;
    for k in 1..200 {
        sum += term;
        term *= 0.25 * x * x / (f64::from(k) * (f64::from(k) + nu));
    }
    sum
}

fn velocities() -> impl Iterator<Item = f64> {
    (1..120).map(|i| 0.1 * f64::from(i) - 0.03)
}

#[test]
fn bessel_forms_of_the_papers_supplement() {
    let gammas = libm::tgamma(0.75) * libm::tgamma(1.25) / PI.sqrt();
    let half = gaussian(0.5, 1.0);
    let three_halves = gaussian(1.5, 1.0);
    for v in velocities() {
        let (x, z) = (0.25 * v * v, 0.5 * v * v);
        let exact = 2f64.powf(0.75) * gammas * v * z.powf(-0.25) * x.exp() * bessel_i(0.25, x);
        assert!((half.at(v) / exact - 1.0).abs() < 2e-14, "{v}");
        // The difference of two Bessel functions loses digits as v grows: I_(−1/4) − I_(3/4) ~ I/x.
        let difference = bessel_i(-0.25, x) - bessel_i(0.75, x);
        let exact = 2f64.powf(0.25) * gammas * v * z.powf(0.25) * x.exp() * difference;
        assert!((three_halves.at(v) / exact - 1.0).abs() < 2e-14 * (1.0 + x), "{v}");
    }
}

#[test]
fn integral_form_of_the_papers_proof() {
    // c₁(v) e^(−v²/2) = √(2/π) ∫₀^∞ ω^(α−1) sin(ωv) e^(−ω²/2) dω; with ω = e^s the trapezoidal rule
    // converges at once.
    for alpha in [0.2, 0.7, 1.0, 1.3, 1.8] {
        let drift = gaussian(alpha, 1.0);
        for v in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let (step, mut sum) = (1e-3, 0.0);
            for i in -60_000..3_000 {
                let omega = (step * f64::from(i)).exp();
                sum += step * omega.powf(alpha) * (omega * v).sin() * (-0.5 * omega * omega).exp();
            }
            let exact = (2.0 / PI).sqrt() * sum * (0.5 * v * v).exp();
            assert!(
                (drift.at(v) / exact - 1.0).abs() < 1e-11,
                "{alpha} {v}: {} {exact}",
                drift.at(v)
            );
        }
    }
}

#[test]
fn limits_signs_and_beta() {
    let newton = gaussian(2.0, 0.3);
    assert!(velocities().all(|v| newton.at(v) == v));
    let near = gaussian(2.0 - 1e-9, 1.0);
    assert!((near.at(2.0) - 2.0).abs() < 1e-7);
    for alpha in [0.01, 0.5, 0.99, 1.0, 1.01, 1.7, 1.99] {
        let (unit, warm) = (gaussian(alpha, 1.0), gaussian(alpha, 0.25));
        let mut last = 0.0;
        for v in velocities() {
            assert!(unit.at(v) > last && unit.at(-v) == -unit.at(v));
            last = unit.at(v);
            let exact = 0.25f64.powf(0.5 * (alpha - 3.0)) * unit.at(0.5 * v);
            assert!((warm.at(v) / exact - 1.0).abs() < 1e-14);
            assert!((unit.ln_at(v) - unit.at(v).ln()).abs() < 1e-13);
        }
        assert_eq!(unit.at(f64::INFINITY), f64::INFINITY);
        assert!(unit.at(f64::NAN).is_nan());
        assert!(unit.ln_at(1e3) > 4.9e5);
    }
    assert!(fuld::Alpha::new(2.5).is_err() && fuld::Beta::new(-1.0).is_err());
}

#[test]
fn the_flow_matches_mpmath() {
    let lines = include_str!("golden/gaussian_flow.csv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1);
    let mut worst = 0.0f64;
    for (i, line) in lines.enumerate() {
        let row: Vec<f64> = line.split(',').map(|text| text.parse().expect("a number")).collect();
        let &[alpha, start, end, time] = &row[..] else { panic!("four columns: {line}") };
        for beta in if i % 10 == 0 { &[1.0, 5.0][..] } else { &[1.0] } {
            let drift = gaussian(alpha, *beta);
            let root = f64::sqrt(*beta);
            let mut v = [start / root, -start / root];
            // u = √β v has the drift of β = 1 at the time scale β^((α−2)/2).
            drift.flow().unwrap().flow(time * beta.powf(0.5 * (2.0 - alpha)), &mut v);
            let error = (v[0] * root / end - 1.0).abs();
            assert!(error < 1e-10 && v[1] == -v[0], "{line}: {} {error:e}", v[0] * root);
            worst = worst.max(error);
        }
    }
    println!("worst relative error of the flow: {worst:e}");
}

#[test]
fn flow_at_the_ends() {
    for (alpha, beta) in [(1.5, 1e300), (1.5, 1e-300)] {
        let mut v = [f64::INFINITY];
        let flow = gaussian(alpha, beta).flow().unwrap();
        flow.flow(1.0 / flow.slope(), &mut v);
        assert!((0.1..5.0).contains(&(v[0] * f64::sqrt(beta))), "{v:?}");
    }
    for alpha in [0.1, 0.5, 1.0, 1.5, 1.9, 1.999999] {
        let flow = gaussian(alpha, 1.0).flow().unwrap();
        let mut v = [f64::INFINITY, 1e300, 40.0, 14.0, f64::NAN, 0.0, -0.0, 1e-200, 1e-310];
        flow.flow(0.0, &mut v);
        assert_eq!(v[0], f64::INFINITY);
        let decay = f64::exp(-flow.slope() * 0.02);
        flow.flow(0.02, &mut v);
        // The flow no longer depends on the start.
        assert!(
            v[0] < 14.0
                && (v[0] / v[3] - 1.0).abs() < 1e-12
                && v[0] == v[1]
                && (v[0] / v[2] - 1.0).abs() < 1e-12,
            "{alpha} {v:?}"
        );
        assert!(v[4].is_nan() && v[5] == 0.0 && v[6] == 0.0 && v[6].is_sign_negative());
        assert!((v[7] / (1e-200 * decay) - 1.0).abs() < 1e-11);
        assert!((v[8] / (1e-310 * decay) - 1.0).abs() < 1e-9);
        let mut late = [3.0, f64::INFINITY];
        flow.flow(1e6, &mut late);
        assert_eq!(late, [0.0, 0.0]);
    }
}

#[test]
fn flow_composes() {
    let flow = gaussian(1.3, 2.0).flow().unwrap();
    for i in 1..400 {
        let start = 0.03 * f64::from(i);
        let (mut once, mut twice) = ([start], [start]);
        flow.flow(0.15, &mut once);
        flow.flow(0.05, &mut twice);
        flow.flow(0.1, &mut twice);
        assert!((once[0] / twice[0] - 1.0).abs() < 1e-11, "{start}");
    }
}

#[test]
fn the_flow_at_alpha_2_is_exponential_decay() {
    let flow = gaussian(2.0, 1.0).flow().unwrap();
    let mut v = [0.3, -7.0, f64::INFINITY];
    flow.flow(0.7, &mut v);
    let decay = libm::exp(-0.7);
    assert_eq!(v, [0.3 * decay, -7.0 * decay, f64::INFINITY]);
}

#[test]
fn flows_of_powers_in_closed_form() {
    // c = v + v³: v² ← D²v²/(1 + (1 − D²)v²). T is finite, and the power law beyond the table is
    // exact.
    let cubic = DriftFlow::new(OddDrift {
        drift: |v: f64| v + v * v * v,
        slope: 1.0,
        reach: f64::INFINITY,
    })
    .unwrap();
    let decay = f64::exp(-0.1);
    for i in -200..600 {
        let start = f64::exp(0.1 * f64::from(i));
        let mut v = [start];
        cubic.flow(0.1, &mut v);
        let d2 = decay * decay;
        let exact = (d2 / (1.0 / (start * start) + 1.0 - d2)).sqrt();
        assert!((v[0] / exact - 1.0).abs() < 1e-10, "{start} {} {exact}", v[0]);
    }
    // c = v/√(1+v²) is bounded, so T is infinite: ∫dv/c = √(1+v²) − arsinh(1/v).
    let bounded = DriftFlow::new(OddDrift {
        drift: |v: f64| v / (1.0 + v * v).sqrt(),
        slope: 1.0,
        reach: f64::INFINITY,
    })
    .unwrap();
    let time = |v: f64| (1.0 + v * v).sqrt() - (1.0 / v).asinh();
    for start in [1e-3, 0.1, 1.0, 5.0, 40.0, 1e3, 1e6] {
        for t in [1e-3, 0.5, 3.0] {
            let mut v = [start];
            bounded.flow(t, &mut v);
            let error = (time(start) - time(v[0]) - t) / (1.0 + time(start).abs());
            // Beyond the table the drift is a power of v: here 1 instead of 1 − 1/(2v²).
            let allowed = if start <= bounded.reach() { 1e-10 } else { 1e-6 };
            assert!(error.abs() < allowed, "{start} {t} {}: {error:e}", v[0]);
        }
    }
    let mut v = [f64::INFINITY];
    bounded.flow(1.0, &mut v);
    assert_eq!(v, [f64::INFINITY]);
}

#[test]
fn functions_that_are_not_frictions_are_refused() {
    assert_eq!(
        DriftFlow::new(OddDrift { drift: |v: f64| v, slope: 0.0, reach: 1.0 }).unwrap_err(),
        FlowError::Slope(0.0)
    );
    assert_eq!(
        DriftFlow::new(OddDrift { drift: |v: f64| v, slope: 1.0, reach: -1.0 }).unwrap_err(),
        FlowError::Reach(-1.0)
    );
    assert_eq!(
        DriftFlow::linear(f64::NAN).map(|_| ()).unwrap_err().to_string(),
        "the slope of the drift at 0 must be positive and finite, got NaN"
    );
    assert!(matches!(
        DriftFlow::new(OddDrift { drift: |v: f64| v * (1.0 - v), slope: 1.0, reach: 9.0 }),
        Err(FlowError::Drift { .. })
    ));
    assert!(
        DriftFlow::new(OddDrift {
            drift: |v: f64| v + (1e6 * v).sin().abs(),
            slope: 1.0,
            reach: 9.0
        })
        .is_err()
    );
}

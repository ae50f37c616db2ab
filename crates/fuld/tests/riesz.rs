//! The Riesz derivative on grids, compared with closed forms and with its properties on the line.

use fuld::numerics::{RieszError, riesz, riesz_of_gaussian};

/// Returns the grid −L, −L + dx, …, L.
fn grid(reach: f64, dx: f64) -> Vec<f64> {
    let n = (reach / dx).round() as i64;
    (-n..=n).map(|i| i as f64 * dx).collect()
}

fn bell(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| (-0.5 * x * x).exp()).collect()
}

/// Returns the largest difference for |x| ≤ `within`, relative to the largest |b| there.
fn distance(x: &[f64], a: &[f64], b: &[f64], within: f64) -> f64 {
    let inside = || (0..x.len()).filter(|&i| x[i].abs() <= within);
    let size = inside().map(|i| b[i].abs()).fold(0.0, f64::max);
    inside().map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max) / size
}

#[test]
fn gaussians_match_the_closed_form() {
    let mut worst = 0.0f64;
    for (reach, dx) in [(12.0, 0.25), (12.0, 0.1), (40.0, 0.2)] {
        let x = grid(reach, dx);
        let u = bell(&x);
        for order in [-0.9, -0.5, -0.1, 1e-3, 0.3, 0.5, 1.0, 1.3, 1.7, 2.0, 2.5, 3.0] {
            let exact: Vec<f64> = x.iter().map(|&x| riesz_of_gaussian(order, x)).collect();
            let error = distance(&x, &riesz(&u, dx, order).unwrap(), &exact, reach);
            let rounding = 4e-15 * (std::f64::consts::PI / dx).powf(order.max(0.0));
            assert!(error < rounding, "order {order}, dx {dx}: {error:e}");
            worst = worst.max(4e-15 * error / rounding);
        }
    }
    println!("worst: {worst:e} (pi/dx)^order");
}

#[test]
fn order_zero_is_the_identity_and_order_two_minus_the_second_derivative() {
    let x = grid(10.0, 0.2);
    let u: Vec<f64> = x.iter().map(|x| (x - 0.3 * x * x) * (-0.5 * x * x).exp()).collect();
    assert_eq!(riesz(&u, 0.2, 0.0).unwrap(), u);
    let second: Vec<f64> = x
        .iter()
        .map(|&x| {
            let (p, dp, ddp) = (x - 0.3 * x * x, 1.0 - 0.6 * x, -0.6);
            (ddp - 2.0 * x * dp + (x * x - 1.0) * p) * (-0.5 * x * x).exp()
        })
        .collect();
    let minus: Vec<f64> = second.iter().map(|value| -value).collect();
    assert!(distance(&x, &riesz(&u, 0.2, 2.0).unwrap(), &minus, 10.0) < 1e-12);
}

#[test]
fn orders_are_additive() {
    let dx = 0.25;
    for (reach, a, b) in [
        (400.0, 1.2, 0.8),
        (400.0, 2.0, 0.5),
        (400.0, 2.0, -0.5),
        (400.0, 0.7, 0.6),
        (1600.0, -0.4, 1.5),
    ] {
        let x = grid(reach, dx);
        let u = bell(&x);
        let twice = riesz(&riesz(&u, dx, b).unwrap(), dx, a).unwrap();
        let once = riesz(&u, dx, a + b).unwrap();
        let error = distance(&x, &twice, &once, 10.0);
        let cut: f64 = reach.powf(-1.0 - a - b);
        assert!(error < 10.0 * cut.max(1e-14), "{a} after {b}: {error:e}, allowed {cut:e}");
    }
}

#[test]
fn riesz_potentials_match_their_integral() {
    // 𝒟^(−s) u(0) = 1/(2Γ(s)cos(πs/2)) ∫|y|^(s−1) u(y) dy, for u = 1/(1+y²) the Beta integral
    // π/sin(πs/2): far tails, and still right to what the cut leaves over, 2L^(s−2)/(2−s).
    let (reach, dx, s) = (2000.0, 0.25, 0.4f64);
    let x = grid(reach, dx);
    let u: Vec<f64> = x.iter().map(|y| 1.0 / (1.0 + y * y)).collect();
    let factor = 1.0 / (2.0 * libm::tgamma(s) * (0.5 * std::f64::consts::PI * s).cos());
    let exact = factor * std::f64::consts::PI / (0.5 * std::f64::consts::PI * s).sin();
    let cut = factor * 2.0 * reach.powf(s - 2.0) / (2.0 - s);
    let ours = riesz(&u, dx, -s).unwrap()[x.len() / 2];
    assert!((ours - (exact - cut)).abs() < 2e-6, "{ours} {exact} {cut:e}");
}

#[test]
fn errors_name_the_invalid_input() {
    assert_eq!(riesz(&[1.0], 1.0, -1.0), Err(RieszError::Order(-1.0)));
    assert!(matches!(riesz(&[1.0], 1.0, f64::NAN), Err(RieszError::Order(_))));
    assert_eq!(riesz(&[1.0], 0.0, 1.0), Err(RieszError::Spacing(0.0)));
    assert_eq!(
        riesz(&[1.0, f64::INFINITY], 1.0, 1.0),
        Err(RieszError::Sample { index: 1, value: f64::INFINITY })
    );
    assert_eq!(riesz(&[], 1.0, 1.0), Ok(vec![]));
    assert!((riesz(&[1.0], 1.0, 1.0).unwrap()[0] - std::f64::consts::PI / 2.0).abs() < 1e-15);
}

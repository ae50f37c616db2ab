//! User-defined kinetic energies, compared with the two that have closed forms and with the
//! spectral derivative.

use fuld::dynamics::{CustomKinetic, DifferentiableFunction, GaussianDrift, KineticError};
use fuld::numerics::riesz;
use levy_stable::SymmetricStable;

fn custom<V: Fn(f64) -> f64, G: Fn(f64) -> f64>(
    alpha: f64,
    beta: f64,
    g: V,
    derivative: G,
) -> Result<CustomKinetic<V, G>, KineticError> {
    CustomKinetic::new(
        crate::parameters::alpha(alpha),
        crate::parameters::beta(beta),
        DifferentiableFunction { value: g, derivative },
    )
}

#[test]
fn the_gaussian_energy() {
    let mut worst = 0.0f64;
    for (alpha, beta) in [
        (0.3, 1.0),
        (0.8, 2.0),
        (1.0, 1.0),
        (1.2, 0.25),
        (1.5, 1.0),
        (1.9, 4.0),
        (1.9999, 1.0),
        (2.0, 3.0),
    ] {
        let exact =
            GaussianDrift::new(crate::parameters::alpha(alpha), crate::parameters::beta(beta));
        let ours = custom(alpha, beta, |v| 0.5 * v * v, |v| v).unwrap();
        assert!((20.0..24.0).contains(&(ours.reach() * f64::sqrt(beta))), "{}", ours.reach());
        let points = 3000;
        for i in 1..=points {
            let v = ours.reach() * f64::from(i) / f64::from(points);
            let error = (ours.friction(v) / exact.at(v) - 1.0).abs();
            assert!(error < 1e-10, "{alpha} {beta} {v}: {error:e}");
            assert_eq!(ours.friction(-v), -ours.friction(v));
            worst = worst.max(error);
        }
        let flow = exact.flow().unwrap();
        let (mut a, mut b) = ([0.1, 2.0, 9.0, 40.0], [0.1, 2.0, 9.0, 40.0]);
        flow.flow(0.3, &mut a);
        ours.flow().flow(0.3, &mut b);
        assert!(a.iter().zip(&b).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{alpha}: {a:?} {b:?}");
        assert_eq!(ours.transport(0.7), 0.7);
    }
    println!("worst relative error of the Gaussian drift: {worst:e}");
}

#[test]
fn the_stable_energy_has_linear_friction() {
    let mut worst = 0.0f64;
    for (alpha, beta) in [(0.7, 1.0), (1.0, 0.5), (1.5, 1.0), (1.8, 2.0)] {
        let law = SymmetricStable::new(alpha)
            .unwrap()
            .with_scale(f64::powf(alpha * beta, -1.0 / alpha))
            .unwrap();
        let (g, slope) = (|v: f64| -law.ln_pdf(v) / beta, |v: f64| -law.score(v) / beta);
        let kinetic = custom(alpha, beta, g, slope).unwrap();
        for i in -300..=1000 {
            let v = f64::powf(10.0, 0.01 * f64::from(i));
            let error = (kinetic.friction(v) / v - 1.0).abs();
            if v <= kinetic.reach() {
                assert!(error < 1e-10, "{alpha} {v}: {error:e}");
                worst = worst.max(error);
            }
            assert!(error < 1e-7, "{alpha} {v}: {error:e}");
        }
        let mut v = [1e-3, 1.0, 1e4];
        kinetic.flow().flow(0.5, &mut v);
        let decay = f64::exp(-0.5);
        assert!(
            v.iter()
                .zip([1e-3, 1.0, 1e4])
                .all(|(v, start)| (v / (decay * start) - 1.0).abs() < 1e-9),
            "{v:?}"
        );
    }
    println!("worst relative error of the stable drift: {worst:e}");
}

#[test]
fn a_new_energy_agrees_with_the_spectral_derivative() {
    // g = ln cosh v: light tails, so that a grid covers ψ g′. β = 2: ψ = 1/cosh².
    let (alpha, beta, dx) = (1.4, 2.0, 0.05);
    let slope = |v: f64| v.tanh();
    let kinetic =
        custom(alpha, beta, |v: f64| v.abs() + (0.5 * (-2.0 * v.abs()).exp() + 0.5).ln(), slope)
            .unwrap();
    let x: Vec<f64> = (-400..=400).map(|i| dx * f64::from(i)).collect();
    let psi = |v: f64| v.cosh().powi(-2);
    let samples: Vec<f64> = x.iter().map(|&v| psi(v) * slope(v)).collect();
    let spectral = riesz(&samples, dx, alpha - 2.0).unwrap();
    for (&v, &value) in x.iter().zip(&spectral).filter(|(v, _)| v.abs() <= 6.0) {
        let ours = kinetic.friction(v) * psi(v);
        assert!((ours - value).abs() < 1e-12, "{v}: {ours} {value}");
    }
}

#[test]
fn functions_that_are_not_kinetic_energies_are_refused() {
    let refused =
        |g: fn(f64) -> f64, slope: fn(f64) -> f64| custom(1.5, 1.0, g, slope).unwrap_err();
    assert!(matches!(refused(|v| v * v + v, |v| 2.0 * v + 1.0), KineticError::NotEven { .. }));
    assert!(matches!(refused(|_| f64::NAN, |_| 0.0), KineticError::NotFinite { .. }));
    assert!(matches!(
        refused(|v| 0.4 * (1.0 + v * v).ln(), |v| 0.8 * v / (1.0 + v * v)),
        KineticError::NotIntegrable { .. }
    ));
    assert!(matches!(
        refused(|v| v.abs(), f64::signum),
        KineticError::NotEven { .. } | KineticError::Drift(_)
    ));
    assert!(fuld::Alpha::new(0.0).is_err());
}

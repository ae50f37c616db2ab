//! The Gibbs law, compared with closed forms, and potentials without one.

use fuld::Beta;
use fuld::gibbs::{Gibbs, GibbsError};
use fuld::potential::{Formula, Rosenbrock};
use levy_stable::SymmetricStable;
use std::f64::consts::PI;

fn law(formula: &str, beta: f64) -> Gibbs {
    let potential: Formula = formula.parse().unwrap();
    Gibbs::new(&potential, Beta::new(beta).unwrap())
        .unwrap_or_else(|error| panic!("{formula}: {error}"))
}

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} {b}");
}

/// Gaussians of any centre and width.
#[test]
fn harmonic_wells() {
    let normal = SymmetricStable::kinetic(2.0).unwrap();
    for (formula, mean, sd) in [
        ("x^2/2", 0.0f64, 1.0),
        ("(x-300)^2", 300.0, 0.5f64.sqrt()),
        ("1e12*(x-300)^2/2", 300.0, 1e-6),
        ("(x+1e7)^2/2", -1e7, 1.0),
        ("(x/1e9)^2/2", 0.0, 1e9),
        ("x^2/2e-20 + 1e3", 0.0, 1e-10),
        ("1e300*x^2/2", 0.0, 1e-150),
    ] {
        let law = law(formula, 1.0);
        for z in [-6.0, -2.5, -1.0, -0.1, 0.0, 0.3, 1.7, 5.0] {
            // Next to 300 the positions themselves are rounded.
            let rounding = 1e-10 + 4.0 * f64::EPSILON * mean.abs() / sd;
            close(law.cdf(mean + sd * z), normal.cdf(z), rounding);
            close(law.density(mean + sd * z) * sd, normal.pdf(z), 10.0 * rounding);
            close(
                law.quantile(normal.cdf(z)),
                mean + sd * z,
                sd * 1e-8 + rounding * sd * 1e8 * f64::from(z.abs() > 4.0),
            );
        }
        assert_eq!(law.modes().len(), 1, "{formula}");
        close(law.modes()[0], mean, 1e-8 * sd + f64::EPSILON * mean.abs());
        close(law.expectation(|x| ((x - mean) / sd).powi(2)), 1.0, 1e-9 + 1e-15 * mean.abs() / sd);
    }
}

#[test]
fn beta_scales_the_potential() {
    close(law("x^2/2", 4.0).expectation(|x| x * x), 0.25, 1e-11);
}

/// Tails of a power law: the Cauchy law, and one that hardly can be normalised.
#[test]
fn heavy_tails() {
    let cauchy = law("log(1 + x^2)", 1.0);
    for x in [-1e6, -30.0, -1.0, 0.0, 0.2, 7.0, 1e5] {
        close(cauchy.cdf(x), 0.5 + x.atan() / PI, 1e-10);
        close(cauchy.density(x) * PI * (1.0 + x * x), 1.0, 1e-9);
    }
    close(cauchy.quantile(0.75), 1.0, 1e-9);
    close(cauchy.quantile(1e-6) * 1e-6 * PI, -1.0, 1e-4);
    assert_eq!(cauchy.modes().len(), 1);
    // (1 + x²)^(−0.6): Z = √π Γ(0.1)/Γ(0.6).
    let slow = law("0.6*log(1 + x^2)", 1.0);
    let z = PI.sqrt() * libm::tgamma(0.1) / libm::tgamma(0.6);
    close(slow.density(0.0) * z, 1.0, 1e-8);
}

/// ∫ e^(−x⁴/4) dx = 4^(1/4) Γ(1/4)/2 and E x² = 2 Γ(3/4)/Γ(1/4).
#[test]
fn quartic() {
    let law = law("x^4/4", 1.0);
    let (quarter, three) = (libm::tgamma(0.25), libm::tgamma(0.75));
    close(law.density(0.0), 2.0 / (2f64.sqrt() * quarter), 1e-10);
    close(law.expectation(|x| x * x), 2.0 * three / quarter, 1e-10);
}

/// Two wells with an impassable barrier, and unequal ones.
#[test]
fn separate_wells() {
    let far = law("x^4/4 - 50*x^2", 1.0);
    assert_eq!(far.modes().len(), 2);
    close(far.modes()[0], -10.0, 1e-8);
    close(far.modes()[1], 10.0, 1e-8);
    close(far.cdf(0.0), 0.5, 1e-10);
    close(far.density(0.0), 0.0, 1e-300);
    // Widths 1 and 0.05, masses 1:3 by the heights.
    let uneven = law("-log(exp(-x^2/2) + 60*exp(-(x-20)^2/0.005))", 1.0);
    close(uneven.cdf(10.0), 0.25, 1e-9);
    close(uneven.quantile(0.625), 20.0, 1e-9);
    // Many narrow modes, none of which may be missed.
    let rippled = law("(x/50)^2/2 + 3*cos(5*x)", 1.0);
    assert!(rippled.modes().len() > 200);
    close(rippled.cdf(0.0), 0.5, 1e-10);
    close(rippled.expectation(|x| x * x) / 2500.0, 1.0, 1e-3);
}

/// Where f is NaN the density is 0: a Gamma law.
#[test]
fn a_potential_may_be_undefined_on_a_half_line() {
    let gamma = law("x - 3*log(x)", 1.0);
    close(gamma.cdf(-0.5), 0.0, 0.0);
    close(gamma.expectation(|x| x), 4.0, 1e-8);
    close(gamma.modes()[0], 3.0, 1e-8);
}

/// Densities with a pole that can be integrated: Gamma(a) has the density x^(a − 1) e^(−x), and
/// P(Gamma(1/2) ≤ 1) is erf(1).
#[test]
fn poles_may_be_integrable() {
    let gamma = law("x + 0.5*log(x)", 1.0);
    close(gamma.cdf(0.0), 0.0, 1e-12);
    close(gamma.cdf(1.0), 0.842_700_792_949_714_9, 1e-9);
    close(gamma.expectation(|x| x), 0.5, 1e-9);
    close(law("x + 0.9*log(x)", 1.0).expectation(|x| x), 0.1, 1e-7);
    // Two sides: x² is the Gamma law above.
    close(law("x^2/2 + 0.5*log(abs(x))", 1.0).expectation(|x| x * x), 0.5, 1e-9);
    // A pole at 1.
    close(law("x + 0.5*log(x - 1)", 1.0).expectation(|x| x), 1.5, 1e-6);
}

#[test]
fn densities_that_cannot_be_normalised_are_refused() {
    let error = |formula: &str| {
        let potential: Formula = formula.parse().unwrap();
        Gibbs::new(&potential, Beta::ONE).err().unwrap_or_else(|| panic!("{formula} has a law"))
    };
    for formula in ["x", "-x^2", "x^3", "x^2 - x^4", "-abs(x)", "exp(x)", "-log(1 + x^2)"] {
        assert!(matches!(error(formula), GibbsError::Falls(_)), "{formula}: {}", error(formula));
    }
    for formula in
        ["0.3*log(1 + x^2)", "0.5*log(1 + x^2)", "0.2*log(1 + x^4)", "sin(x)", "-1/(1 + x^2)"]
    {
        assert!(
            matches!(error(formula), GibbsError::Tails { .. }),
            "{formula}: {}",
            error(formula)
        );
    }
    for formula in ["x + log(x)", "x + 2*log(x)", "x^2 + log(abs(x))", "x^2 - 1/abs(x)"] {
        assert!(matches!(error(formula), GibbsError::Pole { .. }), "{formula}: {}", error(formula));
    }
    assert_eq!(error("0*x + 1"), GibbsError::Nowhere);
    assert_eq!(error("log(-1 - x^2)"), GibbsError::Nowhere);
    let plane: Formula = "x^2 + y^2".parse().unwrap();
    assert!(Gibbs::new(&plane, Beta::ONE).unwrap_err().to_string().contains("dimension 1, got 2"));
    let well: Formula = "x^2".parse().unwrap();
    assert!(Beta::new(0.0).is_err() && Gibbs::marginals(&well, Beta::ONE).is_err());
}

#[test]
fn unusual_arguments_do_not_panic() {
    let law = law("x^4/4 - x^2/2", 1.0);
    assert_eq!((law.cdf(f64::NEG_INFINITY), law.density(f64::INFINITY)), (0.0, 0.0));
    assert!((law.cdf(f64::INFINITY) - 1.0).abs() < 1e-12);
    assert!(
        law.cdf(f64::NAN).is_nan() && law.quantile(1.5).is_nan() && law.quantile(f64::NAN).is_nan()
    );
    assert!(law.quantile(0.0) < -3.0 && law.quantile(1.0) > 3.0);
}

/// Variances of a correlated Gaussian are the diagonal of the inverse; Rosenbrock's first marginal
/// is a Gaussian, and its second the law of that one's square with noise.
#[test]
fn two_coordinates() {
    let gaussian: Formula = "(4*(x-1)^2 + 2*(x-1)*y + y^2)/2".parse().unwrap();
    let [x, y] = Gibbs::marginals(&gaussian, Beta::new(2.0).unwrap()).unwrap();
    close(x.expectation(|x| x), 1.0, 1e-7);
    close(x.expectation(|x| (x - 1.0).powi(2)), 1.0 / 6.0, 1e-7);
    close(y.expectation(|y| y * y), 4.0 / 6.0, 1e-7);
    close(x.modes()[0], 1.0, 1e-6);
    let normal = SymmetricStable::kinetic(2.0).unwrap();
    close(y.cdf(1.0), normal.cdf(1.5f64.sqrt()), 1e-7);

    let [x, y] = Gibbs::marginals(&Rosenbrock::new(2, 1.0, 100.0).unwrap(), Beta::ONE).unwrap();
    for at in [-1.5, 0.0, 1.0, 2.5] {
        close(x.cdf(at), normal.cdf((at - 1.0) * 2f64.sqrt()), 1e-7);
    }
    close(y.expectation(|y| y), 1.5, 1e-5);

    let free: Formula = "x^2 + 0*y".parse().unwrap();
    assert!(Gibbs::marginals(&free, Beta::ONE).is_err());
    let cauchy: Formula = "log(1 + x^2) + log(1 + y^2)".parse().unwrap();
    let [x, _] = Gibbs::marginals(&cauchy, Beta::ONE).unwrap();
    close(x.cdf(3.0), 0.5 + 3f64.atan() / PI, 1e-7);
}

#[test]
fn tails_have_their_exponents() {
    let exponent = |f: &str, beta: f64| law(f, beta).tail_exponent();
    // e^(−βf) = (1 + x²)^(−β): P(|X| > r) ~ r^(1 − 2β).
    for (beta, exact) in [(1.0, 1.0), (1.5, 2.0), (2.5, 4.0)] {
        assert!(
            (exponent("log(1 + x^2)", beta) / exact - 1.0).abs() < 0.01,
            "{beta}: {}",
            exponent("log(1 + x^2)", beta)
        );
    }
    assert!(exponent("x^2/2", 1.0) > 20.0 && exponent("(x - 300)^2", 1.0) > 20.0);
}

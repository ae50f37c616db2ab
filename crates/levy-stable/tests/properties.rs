//! Properties of the law: symmetry, normalisation, derivatives, scaling, continuity.

use levy_stable::{FieldTable, ParameterError, Regime, SymmetricStable};

const ALPHAS: [f64; 16] =
    [0.1, 0.25, 0.3, 0.5, 0.74, 0.76, 0.9, 0.999, 1.0, 1.001, 1.24, 1.26, 1.5, 1.9, 1.999, 2.0];

fn law(alpha: f64) -> SymmetricStable {
    SymmetricStable::new(alpha).unwrap()
}

/// x = 10^e for e from `from` to `to`, at `n` points that are not round numbers.
fn decades(from: f64, to: f64, n: usize) -> impl Iterator<Item = f64> {
    (0..n).map(move |i| 10f64.powf(from + (to - from) * (i as f64 + 0.37) / n as f64))
}

#[test]
fn parameters_are_checked() {
    for alpha in [0.0, -1.0, 2.1, f64::NAN, f64::INFINITY, 2.0000000000000004, 1e-320] {
        let error = SymmetricStable::new(alpha).unwrap_err();
        assert!(error.to_string().contains(&alpha.to_string()), "{error}");
    }
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            SymmetricStable::new(1.5).unwrap().with_scale(scale),
            Err(ParameterError::Scale(_))
        ));
    }
    assert!(SymmetricStable::new(2.0).is_ok() && SymmetricStable::new(1e-3).is_ok());
    // The scale of the law of ∇G_α nears the largest double: no fault of a scale that anyone gave.
    assert!(SymmetricStable::kinetic(0.0075).is_ok());
    assert_eq!(SymmetricStable::kinetic(0.005), Err(ParameterError::KineticAlpha(0.005)));
    assert_eq!(FieldTable::new(0.005), Err(ParameterError::TableAlpha(0.005)));
}

#[test]
fn symmetric_to_the_last_bit() {
    for alpha in ALPHAS {
        let law = law(alpha);
        for x in decades(-12.0, 12.0, 200) {
            assert_eq!(law.pdf(x), law.pdf(-x));
            assert_eq!(law.ln_pdf(x), law.ln_pdf(-x));
            assert_eq!(law.score(x), -law.score(-x));
            assert_eq!(law.score_derivative(x), law.score_derivative(-x));
            assert_eq!(law.cdf(x), law.sf(-x));
        }
        for p in [1e-9, 0.01, 0.3, 0.499] {
            assert_eq!(law.quantile(p), -law.isf(p));
        }
    }
}

#[test]
fn limits() {
    for alpha in ALPHAS {
        let law = law(alpha);
        let infinity = f64::INFINITY;
        assert_eq!((law.pdf(infinity), law.sf(infinity), law.cdf(infinity)), (0.0, 0.0, 1.0));
        assert_eq!((law.sf(-infinity), law.cdf(-infinity)), (1.0, 0.0));
        assert_eq!(law.ln_pdf(infinity), -infinity);
        assert_eq!(law.score(infinity), if alpha == 2.0 { -infinity } else { 0.0 });
        assert_eq!(
            (law.quantile(0.0), law.quantile(0.5), law.quantile(1.0)),
            (-infinity, 0.0, infinity)
        );
        assert!(
            law.quantile(-0.1).is_nan() && law.quantile(1.1).is_nan() && law.isf(f64::NAN).is_nan()
        );
        assert_eq!((law.score(0.0), law.sf(0.0)), (0.0, 0.5));
        assert!(law.score(-0.0).is_sign_positive() && law.score(0.0).is_sign_negative());
        for f in [
            SymmetricStable::pdf,
            SymmetricStable::ln_pdf,
            SymmetricStable::cdf,
            SymmetricStable::sf,
        ] {
            assert!(f(&law, f64::NAN).is_nan());
        }
        assert!(law.score(f64::NAN).is_nan() && law.score_derivative(f64::NAN).is_nan());
        // x d/dx ln ψ → −(1 + α) far out
        if alpha < 2.0 {
            let far = 10f64.powf(20.0 / alpha);
            assert!((law.score(far) * far + 1.0 + alpha).abs() < 1e-13);
        }
    }
}

#[test]
fn density_falls_and_tail_falls() {
    for alpha in ALPHAS {
        let law = law(alpha);
        let mut last = (f64::INFINITY, f64::INFINITY);
        for x in decades(-3.0, 6.0, 20_000) {
            let here = (law.pdf(x), law.sf(x));
            // Neighbouring values may differ by less than the error of the law.
            assert!(
                here.0 <= last.0 * (1.0 + 1e-13) && here.1 <= last.1 * (1.0 + 1e-13),
                "alpha = {alpha}, x = {x}"
            );
            last = here;
        }
    }
}

/// ∫₀^b ψ dx = 1/2 − sf(b), by the trapezoidal rule in ln x.
#[test]
fn density_integrates_to_the_distribution() {
    for alpha in ALPHAS {
        let law = law(alpha);
        let step = 0.02;
        let left = if alpha < 0.3 { -200.0 } else { -60.0 };
        for b in [0.01f64, 1.0, 100.0] {
            // The integrand falls to the left, but not to the right: end there by Gregory's
            // correction of order 8.
            let end = b.ln();
            let at = |k: usize| {
                let x = (end - k as f64 * step).exp();
                x * law.pdf(x)
            };
            let n = ((end - left) / step) as usize;
            let mut sum: f64 = (0..n).map(at).sum();
            let gregory = [
                1.0 / 2.0,
                1.0 / 12.0,
                1.0 / 24.0,
                19.0 / 720.0,
                3.0 / 160.0,
                863.0 / 60480.0,
                275.0 / 24192.0,
            ];
            let mut differences: Vec<f64> = (0..gregory.len()).map(at).collect();
            for c in gregory {
                sum -= c * differences[0];
                differences = differences.windows(2).map(|w| w[0] - w[1]).collect();
            }
            let exact = 0.5 - law.sf(b);
            assert!(
                (sum * step - exact).abs() < 3e-13,
                "alpha = {alpha}, b = {b}: {} for {exact}",
                sum * step
            );
        }
    }
}

/// f′ by central differences of order 8 and step h in ln x: truncation of order h⁸, rounding
/// 1e-15/h.
fn derivative(f: impl Fn(f64) -> f64, x: f64, h: f64) -> f64 {
    let weights = [(1.0f64, 4.0 / 5.0), (2.0, -1.0 / 5.0), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0)];
    let sum: f64 =
        weights.iter().map(|&(k, w)| w * (f(x * (k * h).exp()) - f(x * (-k * h).exp()))).sum();
    sum / h / x
}

#[test]
fn derivatives_match_central_differences() {
    for alpha in ALPHAS {
        let law = law(alpha);
        for x in decades(-2.0, 3.0, 150) {
            let (pdf, score) = (law.pdf(x), law.score(x));
            if pdf < 1e-250 {
                continue;
            }
            let close = |ours: f64, exact: f64, size: f64| {
                assert!(
                    (ours - exact).abs() < 1e-10 * size,
                    "alpha = {alpha}, x = {x}: {ours} for {exact}"
                );
            };
            let h = 0.01 / (1.0 - x * score);
            close(derivative(|x| law.ln_pdf(x), x, h), score, -score + 1.0 / x);
            close(-derivative(|x| law.sf(x), x, h), pdf, pdf + law.sf(x) / x);
            let second = law.score_derivative(x);
            close(
                derivative(|x| law.score(x), x, h),
                second,
                second.abs() + score * score - score / x,
            );
        }
    }
}

#[test]
fn the_scale_only_rescales() {
    for alpha in ALPHAS {
        let (unit, wide) =
            (law(alpha), SymmetricStable::new(alpha).unwrap().with_scale(8.0).unwrap());
        for x in decades(-3.0, 3.0, 50) {
            // A power of two rescales without rounding.
            assert_eq!(wide.pdf(8.0 * x), unit.pdf(x) / 8.0);
            assert_eq!(wide.sf(8.0 * x), unit.sf(x));
            assert_eq!(wide.score(8.0 * x), unit.score(x) / 8.0);
            assert_eq!(wide.score_derivative(8.0 * x), unit.score_derivative(x) / 64.0);
        }
        assert_eq!(wide.isf(0.1), 8.0 * unit.isf(0.1));
    }
}

/// The jump in every function across the x where the formula changes is below rounding.
#[test]
fn continuous_across_regimes() {
    for i in 0..400 {
        let alpha = 0.05 + 1.95 * (i as f64 + 0.5) / 400.0;
        let law = law(alpha);
        for (from, to, below) in [(1e-200, 1.0, Regime::Origin), (1e-3, 1e3, Regime::Contour)] {
            let (mut low, mut high): (f64, f64) = (from, to);
            if law.regime(low) != below || law.regime(high) == below {
                continue;
            }
            while high > low.next_up() {
                let middle =
                    if high > 4.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
                if law.regime(middle) == below { low = middle } else { high = middle }
            }
            let bound = if alpha < 0.3 { 2e-12 } else { 4e-14 };
            for f in [SymmetricStable::pdf, SymmetricStable::sf, SymmetricStable::score] {
                let jump = (f(&law, high) / f(&law, low) - 1.0).abs();
                assert!(jump < bound, "alpha = {alpha}, x = {low}: jump {jump:.1e}");
            }
        }
    }
}

#[test]
fn continuous_at_one_and_two() {
    let all = [
        SymmetricStable::pdf,
        SymmetricStable::sf,
        SymmetricStable::score,
        SymmetricStable::score_derivative,
    ];
    for x in decades(-6.0, 6.0, 300) {
        let cauchy = law(1.0);
        for alpha in [1.0f64.next_down(), 1.0f64.next_up(), 1.0 - 1e-14, 1.0 + 1e-14] {
            for f in all {
                let size = f(&cauchy, x).abs() + if x > 0.5 && x < 2.0 { 1.0 } else { 0.0 };
                assert!(
                    (f(&law(alpha), x) - f(&cauchy, x)).abs() < 1e-12 * size,
                    "alpha = {alpha}, x = {x}"
                );
            }
        }
        if x < 5.0 {
            let (gauss, near) = (law(2.0), law(2.0f64.next_down()));
            for f in all {
                assert!((f(&near, x) / f(&gauss, x) - 1.0).abs() < 2e-13, "x = {x}");
            }
        }
    }
}

#[test]
fn closed_forms() {
    use std::f64::consts::PI;
    let kinetic = SymmetricStable::kinetic(2.0).unwrap();
    let cauchy = SymmetricStable::kinetic(1.0).unwrap();
    for v in decades(-3.0, 2.0, 60) {
        assert!((kinetic.score(v) / -v - 1.0).abs() < 1e-15);
        assert!((cauchy.score(v) / (-2.0 * v / (1.0 + v * v)) - 1.0).abs() < 1e-15);
    }
    for alpha in ALPHAS {
        let field = SymmetricStable::kinetic(alpha).unwrap();
        let slope = alpha.powf(2.0 / alpha) * libm::tgamma(3.0 / alpha) / libm::tgamma(1.0 / alpha);
        assert!((field.score_derivative(0.0) / -slope - 1.0).abs() < 1e-12);
        assert!((law(alpha).pdf(0.0) / (libm::tgamma(1.0 + 1.0 / alpha) / PI) - 1.0).abs() < 1e-14);
        assert_eq!(law(alpha).characteristic_function(1.0), (-1.0f64).exp());
        assert_eq!((law(alpha).mode(), law(alpha).median()), (0.0, 0.0));
    }
}

#[test]
fn moments() {
    let close =
        |ours: f64, exact: f64| assert!((ours / exact - 1.0).abs() < 1e-13, "{ours} for {exact}");
    // Gauss: E X² = 2, E X⁴ = 12; Cauchy: E √|X| = √2.
    close(law(2.0).absolute_moment(2.0), 2.0);
    close(law(2.0).absolute_moment(4.0), 12.0);
    close(law(1.0).absolute_moment(0.5), 2f64.sqrt());
    close(
        SymmetricStable::new(1.5).unwrap().with_scale(4.0).unwrap().absolute_moment(0.5),
        2.0 * law(1.5).absolute_moment(0.5),
    );
    assert_eq!(law(1.5).absolute_moment(1.5), f64::INFINITY);
    assert_eq!(law(1.5).absolute_moment(-1.0), f64::INFINITY);
    assert_eq!(law(1.5).absolute_moment(0.0), 1.0);
    let wide = |alpha| SymmetricStable::new(alpha).unwrap().with_scale(3.0).unwrap();
    assert_eq!([0, 1, 3].map(|order| wide(2.0).moment(order)), [1.0, 0.0, 0.0]);
    close(wide(2.0).variance(), 18.0);
    close(wide(2.0).moment(4), 972.0);
    assert_eq!((wide(1.01).mean(), wide(1.01).variance()), (0.0, f64::INFINITY));
    assert!(wide(1.0).mean().is_nan() && wide(1.99).moment(3).is_nan());
    assert_eq!(wide(1.0).moment(2), f64::INFINITY);
    // Against E|X|^p = 2p ∫ x^(p−1) sf dx.
    for (alpha, p) in [(1.5, 0.7), (0.8, 0.3), (1.9, 1.2)] {
        let law = law(alpha);
        let step = 0.05;
        let sum: f64 = (-4000..4000)
            .map(|k| f64::from(k) * step)
            .map(|u| (p * u).exp() * law.sf(u.exp()))
            .sum();
        close(law.absolute_moment(p), 2.0 * p * step * sum);
    }
}

/// Where a factor of the moment overflows or underflows: infinite moments are infinite at every
/// scale, and finite ones may still be representable.
#[test]
fn moments_at_the_edges_of_the_doubles() {
    let law = |alpha, scale| SymmetricStable::new(alpha).unwrap().with_scale(scale).unwrap();
    for scale in [1e-300, 1e-163, 1e200] {
        assert_eq!(
            (law(1.5, scale).variance(), law(1.5, scale).moment(4)),
            (f64::INFINITY, f64::INFINITY)
        );
        assert_eq!(law(1.5, scale).absolute_moment(-2.0), f64::INFINITY);
        assert_eq!(law(2.0, scale).absolute_moment(f64::INFINITY), f64::INFINITY);
        assert_eq!((law(2.0, scale).moment(0), law(2.0, scale).moment(3)), (1.0, 0.0));
    }
    assert_eq!((law(2.0, 1e-3).moment(300), law(2.0, 1e200).moment(2)), (0.0, f64::INFINITY));
    // (2σ)^p Γ((1+p)/2)/√π in forty digits.
    for (scale, order, exact) in
        [(0.01, 300, 5.356_851_815_834_042_7e-249), (0.03, 250, 3.274_343_347_443_525e-98)]
    {
        let ours = law(2.0, scale).moment(order);
        assert!((ours / exact - 1.0).abs() < 2e-12, "{ours:e} for {exact:e}");
    }
}

#[test]
fn slices_equal_single_values() {
    let law = law(1.3);
    let x: Vec<f64> = decades(-2.0, 2.0, 33).collect();
    let mut out = vec![0.0; x.len()];
    law.score_into(&x, &mut out);
    assert!(x.iter().zip(&out).all(|(&x, &o)| law.score(x) == o));
    law.pdf_into(&x, &mut out);
    assert!(x.iter().zip(&out).all(|(&x, &o)| law.pdf(x) == o));
}

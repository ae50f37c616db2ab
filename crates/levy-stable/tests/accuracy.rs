//! The law, compared with values computed in ball arithmetic (see tools/golden).

use crate::golden::{Worst, error, number, rows};
use levy_stable::SymmetricStable;
use std::collections::BTreeMap;

/// Returns the errors of pdf, sf, score and score derivative at one row `alpha, x, pdf, sf, score,
/// score_deriv`.
fn errors(row: &[String]) -> ((f64, f64), [f64; 4]) {
    let v: Vec<f64> = row.iter().map(|s| number(s)).collect();
    let [alpha, x, pdf, sf, score, derivative] = v[..] else { panic!("six numbers, not {row:?}") };
    let law = SymmetricStable::new(alpha).unwrap();
    let errors = [
        error(law.pdf(x), pdf, pdf),
        error(law.sf(x), sf, sf),
        error(law.score(x), score, score.abs()),
        error(law.score_derivative(x), derivative, derivative.abs() + score * score),
    ];
    ((alpha, x), errors)
}

/// Returns the documented bounds, for pdf, sf, score and score derivative.
fn bounds(alpha: f64) -> [f64; 4] {
    if alpha >= 0.3 { [2e-14, 2e-14, 2e-14, 1e-12] } else { [1e-12; 4] }
}

#[test]
fn law_agrees_with_24000_random_points() {
    let mut worst = BTreeMap::<String, [Worst; 4]>::new();
    let rows = rows("random.csv");
    assert_eq!(rows.len(), 24_000);
    for row in &rows {
        let (at, errors) = errors(&row[1..]);
        let class = worst.entry(row[0].clone()).or_default();
        for ((error, bound), seen) in errors.into_iter().zip(bounds(at.0)).zip(class) {
            seen.see(error, at);
            assert!(error <= bound, "error {error:.1e} at alpha = {}, x = {}", at.0, at.1);
        }
    }
    for (class, worst) in worst {
        println!("{class:6} {:?}", worst.map(|w| format!("{:.1e} at {:?}", w.error, w.at)));
    }
}

#[test]
fn law_agrees_on_the_regular_grid() {
    for row in rows("small.csv") {
        let (at, errors) = errors(&row);
        for (error, bound) in errors.into_iter().zip(bounds(at.0)) {
            assert!(error <= bound, "error {error:.1e} at alpha = {}, x = {}", at.0, at.1);
        }
    }
}

#[test]
fn ln_pdf_agrees_even_if_pdf_underflows() {
    for row in rows("random.csv").iter().step_by(7) {
        let (alpha, x, pdf) = (number(&row[1]), number(&row[2]), number(&row[3]));
        if pdf > 1e-300 && pdf.is_finite() {
            let ours = SymmetricStable::new(alpha).unwrap().ln_pdf(x);
            let bound = if alpha >= 0.3 { 3e-14 } else { 1e-12 };
            assert!(
                (ours - pdf.ln()).abs() <= bound * (1.0 + pdf.ln().abs()),
                "alpha = {alpha}, x = {x}"
            );
        }
    }
    // ψ ~ αw x^(−α−1), 450 decades down.
    let law = SymmetricStable::new(1.5).unwrap();
    assert_eq!(law.pdf(1e250), 0.0);
    let slope = (law.ln_pdf(1e250) - law.ln_pdf(1e200)) / 1e50f64.ln();
    assert!((slope + 2.5).abs() < 1e-13);
}

/// Values of mpmath with 30 digits: log(erfc(x/2)/2) at alpha = 2, else the logarithm of
/// sum((-1)**(n+1)*gamma(a*n)/factorial(n)*sin(pi*a*n/2)/pi*x**(-a*n) for n in range(1, 9)), a and
/// x the doubles.
#[test]
fn ln_sf_agrees_even_if_sf_underflows() {
    for (alpha, x, exact) in [
        (2.0, 0.5, -1.0165619839535647),
        (2.0, 10.0, -27.894036726097380),
        (2.0, 51.9, -677.92492485784624),
        (2.0, 52.1, -683.12876534774237),
        (2.0, 60.0, -904.66726429120382),
        (2.0, 400.0, -40006.563841989642),
        (2.0, 1e150, -2.4999999999999999e299),
        (1.5, 1e250, -865.08149558653175),
        (1.9, 1e170, -746.77381730928951),
        (0.5, 1e300, -346.30670248231153),
        (1.01, 1e308, -717.43871429751195),
    ] {
        let law = SymmetricStable::new(alpha).unwrap();
        assert!(
            (law.ln_sf(x) / exact - 1.0).abs() < 5e-16,
            "alpha = {alpha}, x = {x}: {}",
            law.ln_sf(x)
        );
        assert_eq!(law.ln_cdf(-x), law.ln_sf(x));
        assert_eq!(law.ln_sf(f64::INFINITY), f64::NEG_INFINITY);
        assert_eq!(law.ln_sf(f64::NEG_INFINITY), 0.0);
    }
    for row in rows("random.csv").iter().step_by(7) {
        let (alpha, x, sf) = (number(&row[1]), number(&row[2]), number(&row[4]));
        if sf > 1e-300 {
            let law = SymmetricStable::new(alpha).unwrap();
            let bound = if alpha >= 0.3 { 3e-14 } else { 1e-12 };
            assert!(
                (law.ln_sf(x) - sf.ln()).abs() <= bound * (1.0 + sf.ln().abs()),
                "alpha = {alpha}, x = {x}"
            );
            let complement = (-sf).ln_1p();
            assert!(
                (law.ln_cdf(x) - complement).abs() <= bound * complement.abs(),
                "alpha = {alpha}, x = {x}"
            );
        }
    }
}

#[test]
fn quantile_agrees() {
    for row in rows("quantile.csv") {
        let (alpha, q, exact) = (number(&row[0]), number(&row[1]), number(&row[2]));
        let ours = SymmetricStable::new(alpha).unwrap().isf(q);
        // The error of q that rounding of x may cause, plus that of the law, seen through the
        // quantile's slope.
        let law = SymmetricStable::new(alpha).unwrap();
        let condition = q / (exact * law.pdf(exact));
        let bound = 2e-14 * (1.0 + condition);
        assert!(
            (ours / exact - 1.0).abs() <= bound,
            "alpha = {alpha}, q = {q}: {ours} for {exact}"
        );
    }
}

/// Round trips to 1e-13 of min(p, 1 − p), over all of (0, 1) and far into the tail.
#[test]
fn quantile_inverts_cdf_and_sf() {
    for alpha in
        [0.1, 0.2, 0.3, 0.5, 0.8, 0.99, 1.0, 1.01, 1.3, 1.5, 1.75, 1.9, 1.97, 1.999, 1.999999, 2.0]
    {
        let law = SymmetricStable::new(alpha).unwrap();
        for i in 1..2000 {
            let p = i as f64 / 2000.0;
            let back = law.cdf(law.quantile(p));
            assert!((back - p).abs() <= 1e-13 * p.min(1.0 - p), "alpha = {alpha}, p = {p}: {back}");
        }
        for i in 1..400 {
            let q = 10f64.powf(-0.25 * f64::from(i));
            let x = law.isf(q);
            if x < f64::INFINITY {
                let back = law.sf(x);
                assert!(
                    (back - q).abs() <= 1e-13 * q.min(1.0 - q),
                    "alpha = {alpha}, q = {q}: {back}"
                );
            }
        }
    }
}

/// For α < 0.1 quantiles are so large that x² overflows.
#[test]
fn far_quantiles_of_tiny_alpha() {
    for (alpha, q) in [(0.03, 1.1688349486036787e-5), (0.01, 0.01409272), (0.05, 1e-9)] {
        let law = SymmetricStable::new(alpha).unwrap();
        let x = law.isf(q);
        assert!(
            x > 1e154 && x < f64::INFINITY && (law.sf(x) / q - 1.0).abs() < 1e-11,
            "alpha = {alpha}: {x:e}"
        );
    }
}

#[test]
fn entropy_agrees() {
    for row in rows("entropy.csv") {
        let (alpha, exact) = (number(&row[0]), number(&row[1]));
        let ours = SymmetricStable::new(alpha).unwrap().entropy();
        assert!((ours - exact).abs() < 1e-12, "alpha = {alpha}: {ours} for {exact}");
    }
    // h(σX) = h(X) + ln σ
    let wide = SymmetricStable::new(1.5).unwrap().with_scale(3.0).unwrap().entropy();
    assert!((wide - 3f64.ln() - 2.06944850513462440).abs() < 1e-12);
}

/// For small α most of the law lies beyond the doubles. The exact values are trapezoidal sums over
/// ln x of the series of the density, in seventy digits.
#[test]
fn entropy_of_small_alpha_agrees() {
    let exact = [
        (0.1, 9.772_364_523_668_164),
        (0.05, 16.234_269_595_232_697),
        (0.02, 34.466_121_107_535_26),
        (0.01, 64.019_925_379_539_03),
        (0.0075, 83.548_111_393_097_65),
        (0.006, 103.011_768_698_045_24),
        (0.005_999, 103.027_971_814_834_47),
        (0.003, 199.907_515_516_629_77),
    ];
    for (alpha, exact) in exact {
        let ours = SymmetricStable::new(alpha).unwrap().entropy();
        assert!((ours - exact).abs() < 1e-12, "alpha = {alpha}: {ours} for {exact}");
    }
    // C/α + 1 + ln 2 − ln α is all that is left of it at last.
    let least = SymmetricStable::new(1e-12).unwrap().entropy();
    assert!(
        (least / (0.577_215_664_901_532_9e12 + 1.0 + 2f64.ln() + 12.0 * 10f64.ln()) - 1.0).abs()
            < 1e-15
    );
}

/// Values at which other libraries are known to fail, to the documented accuracy. The exact ones
/// are those of mpmath with 40 digits: the series of [`ln_sf_agrees_even_if_sf_underflows`], its
/// derivative, its inverse, and the power series of the distribution function at the origin.
#[test]
fn values_at_which_other_libraries_fail_agree() {
    let law = |alpha| SymmetricStable::new(alpha).unwrap();
    let close = |ours: f64, exact: f64, bound: f64| {
        assert!((ours / exact - 1.0).abs() < bound, "{ours} for {exact}");
    };
    close(law(1.5).quantile(0.999999), 3413.93852374124117, 1e-13);
    close(law(1.3181).sf(368.43), 1.0361337336321847e-4, 2e-14);
    close(law(1.999).pdf(20.0), 1.2916862557290566e-7, 2e-14);
    close(law(1.5).cdf(0.004), 0.50114940874227672, 2e-14);
}

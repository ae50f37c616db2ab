//! Fractional moments and entropy, unit scale.

use crate::unit::UnitLaw;
use std::f64::consts::{LN_2, PI};

/// E|X|^p = (2σ)^p Γ((1+p)/2) Γ(1−p/α) / (√π Γ(1−p/2)) for −1 < p < α; infinite outside (at α = 2 for p ≤ −1 only).
pub(crate) fn absolute(alpha: f64, scale: f64, p: f64) -> f64 {
    if p.is_nan() {
        return f64::NAN;
    }
    if p <= -1.0 || (p >= alpha && alpha < 2.0) || p == f64::INFINITY {
        return f64::INFINITY;
    }
    let gauss = libm::exp2(p) * libm::tgamma(0.5 * (1.0 + p)) / PI.sqrt();
    let stable = if alpha == 2.0 { 1.0 } else { libm::tgamma(1.0 - p / alpha) / libm::tgamma(1.0 - 0.5 * p) };
    let (unit, power) = (gauss * stable, libm::pow(scale, p));
    if unit.is_normal() && power.is_normal() {
        return unit * power;
    }
    // One of them leaves the doubles, the product need not. Logarithms cost three digits.
    let stable = if alpha == 2.0 { 0.0 } else { libm::lgamma(1.0 - p / alpha) - libm::lgamma(1.0 - 0.5 * p) };
    let gauss = p * (LN_2 + libm::log(scale)) + libm::lgamma(0.5 * (1.0 + p)) - 0.5 * libm::log(PI);
    libm::exp(gauss + stable)
}

/// −∫ ψ ln ψ, by the trapezoidal rule in ln x, which converges double-exponentially to the left and as fast as the
/// tail x^(−α) allows to the right; the rest of the tail is integrated in closed form.
pub(crate) fn entropy(alpha: f64, law: &UnitLaw) -> f64 {
    if alpha == 2.0 {
        return 0.5 + libm::log(2.0 * PI.sqrt());
    }
    if alpha == 1.0 {
        return libm::log(4.0 * PI);
    }
    // Substituting x = e^(u/s): s keeps the features of small α, which live on the scale 1/α, at unit width.
    let s = alpha.min(1.0);
    let step = 0.05;
    let term = |k: f64| {
        let ln_x = k * step / s;
        let ln_pdf = law.ln_pdf(libm::exp(ln_x));
        -ln_pdf * libm::exp(ln_pdf + ln_x)
    };
    let mut sum = term(0.0);
    for direction in [-1.0, 1.0] {
        for k in 1..20_000 {
            let t = term(direction * k as f64);
            sum += t;
            if t.abs() < 1e-17 * sum.abs() {
                break;
            }
        }
    }
    2.0 * sum * step / s
}

//! Kummer's confluent hypergeometric function ₁F₁(a; b; z) for real a > −40, b > 0 and z ≥ 0.
//!
//! | where | formula |
//! |---|---|
//! | a = 0, −1, −2, … | the polynomial |
//! | z < 50 | Σ (a)ₖ/(b)ₖ zᵏ/k! |
//! | z ≥ 50 | eᶻ z^(a−b) Γ(b)/Γ(a) Σ (b−a)ₖ(1−a)ₖ/k! z⁻ᵏ + cos(πa) z⁻ᵃ Γ(b)/Γ(b−a) Σ (a)ₖ(1+a−b)ₖ/k! (−z)⁻ᵏ |
//!
//! The second, recessive sum matters when a is close to 0 (α → 2), where 1/Γ(a) makes the first one
//! vanish. For a ≥ 0 every term of the power series is positive, so nothing cancels, and the
//! relative error is below 2e-14. For a < 0 the function has zeros, and the error is relative to
//! the sum of the absolute terms. Kummer's transformation ₁F₁(a; b; −z) = e⁻ᶻ ₁F₁(b−a; b; z) gives
//! negative arguments.

use libm::{cos, exp, pow, tgamma};
use std::f64::consts::PI;

/// From this z on the asymptotic sums reach double precision before they diverge.
const LARGE: f64 = 50.0;

/// Returns ₁F₁(a; b; z), which is infinite only where the value itself overflows.
pub fn kummer(a: f64, b: f64, z: f64) -> f64 {
    if z == f64::INFINITY {
        // The sign of (a)ₖ for large k.
        let negative = libm::floor(a.min(0.0)) % 2.0 != 0.0;
        return if a == 0.0 {
            1.0
        } else {
            f64::INFINITY.copysign(if negative { -1.0 } else { 1.0 })
        };
    }
    let (rising, level) = parts(a, b, z);
    // In two factors, since e^z may overflow where the product does not.
    let half = exp(0.5 * z);
    if rising == 0.0 { level } else { rising * half * half + level }
}

/// Returns e^(−z) ₁F₁(a; b; z) = ₁F₁(b−a; b; −z), which stays in range for every z.
pub fn kummer_scaled(a: f64, b: f64, z: f64) -> f64 {
    if z == f64::INFINITY {
        return if is_pole(a) { 0.0 } else { pow(z, a - b) * tgamma(b) / tgamma(a) };
    }
    let (rising, level) = parts(a, b, z);
    rising + level * exp(-z)
}

/// Returns (r, l) with ₁F₁(a; b; z) = r eᶻ + l, for finite z.
fn parts(a: f64, b: f64, z: f64) -> (f64, f64) {
    if z.is_nan() || z < LARGE || is_pole(a) {
        return (0.0, power_series(a, b, z));
    }
    let rising = pow(z, a - b) * (tgamma(b) / tgamma(a)) * asymptotic_sum(b - a, 1.0 - a, 1.0 / z);
    let level = cos(PI * a)
        * pow(z, -a)
        * (tgamma(b) * reciprocal_gamma(b - a))
        * asymptotic_sum(a, 1.0 + a - b, -1.0 / z);
    (rising, level)
}

/// Returns Σ (a)ₖ/(b)ₖ zᵏ/k! to double precision.
fn power_series(a: f64, b: f64, z: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0f64, 1.0f64, 0.0f64);
    // Terms grow until k ≈ z and fall like zᵏ/k! after that. A polynomial ends where a + k = 0.
    while k < 4.0 * LARGE {
        term *= (a + k) / (b + k) * (z / (k + 1.0));
        sum += term;
        k += 1.0;
        if term == 0.0 || term.is_nan() || (k > z && term.abs() < 1e-18 * sum.abs()) {
            break;
        }
    }
    sum
}

/// Returns Σ (p)ₖ(q)ₖ/k! yᵏ, truncated at its smallest term.
fn asymptotic_sum(p: f64, q: f64, y: f64) -> f64 {
    let (mut term, mut sum) = (1.0f64, 1.0f64);
    for k in 0..100 {
        let k = f64::from(k);
        let next = term * ((p + k) * (q + k) / (k + 1.0) * y);
        // The first terms may grow when a is far below 0; the sum ends at the minimum after them.
        if next.abs() < 1e-18 * sum.abs() || (next.abs() > term.abs() && k > p.abs() + q.abs()) {
            break;
        }
        term = next;
        sum += term;
    }
    sum
}

/// Returns 1/Γ(x), which is 0 at the poles of Γ.
fn reciprocal_gamma(x: f64) -> f64 {
    if is_pole(x) { 0.0 } else { 1.0 / tgamma(x) }
}

fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == libm::floor(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elementary_cases() {
        // ₁F₁(b; b; z) = eᶻ, ₁F₁(0; b; z) = 1, ₁F₁(−1; 1/2; z) = 1 − 2z.
        for z in [0.0, 1e-9, 0.3, 7.0, 49.0, 51.0, 300.0, 700.0] {
            assert!((kummer(1.5, 1.5, z) / exp(z) - 1.0).abs() < 1e-14, "{z}");
            assert!((kummer_scaled(1.5, 1.5, z) - 1.0).abs() < 1e-14, "{z}");
            assert_eq!(kummer(0.0, 1.5, z), 1.0);
            assert!((kummer(-1.0, 0.5, z) - (1.0 - 2.0 * z)).abs() <= 1e-15 * z);
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(kummer_scaled(0.25, 1.5, f64::INFINITY), 0.0);
        assert_eq!(kummer(0.25, 1.5, f64::INFINITY), f64::INFINITY);
        assert_eq!(kummer(0.0, 1.5, f64::INFINITY), 1.0);
        for a in [-0.5, -1.0, -1.5, -2.0, -2.5, -3.0] {
            assert_eq!(
                kummer(a, 0.5, f64::INFINITY),
                kummer(a, 0.5, 1e4).signum() * f64::INFINITY,
                "{a}"
            );
        }
        assert!(
            kummer(0.25, 1.5, f64::NAN).is_nan() && kummer_scaled(0.25, 1.5, f64::NAN).is_nan()
        );
        // e^z alone would overflow here; the product with z^(−5/4) does not.
        assert!(kummer(0.25, 1.5, 712.0).is_finite());
        assert!(kummer_scaled(0.25, 1.5, 1e200) > 0.0);
    }
}

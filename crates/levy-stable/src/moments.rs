//! Absolute moments at any scale, and the entropy at unit scale.

use crate::unit::UnitLaw;
use std::f64::consts::{LN_2, PI};

/// Euler's constant C.
const EULER: f64 = 0.577_215_664_901_532_9;

/// E|X|^p = (2σ)^p Γ((1+p)/2) Γ(1−p/α) / (√π Γ(1−p/2)) for −1 < p < α; infinite outside (at α = 2
/// for p ≤ −1 only).
pub(crate) fn absolute(alpha: f64, scale: f64, p: f64) -> f64 {
    if p.is_nan() {
        return f64::NAN;
    }
    if p <= -1.0 || (p >= alpha && alpha < 2.0) || p == f64::INFINITY {
        return f64::INFINITY;
    }
    let gauss = libm::exp2(p) * libm::tgamma(0.5 * (1.0 + p)) / PI.sqrt();
    let stable = if alpha == 2.0 {
        1.0
    } else {
        libm::tgamma(1.0 - p / alpha) / libm::tgamma(1.0 - 0.5 * p)
    };
    let (unit, power) = (gauss * stable, libm::pow(scale, p));
    if unit.is_normal() && power.is_normal() {
        return unit * power;
    }
    // One factor overflows or underflows, but the product may not. Logarithms lose three digits.
    let stable = if alpha == 2.0 {
        0.0
    } else {
        libm::lgamma(1.0 - p / alpha) - libm::lgamma(1.0 - 0.5 * p)
    };
    let gauss = p * (LN_2 + libm::log(scale)) + libm::lgamma(0.5 * (1.0 + p)) - 0.5 * libm::log(PI);
    libm::exp(gauss + stable)
}

/// −∫ ψ ln ψ = E ln|X| − 2 ∫ m ln m du with u = ln x and m = xψ(x), the density of ln|X| on one
/// side; E ln|X| = C(1/α − 1).
///
/// The integral is computed by the trapezoidal rule in u. m falls double-exponentially to the left
/// and as x^(−α) to the right. For small α that extends far beyond the largest double, where the
/// tail series is evaluated from u alone.
pub(crate) fn entropy(alpha: f64, law: &UnitLaw) -> f64 {
    if alpha == 2.0 {
        return 0.5 + libm::log(2.0 * PI.sqrt());
    }
    if alpha == 1.0 {
        return libm::log(4.0 * PI);
    }
    if alpha < SMALLEST {
        return entropy_of_small(alpha);
    }
    // In s·u the features of small α, which live on the scale 1/α, have unit width.
    let s = alpha.min(1.0);
    let step = 0.05;
    let term = |k: f64| {
        let ln_mass = law.ln_mass(k * step / s);
        -ln_mass * libm::exp(ln_mass)
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
    EULER * (1.0 / alpha - 1.0) + 2.0 * sum * step / s
}

/// The smallest α for the trapezoidal rule. Below it, the probability of |X| below the smallest
/// double is not negligible.
const SMALLEST: f64 = 0.006;

/// The entropy as a series in α up to the fifth power. Below [`SMALLEST`] the sixth term is less
/// than 4e-13.
///
/// By the moments above, α ln|X| is −ln E, with E exponential, plus α times a variable with the
/// cumulants of 2^p Γ((1+p)/2)/(√π Γ(1−p/2)): −C, κ₂ = π²/12, κ₃ = −2ζ(3), κ₄ = 7π⁴/120, κ₅ =
/// −24ζ(5). The entropy of −ln E is 1 + C, and a perturbation of its density e^(−w − e^(−w)) by
/// these gives, in integrals over polynomials of E, κ₂/2, −κ₃/6, κ₄/24 − κ₂²/2, κ₂κ₃ − κ₅/120 for
/// the powers from the second on.
fn entropy_of_small(alpha: f64) -> f64 {
    const ZETA_3: f64 = 1.202_056_903_159_594_3;
    const ZETA_5: f64 = 1.036_927_755_143_369_9;
    let square = PI * PI;
    let fifth = ZETA_5 / 5.0 - square * ZETA_3 / 6.0;
    let powers =
        square / 24.0 + alpha * (ZETA_3 / 3.0 + alpha * (-square * square / 960.0 + alpha * fifth));
    EULER / alpha + 1.0 + LN_2 - libm::log(alpha) + alpha * alpha * powers
}

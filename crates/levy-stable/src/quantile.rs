//! The quantile: x > 0 with P(X > x) = q, unit scale, 0 < q < 1/2.
//!
//! Householder's method of fourth order inside a bracket. Every evaluation of the law also gives
//! its first two derivatives. The method solves for ln x as a function of ln sf in the power tail,
//! and for x as a function of sf near the centre.

use crate::local::Local;
use crate::unit::UnitLaw;
use std::f64::consts::{FRAC_1_PI, PI, SQRT_2};

/// Relative correction at which the iteration stops. The method is of fourth order, so the next
/// would be below rounding.
const CLOSE: f64 = 1e-5;

/// x > 0 with P(X > x) = q for 0 < q < 1/2.
pub(crate) fn upper(law: &UnitLaw, q: f64) -> f64 {
    if law.alpha() == 1.0 {
        return 1.0 / libm::tan(PI * q);
    }
    let tail = law.leading_quantile(q);
    if libm::pow(tail, -law.alpha()) < 1e-18 {
        // The second term of the tail is lost in rounding.
        return tail;
    }
    // Steps are in ln x where the law spreads over many decades.
    let logarithmic = q < 0.1 || law.alpha() < 0.5;
    let mut x = start_value(law, q, tail);
    if !(x > 0.0 && x < f64::INFINITY) {
        return x;
    }
    // The start has an error of some percent, so six digits suffice for the first step.
    let (better, _) = improve(x, q, law.rough_distribution(x), logarithmic);
    if better > 0.0 && better < f64::INFINITY {
        x = better;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..200 {
        let here = law.distribution(x);
        // The bracket only shrinks, so the iteration converges from any start.
        if here.0 > q {
            low = x;
        } else {
            high = x;
        }
        let (next, relative) = improve(x, q, here, logarithmic);
        if relative.abs() < CLOSE && next > 0.0 {
            return next;
        }
        x = if next > low && next < high { next } else { between(low, high) };
        if high < f64::INFINITY && high - low <= f64::EPSILON * high {
            return x;
        }
    }
    x
}

/// The midpoint of a bracket, in logarithms if it is wide.
fn between(low: f64, high: f64) -> f64 {
    let low = low.max(f64::MIN_POSITIVE);
    let high = high.min(f64::MAX);
    if high > 4.0 * low { low.sqrt() * high.sqrt() } else { 0.5 * (low + high) }
}

/// One step from x, given the law there: the next x, and the step relative to x.
fn improve(x: f64, q: f64, (sf, local): (f64, Local), logarithmic: bool) -> (f64, f64) {
    let slope = local.slope;
    if !logarithmic {
        // f(x) = sf − q
        let newton = (sf - q) / local.pdf;
        let step = householder(newton, -slope, local.curvature());
        (x + step, step / x)
    } else {
        // f(u) = ln sf − ln q, u = ln x; D = −f′ = x ψ/sf, D′ = D m with m = 1 − x g′ + D, D″ =
        // D(m² + m′)
        let d = x * local.pdf / sf;
        let m = 1.0 - x * slope + d;
        // Beyond 1e150 x² g″ would be ∞·0; it is −x g′ there.
        let scaled_second = if x < 1e150 { x * x * local.slope_derivative } else { -x * slope };
        let third = m * m - x * slope - scaled_second + d * m;
        let step = householder(libm::log(sf / q) / d, m, third);
        (x * libm::exp(step), step)
    }
}

/// The step of fourth order from Newton's, n = −f/f′, with a = f″/f′ and b = f‴/f′.
fn householder(n: f64, a: f64, b: f64) -> f64 {
    let an = a * n;
    let denominator = 1.0 + an + b * n * n / 6.0;
    if denominator > 0.3 { n * (1.0 + 0.5 * an) / denominator } else { n }
}

/// Returns a start value of the iteration, within some percent of the solution.
fn start_value(law: &UnitLaw, q: f64, tail: f64) -> f64 {
    let centre = (0.5 - q) / law.peak();
    if law.alpha() < 0.6 {
        // As α → 0, 2 sf → 1 − e^(−z) with z = x^(−α): the tail's z = 2q becomes −ln(1 − 2q).
        let correction = libm::pow(-libm::log1p(-2.0 * q) / (2.0 * q), -1.0 / law.alpha());
        return (tail * correction).max(centre);
    }
    // For laws with the same density at 0, ln x at fixed q is nearly linear in 1/α: interpolate
    // between Gauss and Cauchy. In the far tail the leading term is more accurate.
    let share = 2.0 / law.alpha() - 1.0;
    let gauss = gauss_quantile(q) / (2.0 * PI.sqrt());
    let cauchy = FRAC_1_PI / libm::tan(PI * q);
    let middle = libm::pow(gauss, 1.0 - share) * libm::pow(cauchy, share) / law.peak();
    if q < 1e-3 && (tail > middle || law.alpha() < 1.0) { tail } else { middle }
}

/// Upper quantile of the Gaussian of variance 2, to 5e-4: a rational function of √(−2 ln q).
fn gauss_quantile(q: f64) -> f64 {
    let t = (-2.0 * libm::log(q)).sqrt();
    let numerator = 2.515517 + t * (0.802853 + t * 0.010328);
    let denominator = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    // The lower bound keeps the result ≥ 0 at q = 1/2, where the formula may be negative by its
    // error.
    SQRT_2 * (t - numerator / denominator).max(2.5 * (0.5 - q))
}

//! The quantile: x > 0 with P(X > x) = q, unit scale, 0 < q < 1/2.
//!
//! Householder's method of fourth order (the law's first two derivatives come with every evaluation), in ln x against
//! ln sf where the tail is a power and in x against sf near the centre, kept inside a bracket.

use crate::local::Local;
use crate::unit::UnitLaw;
use std::f64::consts::{FRAC_1_PI, PI, SQRT_2};

/// With the last correction below this, the next would be below rounding: the method is of fourth order.
const CLOSE: f64 = 1e-4;

/// x > 0 with P(X > x) = q for 0 < q < 1/2.
pub(crate) fn upper(law: &UnitLaw, q: f64) -> f64 {
    if law.alpha() == 1.0 {
        return 1.0 / (PI * q).tan();
    }
    let mut x = guess(law, q);
    if !(x > 0.0 && x < f64::INFINITY) {
        return x;
    }
    // The start is off by percents: there is no use in more than six digits yet.
    let (better, _) = improve(x, q, law.rough_distribution(x));
    if better > 0.0 && better < f64::INFINITY {
        x = better;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..200 {
        let here = law.distribution(x);
        // The bracket only ever shrinks, so that no start and no rounding can make the iteration run away.
        if here.0 > q {
            low = x;
        } else {
            high = x;
        }
        let (next, relative) = improve(x, q, here);
        if relative.abs() < CLOSE && next > 0.0 {
            return next;
        }
        x = if next > low && next < high {
            next
        } else if high < f64::INFINITY {
            0.5 * (low + high)
        } else {
            2.0 * x
        };
        if high < f64::INFINITY && high - low <= f64::EPSILON * high {
            return x;
        }
    }
    x
}

/// One step from x, given the law there: the next x, and the step relative to x.
fn improve(x: f64, q: f64, (sf, local): (f64, Local)) -> (f64, f64) {
    let score = local.score;
    if q > 0.1 {
        // f(x) = sf − q
        let newton = (sf - q) / local.pdf;
        let step = householder(newton, -score, local.curvature());
        (x + step, step / x)
    } else {
        // f(u) = ln sf − ln q, u = ln x; D = −f′ = x ψ/sf, D′ = D m with m = 1 − x g′ + D, D″ = D(m² + m′)
        let d = x * local.pdf / sf;
        let m = 1.0 - x * score + d;
        let third = m * m - x * score - x * x * local.score_derivative + d * m;
        let step = householder((sf / q).ln() / d, m, third);
        (x * step.exp(), step)
    }
}

/// The step of fourth order from Newton's, n = −f/f′, with a = f″/f′ and b = f‴/f′.
fn householder(n: f64, a: f64, b: f64) -> f64 {
    let an = a * n;
    let denominator = 1.0 + an + b * n * n / 6.0;
    if denominator > 0.3 {
        n * (1.0 + 0.5 * an) / denominator
    } else {
        n
    }
}

/// A start within some percent for 0.5 ≤ α ≤ 2, and on the right side of sense elsewhere.
fn guess(law: &UnitLaw, q: f64) -> f64 {
    // With slopes at the centre made equal, ln x at fixed q is nearly linear in 1/α: interpolate between Gauss and
    // Cauchy. In the far tail its leading term is better, and it is never too large there.
    let share = 2.0 / law.alpha() - 1.0;
    let gauss = gauss_quantile(q) / (2.0 * PI.sqrt());
    let cauchy = FRAC_1_PI / (PI * q).tan();
    let centre = gauss.powf(1.0 - share) * cauchy.powf(share) / law.peak();
    let tail = law.leading_quantile(q);
    if q < 1e-3 && (tail > centre || law.alpha() < 1.0) {
        tail
    } else {
        centre
    }
}

/// Upper quantile of the Gaussian of variance 2, to 5e-4: a rational function of √(−2 ln q).
fn gauss_quantile(q: f64) -> f64 {
    let t = (-2.0 * q.ln()).sqrt();
    let numerator = 2.515517 + t * (0.802853 + t * 0.010328);
    let denominator = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    // Exactly 0 at q = 1/2, where the formula is off by its error and the logarithm would not forgive a sign.
    SQRT_2 * (t - numerator / denominator).max(2.5 * (0.5 - q))
}

//! The law Beta(a, b) for a, b ≥ 1, the law of the rank of a quantile.

/// Returns x with I_x(a, b) = p, with an error below 1e-12 standard deviations for a + b up to a
/// million.
pub(super) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let ln_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let mut x = a / (a + b);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let excess = distribution(x, a, b, ln_beta) - p;
        // The bracket only shrinks, so Newton's method cannot leave [0, 1].
        if excess > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let ln_pdf = (a - 1.0) * libm::log(x) + (b - 1.0) * libm::log1p(-x) - ln_beta;
        let step = excess / libm::exp(ln_pdf);
        let next = x - step;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - x).abs() <= 2.0 * f64::EPSILON * x {
            return next;
        }
        x = next;
    }
    x
}

/// Returns the regularised incomplete beta function I_x(a, b).
fn distribution(x: f64, a: f64, b: f64, ln_beta: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front = a * libm::log(x) + b * libm::log1p(-x) - ln_beta;
    // The fraction converges fast to the left of the mean; the right follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        libm::exp(ln_front) / a * fraction(x, a, b)
    } else {
        1.0 - libm::exp(ln_front) / b * fraction(1.0 - x, b, a)
    }
}

/// Returns the continued fraction of I_x(a, b), 1/(1 + d₁/(1 + d₂/(1 + …))), by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let guard = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // About √(a + b) terms are required; this suffices for a billion draws.
    for m in 1..100_000 {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for term in [even, odd] {
            d = 1.0 / guard(1.0 + term * d);
            c = guard(1.0 + term / c);
            factor = c * d;
            value *= factor;
        }
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laws with a quantile in closed form: Beta(a, 1) and Beta(1, b).
    #[test]
    fn closed_forms() {
        for p in [1e-6f64, 0.1586553, 0.5, 0.8413447, 0.999] {
            for a in [1.0, 2.5, 40.0, 3000.0] {
                let exact = p.powf(1.0 / a);
                assert!((beta_quantile(p, a, 1.0) - exact).abs() < 1e-13, "{p} {a}");
                let exact = -f64::exp_m1(f64::ln_1p(-p) / a);
                assert!((beta_quantile(p, 1.0, a) / exact - 1.0).abs() < 1e-10, "{p} {a}");
            }
        }
    }
}

//! The series in the tail,
//!
//!   ψ(x) = Σₙ cₙ x^(−αn−1),   cₙ = (−1)^(n+1) Γ(αn+1)/n! sin(παn/2)/π,
//!
//! and its integral and derivatives term by term. It converges for α < 1 and is asymptotic for α >
//! 1. [`Tail::new`] computes the smallest x at which its remainder is below rounding.

use crate::local::Local;
use std::f64::consts::FRAC_1_PI;

/// Largest number of terms.
const TERMS: usize = 32;
/// Largest remainder of the second derivative, relative to its first term.
const REMAINDER: f64 = 2e-17;

/// The series for one α and the range of x in which it is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    alpha: f64,
    /// c₁ … c_terms, rest zero.
    coefficients: [f64; TERMS],
    /// The series is exact to rounding for x ≥ start.
    start: f64,
}

/// sin(πy) for y ≥ 0, relative to itself near 0.
fn sin_pi(y: f64) -> f64 {
    let y = y % 2.0;
    let (sign, y) = if y > 1.0 { (-1.0, y - 1.0) } else { (1.0, y) };
    let y = if y > 0.5 { 1.0 - y } else { y };
    sign * libm::sin(std::f64::consts::PI * y)
}

/// sin(παn/2), written with 2 − α where that is the small quantity.
fn sine(alpha: f64, n: f64) -> f64 {
    if alpha <= 1.0 {
        sin_pi(0.5 * alpha * n)
    } else {
        let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
        sign * sin_pi(0.5 * (2.0 - alpha) * n)
    }
}

impl Tail {
    pub(crate) fn new(alpha: f64) -> Self {
        let first_sine = sine(alpha, 1.0);
        let first = libm::tgamma(alpha + 1.0) * first_sine;
        // The largest z = x^(−α) for which some partial sum is accurate enough. Beyond z = 1 terms
        // cancel. For tiny α there is no better formula, and up to z = 4 the cancellation costs at
        // most four digits.
        let mut largest_z = 0.0;
        let mut terms = 0;
        let mut coefficients = [0.0; TERMS];
        let mut factorial = 1.0;
        for n in 1..=TERMS {
            let k = n as f64;
            factorial *= k;
            let size = libm::tgamma(alpha * k + 1.0) / factorial;
            let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
            coefficients[n - 1] = sign * size * sine(alpha, k) * FRAC_1_PI;
            if n <= 4 {
                continue;
            }
            // Bounding |sin nθ| by n sin θ keeps a sine that happens to vanish from being taken for
            // convergence.
            let bound =
                size * (k * first_sine).min(1.0) * (alpha * k + 2.0) * (alpha * k + 2.0) / first;
            let z = libm::pow(REMAINDER / bound, 1.0 / (k - 1.0));
            if z > largest_z {
                (largest_z, terms) = (z, n);
            }
        }
        coefficients[terms..].fill(0.0);
        let largest_z = largest_z.min(if alpha < 0.1 { 4.0 } else { 1.0 });
        let mut start = libm::pow(largest_z, -1.0 / alpha);
        if alpha > 1.9 {
            // The series does not contain the Gaussian bulk e^(−x²/4), which must be below rounding
            // of (2−α)x⁻³.
            let exponent = 46.0 - libm::log(2.0 - alpha);
            start = start.max(2.0 * exponent.sqrt());
        }
        Self { alpha, coefficients, start }
    }

    /// Smallest x at which the series may be used.
    pub(crate) fn start(&self) -> f64 {
        self.start
    }

    /// Σ cₙ z^(n−1) · (1/(αn), 1, αn+1, (αn+1)(αn+2)) at z = x^(−α).
    fn sums(&self, z: f64) -> [f64; 4] {
        let mut s = [0.0f64; 4];
        for (i, &c) in self.coefficients.iter().enumerate().rev() {
            let power = self.alpha * (i + 1) as f64;
            let term = [c / power, c, c * (power + 1.0), c * (power + 1.0) * (power + 2.0)];
            for (s, t) in s.iter_mut().zip(term) {
                *s = s.mul_add(z, t);
            }
        }
        s
    }

    /// The sf, with ψ and its derivatives, at x ≥ start.
    pub(crate) fn distribution(&self, x: f64) -> (f64, Local) {
        let z = libm::pow(x, -self.alpha);
        let [sf, pdf, fall, curvature] = self.sums(z);
        (z * sf, Local::new(z / x * pdf, fall / pdf, curvature / pdf, 1.0 / x))
    }

    /// ln P(X > x) at x ≥ start, also where the probability underflows.
    pub(crate) fn ln_sf(&self, x: f64) -> f64 {
        libm::log(self.sums(libm::pow(x, -self.alpha))[0]) - self.alpha * libm::log(x)
    }

    /// ln ψ at x ≥ start, also where ψ underflows.
    pub(crate) fn ln_pdf(&self, x: f64) -> f64 {
        libm::log(self.sums(libm::pow(x, -self.alpha))[1]) - (self.alpha + 1.0) * libm::log(x)
    }

    /// ln(xψ(x)) at x = e^u ≥ start, also where x overflows.
    pub(crate) fn ln_mass(&self, u: f64) -> f64 {
        libm::log(self.sums(libm::exp(-self.alpha * u))[1]) - self.alpha * u
    }

    /// x with c₁ x^(−α)/α = q: the quantile of the leading term.
    pub(crate) fn leading_quantile(&self, q: f64) -> f64 {
        libm::pow(self.coefficients[0] / (self.alpha * q), 1.0 / self.alpha)
    }
}

//! The fractional gradient 𝒟^(α−2)(φ f′)/φ, φ = e^(−βf), of a function of one variable.
//!
//! With f the kinetic energy it is the friction c of Theorem 1; with f the potential it is the
//! drift −b of overdamped fractional dynamics. At α = 2 it is f′. Since φf′ = −φ′/β, it is a
//! derivative of the Riesz potential of φ, an integral in which every term is positive for x on the
//! slope of a single well:
//!
//! > 𝒟^(α−2)(φ f′)(x) = (C/β) ∫₀^∞ [φ(x−r) − φ(x+r)] r^(−α) dr,  C = Γ(α) sin(πα/2)/π,  0 < α < 2.
//!
//! The quotient by φ(x) therefore keeps its relative accuracy where φ has fallen by hundreds of
//! decades, and heavy tails of φ are integrated to infinity, where a grid would truncate them. Up
//! to some R the integral is taken by parts,
//!
//! > ∫₀ᴿ Δ(r) r^(−α) dr = Δ′(0) R^(2−α)/(2−α) + ∫₀ᴿ [Δ′(r) − Δ′(0)] q(r) dr,  q(r) = ∫_r^R s^(−α) ds,
//!
//! which removes the singularity for every α up to 2.

use super::quadrature::{Tolerance, extend, integrate};
use libm::{exp, expm1, log, pow, sin, tgamma};
use std::f64::consts::PI;

/// Error of an integral relative to the integral of the absolute value.
const TOLERANCE: f64 = 1e-13;
/// Error of an integrand that is a small difference, relative to its terms.
const ROUNDING: f64 = 1e-15;

/// 𝒟^(α−2)(e^(−βf) f′)/e^(−βf) at any x.
pub(crate) struct FractionalGradient<F, G> {
    alpha: f64,
    beta: f64,
    f: F,
    slope: G,
    /// The peaks of φ, which become end points of the quadrature.
    wells: Vec<f64>,
    /// f at the deepest well.
    lowest: f64,
    /// The width of φ at the deepest well.
    width: f64,
}

impl<F: Fn(f64) -> f64, G: Fn(f64) -> f64> FractionalGradient<F, G> {
    /// Creates the fractional gradient of f, given its derivative and its [`wells`]. At least one
    /// well is required.
    pub(crate) fn new(alpha: f64, beta: f64, f: F, slope: G, wells: Vec<f64>) -> Self {
        let deepest =
            wells.iter().copied().fold(f64::NAN, |best, x| if f(x) >= f(best) { best } else { x });
        let lowest = f(deepest);
        let width = width(&|x| beta * f(x), deepest);
        Self { alpha, beta, f, slope, wells, lowest, width }
    }

    /// Returns the distance from the highest peak of φ at which φ has fallen by e^(−1/2).
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// Returns β(f(x) − min f), which is −ln φ up to a constant.
    pub(crate) fn rise(&self, x: f64) -> f64 {
        self.beta * ((self.f)(x) - self.lowest)
    }

    /// Returns the value at x, with an error of about 1e-12 of the integral of the absolute
    /// integrand.
    pub(crate) fn at(&self, x: f64) -> f64 {
        let slope = (self.slope)(x);
        if self.alpha == 2.0 || !x.is_finite() {
            return slope;
        }
        let (alpha, beta) = (self.alpha, self.beta);
        // φ(y)/φ(x), scaled so that its largest value is 1 and nothing overflows before the end.
        let rise = self.rise(x).max(0.0);
        if rise.is_infinite() {
            return f64::INFINITY.copysign(slope);
        }
        let weight = |y: f64| exp(-self.rise(y) + self.rise(x) - rise);
        let radius = 1.0 / (beta * slope.abs() + 1.0 / self.width);
        let centre = 2.0 * beta * slope * weight(x);
        let near = |t: f64| {
            // r = R t³ makes the integrand, which starts as r^(3−α), smooth.
            let r = radius * t * t * t;
            let derivative = |y: f64| (self.slope)(y) * weight(y);
            let change = beta * (derivative(x - r) + derivative(x + r)) - centre;
            3.0 * t * t * log_like(alpha, t * t * t) * change
        };
        let far = |r: f64| pow(r, -alpha) * (weight(x - r) - weight(x + r));
        let steepest = |y: f64| beta * ((self.slope)(y) * weight(y)).abs();
        let floor = ROUNDING * (steepest(x - radius) + steepest(x + radius) + centre.abs());
        let tolerance = Tolerance { relative: TOLERANCE, absolute: floor };
        let inner = integrate(&near, &[0.0, 0.5, 1.0], tolerance).value * pow(radius, 2.0 - alpha);
        let peak =
            |&well: &f64| weight(well) * self.width * pow((x - well).abs() + self.width, -alpha);
        let peaks: f64 = self.wells.iter().map(peak).sum();
        let floor = ROUNDING * (pow(radius, 1.0 - alpha) * weight(x) + peaks);
        let outer = self.outer(&far, x, radius, Tolerance { relative: TOLERANCE, absolute: floor });
        // sin(πα/2) from the side of 2, where it vanishes.
        let total = tgamma(alpha) / PI / beta
            * (sin(0.5 * PI * (2.0 - alpha)) * (inner + outer)
                + sine_quotient(alpha) * centre * pow(radius, 2.0 - alpha));
        let half = exp(0.5 * rise);
        total * half * half
    }

    /// Returns ∫_R^∞, over panels that double in width, split at every well, until they add
    /// nothing.
    fn outer(&self, far: &impl Fn(f64) -> f64, x: f64, radius: f64, tolerance: Tolerance) -> f64 {
        let mut breaks: Vec<f64> = Vec::new();
        for &well in &self.wells {
            let distance = (x - well).abs();
            breaks.extend([distance - 4.0 * self.width, distance, distance + 4.0 * self.width]);
        }
        let mut r = radius;
        let horizon = breaks.iter().copied().fold(2.0 * radius, f64::max);
        while r < horizon {
            breaks.push(r);
            r *= 2.0;
        }
        breaks.push(r);
        breaks.retain(|&at| at >= radius);
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let mut sum = integrate(far, &breaks, tolerance);
        while r < f64::MAX / 4.0 {
            let before = sum.size;
            sum = extend(sum, far, r, 2.0 * r, tolerance);
            r *= 2.0;
            // NaN ends the loop too.
            let added = sum.size - before;
            if added.is_nan() || added <= 0.1 * TOLERANCE * sum.size {
                break;
            }
        }
        sum.value
    }
}

/// q(r)/R^(1−α) = (1 − ρ^(1−α))/(1−α), −ln ρ at α = 1.
fn log_like(alpha: f64, rho: f64) -> f64 {
    let (q, ln) = (1.0 - alpha, log(rho));
    if q == 0.0 { -ln } else { -expm1(q * ln) / q }
}

/// sin(πα/2)/(2−α), π/2 at α = 2.
fn sine_quotient(alpha: f64) -> f64 {
    let rest = 2.0 - alpha;
    if rest == 0.0 { 0.5 * PI } else { sin(0.5 * PI * rest) / rest }
}

/// Returns the distance from a minimum of `energy` at which it has risen by 1/2, up to a factor of
/// √2.
pub(crate) fn width(energy: &impl Fn(f64) -> f64, minimum: f64) -> f64 {
    let rise = |d: f64| 0.5 * (energy(minimum + d) + energy(minimum - d)) - energy(minimum);
    let mut d = 1.0;
    // NaN, such as ∞ − ∞ far out, is not a small rise.
    let small = |d: f64| rise(d) < 0.5;
    while !small(d) && d > 1e-305 {
        d *= std::f64::consts::FRAC_1_SQRT_2;
    }
    while small(d) && d < 1e100 {
        d *= std::f64::consts::SQRT_2;
    }
    d
}

/// Returns the local minima of f on a grid of `count` equal steps of [−reach, reach], ends
/// included.
pub(crate) fn wells(f: &impl Fn(f64) -> f64, reach: f64, count: usize) -> Vec<f64> {
    let points: Vec<f64> =
        (0..=count).map(|i| reach * (2.0 * i as f64 / count as f64 - 1.0)).collect();
    let values: Vec<f64> = points.iter().map(|&x| f(x)).collect();
    let lower = |i: usize, j: usize| values.get(j).is_none_or(|other| values[i] <= *other);
    (0..=count)
        .filter(|&i| lower(i, i.wrapping_sub(1)) && lower(i, i + 1))
        .map(|i| points[i])
        .collect()
}

//! The law as an integral with positive integrands, for every α ≠ 1 and smooth through α = 1.
//!
//! Every quantity is Re ∫₀^∞ (it)^m e^(−tᵅ + itx) dt/π with m = −1, 0, 1, 2. On the contour t = r
//! e^(iφ) where the exponent is real, −tᵅ + itx = −h with
//!
//!   r^(α−1) = x cos φ / sin αφ,   h = x r cos((α−1)φ) / sin αφ,
//!
//! (Zolotarev's contour) h grows from 0 to ∞, and an integration by parts turns each integral into
//! a mean over an exponential variable, ⟨G⟩ = ∫ G e^(−h) dh:
//!
//!   sf = ⟨π/2 − φ⟩/π,   ψ = ⟨r cos φ⟩/π,   −ψ′ = ⟨r² sin φ cos φ⟩/π,   ψ″ = −⟨r³ cos 3φ⟩/(3π).
//!
//! The first three have positive integrands: no cancellation, hence relative accuracy, in the far
//! tail and in the Gaussian bulk near α = 2 alike. Zolotarev's own integral over φ breaks down at α
//! = 1, where φ is constant; in the variable τ of
//!
//!   tan φ = x e^(−(α−1)τ),   ln r = τ − ln(sin αφ / sin φ)/(α−1)
//!
//! the contour is smooth at α = 1. The trapezoidal rule in v, τ = knee + v − e^(−v), converges
//! double-exponentially.
//!
//! Near α = 2 the contour follows the imaginary axis before it turns at the saddle t = ix/2. The
//! power tail comes from the first part and e^(−x²/4) from the turn, ln(1/(2−α)) apart in τ. The
//! knee moves left to resolve both.

use crate::angles::{Angle, Base, multiples};
use crate::elementary::{atan_and_complement, exp, greater, lesser, ln, ln_1p_near};
use crate::local::Local;
use crate::simd::dispatched;
use std::f64::consts::FRAC_1_PI;

/// The trapezoidal rule in v: where it starts and its step.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// First node, where v − e^(−v) is about −36/p for integrands that fall as e^(pτ).
    first: f64,
    step: f64,
    /// How far the knee moves left near α = 2.
    shift: f64,
}

/// The quantities of the contour that depend on α ≠ 1 but not on x.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contour {
    alpha: f64,
    /// 1/(α−1)
    inverse_epsilon: f64,
    base: Base,
    /// Rule for ψ and its derivatives, whose integrands fall as e^((1+α)τ) to the left.
    density: Rule,
    /// Rule for these and for the sf, whose integrand falls as e^(ατ).
    distribution: Rule,
    /// The same for small x, where the integrand of the sf varies at small τ, where nodes are
    /// sparse.
    distribution_near_0: Rule,
    /// Rule with an error of about 1e-6, at half the cost.
    rough: Rule,
    /// The h beyond which r³ e^(−h) is below 1e-16 of its maximum.
    last_h: f64,
    /// The x²/4 beyond which e^(−x²/4) is negligible near α = 2.
    gaussian_exponent_limit: f64,
}

/// The x below which the sf requires the finer rule.
const NEAR_0: f64 = 0.2;
/// Nodes handled together: a register of AVX-512, two of AVX2.
const LANES: usize = 8;
/// Bound on ln r that keeps r³ finite. Where it is reached, r³ e^(−h) is far below rounding.
const MAX_LN_R: f64 = 230.0;

/// Keeps φ > 0 where tan φ underflows, which happens for α < 0.05 only; r cos φ and h do not depend
/// on φ there.
const SMALLEST_TAN: f64 = 1e-300;

type Lanes = [f64; LANES];

#[derive(Clone, Copy)]
struct Sums {
    sf: Lanes,
    pdf: Lanes,
    fall: Lanes,
    curvature: Lanes,
}

impl Contour {
    pub(crate) fn new(alpha: f64) -> Self {
        let delta = 2.0 - alpha;
        let peak = 3.0 / alpha;
        // The steps are the largest, with a margin, that keep the error of the rule below rounding.
        // They follow the width of the strip of analyticity, which shrinks as 1/α for α > 1.
        let density_step = 0.205 / libm::pow(alpha.clamp(1.0, 1.78), 0.85);
        let step_near_0 = match alpha {
            a if a <= 1.0 => 0.205,
            a if a < 1.93 => 0.195 / a,
            _ => 0.115,
        };
        // The smallest shift that resolves the part along the imaginary axis; the sf near 0
        // requires a larger one.
        let shift = lesser(0.0, libm::log(12.0 * delta));
        let shift_near_0 = lesser(0.0, libm::log(2.0 * delta));
        Self {
            alpha,
            inverse_epsilon: 1.0 / (alpha - 1.0),
            base: Base::of(alpha),
            density: Rule { first: -libm::log(35.0 / (1.0 + alpha)), step: density_step, shift },
            distribution: Rule { first: -libm::log(37.0 / alpha), step: density_step, shift },
            distribution_near_0: Rule {
                first: -libm::log(37.0 / alpha),
                step: step_near_0,
                shift: shift_near_0,
            },
            rough: Rule { first: -libm::log(16.0 / alpha), step: 2.0 * density_step, shift },
            last_h: 35.0 + peak + (70.0 * peak).sqrt(),
            gaussian_exponent_limit: if delta < 0.2 { 45.0 - libm::log(delta) } else { 0.0 },
        }
    }

    /// ψ and its derivatives at x > 0.
    #[inline]
    pub(crate) fn density(&self, x: f64) -> Local {
        self.integrate(x, &self.density).1
    }

    /// The sf, with ψ and its derivatives, at x > 0.
    #[inline]
    pub(crate) fn distribution(&self, x: f64) -> (f64, Local) {
        self.integrate(x, if x < NEAR_0 { &self.distribution_near_0 } else { &self.distribution })
    }

    /// [`Self::distribution`] to about 1e-6.
    #[inline]
    pub(crate) fn rough_distribution(&self, x: f64) -> (f64, Local) {
        self.integrate(x, &self.rough)
    }

    fn integrate(&self, x: f64, rule: &Rule) -> (f64, Local) {
        let sums = match self.base {
            Base::Small => sum_small(self, x, rule),
            Base::NearOne => sum_near_one(self, x, rule),
            Base::Large => sum_large(self, x, rule),
        };
        let scale = rule.step * FRAC_1_PI;
        let unit = self.unit_of_r(x);
        let [sf, pdf, fall, curvature] = [sums.sf, sums.pdf, sums.fall, sums.curvature].map(total);
        let local = Local::new(scale * pdf * unit, fall / pdf, curvature / pdf / -3.0, unit);
        (scale * sf, local)
    }

    /// The unit in which r is summed: 1, or for tiny α, where r covers hundreds of decades, 1/x.
    #[inline(always)]
    fn unit_of_r(&self, x: f64) -> f64 {
        if self.alpha < 0.05 { 1.0 / greater(x, 1e-300) } else { 1.0 }
    }
}

/// Sum of the lanes, pairwise.
#[inline(always)]
fn total(mut t: Lanes) -> f64 {
    let mut n = LANES;
    while n > 1 {
        n /= 2;
        for i in 0..n {
            t[i] += t[i + n];
        }
    }
    t[0]
}

dispatched! {
    fn sum_small(c: &Contour, x: f64, rule: &Rule) -> Sums { sum::<{ Base::Small as u8 }>(c, x, rule) }
}
dispatched! {
    fn sum_near_one(c: &Contour, x: f64, rule: &Rule) -> Sums { sum::<{ Base::NearOne as u8 }>(c, x, rule) }
}
dispatched! {
    fn sum_large(c: &Contour, x: f64, rule: &Rule) -> Sums { sum::<{ Base::Large as u8 }>(c, x, rule) }
}

#[inline(always)]
fn sum<const BASE: u8>(c: &Contour, x: f64, rule: &Rule) -> Sums {
    let knee = lesser(0.0, -ln(x)) + rule.shift;
    // Near α = 2 the density falls as e^(−x²/4) before the power tail takes over, so h must extend
    // that much further.
    let ln_unit = ln(c.unit_of_r(x));
    let last_h = c.last_h + lesser(0.25 * x * x, c.gaussian_exponent_limit);

    let zero = [0.0; LANES];
    let mut sums = Sums { sf: zero, pdf: zero, fall: zero, curvature: zero };
    let (mut v, mut left, mut h) = (zero, zero, zero);
    for lane in 0..LANES {
        v[lane] = (lane as u32 as f64).mul_add(rule.step, rule.first);
        left[lane] = exp(-v[lane]);
    }
    let stride = LANES as f64 * rule.step;
    let shrink = exp(-stride);
    while h[LANES - 1] < last_h {
        for lane in 0..LANES {
            let node = node::<BASE>(c, x, knee, ln_unit, v[lane], left[lane]);
            let pdf = node.weight * node.r * node.cos;
            let fall = pdf * node.r * node.sin;
            // cos 3φ = cos φ (1 − 4 sin² φ)
            let curvature = pdf * node.r * node.r * (4.0 * node.sin).mul_add(-node.sin, 1.0);
            sums.sf[lane] += node.weight * node.complement;
            sums.pdf[lane] += pdf;
            sums.fall[lane] += fall;
            sums.curvature[lane] += curvature;
            h[lane] = node.h;
            v[lane] += stride;
            left[lane] *= shrink;
        }
    }
    sums
}

struct Node {
    h: f64,
    /// e^(−h) dh/dv
    weight: f64,
    r: f64,
    sin: f64,
    cos: f64,
    /// π/2 − φ
    complement: f64,
}

#[inline(always)]
fn node<const BASE: u8>(c: &Contour, x: f64, knee: f64, ln_unit: f64, v: f64, left: f64) -> Node {
    let alpha = c.alpha;
    let epsilon = alpha - 1.0;
    let tau = knee + (v - left);

    let tan = greater(x * exp(-epsilon * tau), SMALLEST_TAN);
    let (phi, complement) = atan_and_complement(tan);
    // One division for the cosine and the cotangent.
    let secant = tan.mul_add(tan, 1.0).sqrt();
    let shared = 1.0 / (secant * tan);
    let (cos, cot) = (shared * tan, shared * secant);
    let sin = tan * cos;

    let m = multiples::<BASE>(alpha, &Angle { phi, complement, sin, cos });
    let ln_quotient = if BASE == Base::NearOne as u8 {
        // sin αφ/sin φ − 1 = cot φ sin(α−1)φ − (1 − cos(α−1)φ)
        ln_1p_near(cot.mul_add(m.sin_e, -m.versine_e))
    } else {
        ln(m.sin_a * (cot * secant))
    };
    let ln_r = ln_quotient.mul_add(-c.inverse_epsilon, tau);
    let r = exp(lesser(ln_r - ln_unit, MAX_LN_R));

    let inverse = 1.0 / (m.sin_a * m.cos_e);
    let h = if BASE == Base::Small as u8 {
        // Equal to the other branch by the equation of the contour, and accurate where x r
        // underflows and rᵅ does not.
        exp(alpha * ln_r) * m.cos_e / cos
    } else {
        x * r * (m.cos_e * m.cos_e * inverse)
    };
    // d ln h/dτ = sin²φ + sin φ cos φ (α² cot αφ + (α−1)² tan (α−1)φ)
    let turn = (alpha * alpha * m.cos_a).mul_add(m.cos_e, epsilon * epsilon * m.sin_e * m.sin_a);
    let growth = sin.mul_add(sin, sin * cos * inverse * turn);
    Node { h, weight: exp(-h) * h * growth * (1.0 + left), r, sin, cos, complement }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The portable code and the code dispatched on this machine return the same bits.
    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for alpha in [0.02, 0.3, 0.7, 0.8, 1.1, 1.4, 1.9, 1.9999999] {
            let c = Contour::new(alpha);
            for x in [1e-6, 0.1, 0.9, 3.0, 12.0] {
                let (portable, dispatched) = match c.base {
                    Base::Small => (
                        sum::<{ Base::Small as u8 }>(&c, x, &c.density),
                        sum_small(&c, x, &c.density),
                    ),
                    Base::NearOne => (
                        sum::<{ Base::NearOne as u8 }>(&c, x, &c.density),
                        sum_near_one(&c, x, &c.density),
                    ),
                    Base::Large => (
                        sum::<{ Base::Large as u8 }>(&c, x, &c.density),
                        sum_large(&c, x, &c.density),
                    ),
                };
                for (p, d) in [
                    (portable.sf, dispatched.sf),
                    (portable.pdf, dispatched.pdf),
                    (portable.fall, dispatched.fall),
                    (portable.curvature, dispatched.curvature),
                ] {
                    assert_eq!(
                        p.map(f64::to_bits),
                        d.map(f64::to_bits),
                        "alpha = {alpha}, x = {x}"
                    );
                }
            }
        }
    }
}

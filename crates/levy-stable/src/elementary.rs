//! Elementary functions without branches, so that a loop over them becomes SIMD code.
//!
//! They use nothing but IEEE additions, products, fused multiply-adds, quotients, square roots and
//! bit operations. The compiler may evaluate them in lanes of any width, and every lane returns the
//! same bits on every machine. The caller keeps arguments within the range that each function
//! states. The polynomials are minimax fits; the error beside each is that of the polynomial, to
//! which rounding adds.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LOG2_E};

const LN_2_HI: f64 = 6.93147180369123816490e-01;
const LN_2_LO: f64 = 1.90821492927058770002e-10;
/// 1.5·2⁵²: adding it leaves the nearest integer in the low bits of the mantissa.
const ROUND: f64 = 6755399441055744.0;

#[inline(always)]
fn horner<const N: usize>(y: f64, c: &[f64; N]) -> f64 {
    let mut p = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        p = p.mul_add(y, c[i]);
    }
    p
}

/// Smaller of two numbers that are not NaN.
#[inline(always)]
pub(crate) fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Larger of two numbers that are not NaN.
#[inline(always)]
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// eˣ to 1 ulp for −708 ≤ x ≤ 709; clamped outside.
/// For the crates of this workspace only; it is not part of the public interface.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    // (eʳ − 1 − r − r²/2)/r³ on |r| ≤ ln 2 / 2: 5.5e-18 of eʳ.
    const P: [f64; 9] = [
        0.16666666666666685,
        0.04166666666660285,
        0.008333333333313977,
        0.0013888888927244992,
        0.00019841269904800917,
        2.4801508125051345e-05,
        2.755722617053276e-06,
        2.7625405186277895e-07,
        2.5115069339953754e-08,
    ];
    let x = greater(lesser(x, 709.0), -708.0);
    let shifted = x.mul_add(LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2_LO, n.mul_add(-LN_2_HI, x));
    let r2 = r * r;
    let tail = r2.mul_add(r.mul_add(horner(r, &P), 0.5), r);
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    tail.mul_add(scale, scale)
}

/// 2 artanh(f/(2+f)) = ln(1+f), for 1/√2 ≤ 1+f ≤ √2, to 1 ulp.
#[inline(always)]
pub(crate) fn ln_1p_near(f: f64) -> f64 {
    // (2 artanh t − 2t)/t³ as a polynomial of t²: 2.3e-20 of the result.
    const P: [f64; 8] = [
        0.6666666666666666,
        0.4000000000000828,
        0.28571428568444157,
        0.22222222742056136,
        0.18181768153686123,
        0.15387414434051533,
        0.1324292563774642,
        0.1331578584937022,
    ];
    let t = f / (2.0 + f);
    let t2 = t * t;
    // 2t = f − t·f exactly; in this form the rounding of t does not enter the leading term.
    t.mul_add(t2.mul_add(horner(t2, &P), -f), f)
}

/// ln x to 1 ulp (of 1 near x = 1) for normal x > 0.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
    let offset = x.to_bits().wrapping_sub(SQRT_HALF_BITS);
    let exponent = (offset as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((exponent as u64) << 52));
    // i64 → f64 by adding to the mantissa of ROUND, an integer addition that every vector unit has.
    let n = f64::from_bits(ROUND.to_bits().wrapping_add(exponent as u64)) - ROUND;
    n.mul_add(LN_2_HI, n.mul_add(LN_2_LO, ln_1p_near(m - 1.0)))
}

/// (sin x, cos x) for |x| ≤ π/4; the sine keeps its relative accuracy at 0.
#[inline(always)]
pub(crate) fn sin_cos_octant(x: f64) -> (f64, f64) {
    // (sin x − x)/x³ and (cos x − 1 + x²/2)/x⁴ as polynomials of x²: 1.9e-21 and 4.7e-20.
    const S: [f64; 7] = [
        -0.16666666666666666,
        0.008333333333333323,
        -0.00019841269841255123,
        2.7557319214219365e-06,
        -2.5052104919286305e-08,
        1.6058367627503784e-10,
        -7.578748346282747e-13,
    ];
    const C: [f64; 6] = [
        0.0416666666666666,
        -0.0013888888888874125,
        2.480158728948234e-05,
        -2.7557314352372173e-07,
        2.0875723278132235e-09,
        -1.13596480422716e-11,
    ];
    let y = x * x;
    let sin = (y * x).mul_add(horner(y, &S), x);
    let cos = (y * y).mul_add(horner(y, &C), y.mul_add(-0.5, 1.0));
    (sin, cos)
}

/// (sin x, cos x, 1 − cos x) for |x| ≤ π/2, by doubling the angle: the cosine to 2 ulp of 1, the
/// others to 3 ulp of themselves.
#[inline(always)]
pub(crate) fn sin_cos_quadrant(x: f64) -> (f64, f64, f64) {
    let (s, c) = sin_cos_octant(0.5 * x);
    let twice = s + s;
    (twice * c, twice.mul_add(-s, 1.0), twice * s)
}

/// (arctan w, π/2 − arctan w) for w > 0, each to 2 ulp of itself.
#[inline(always)]
pub(crate) fn atan_and_complement(w: f64) -> (f64, f64) {
    // (arctan t − t)/t³ as a polynomial of t², t ≤ √2 − 1: 4.7e-20 of the result.
    const P: [f64; 12] = [
        -0.33333333333333326,
        0.1999999999999795,
        -0.14285714285415438,
        0.11111111089584465,
        -0.09090908187920374,
        0.07692283620279401,
        -0.0666623815358161,
        0.058771232746275014,
        -0.052190055144202066,
        0.04505820581580315,
        -0.03352397786107702,
        0.015242571225486154,
    ];
    let (low, high) = (lesser(w, 1.0), greater(w, 1.0));
    // arctan m = π/4 + arctan((m−1)/(m+1)); both quotients are one division.
    let far = low > 0.41421356237309503 * high;
    let t = if far { low - high } else { low } / if far { low + high } else { high };
    let t2 = t * t;
    let base = if far { FRAC_PI_4 } else { 0.0 };
    let small = base + (t2 * t).mul_add(horner(t2, &P), t);
    let large = FRAC_PI_2 - small;
    if w < 1.0 { (small, large) } else { (large, small) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest relative error of `ours` against `theirs` over a dense sweep of [lo, hi].
    fn worst(lo: f64, hi: f64, ours: impl Fn(f64) -> f64, theirs: impl Fn(f64) -> f64) -> f64 {
        (0..200_000)
            .map(|i| lo + (hi - lo) * (i as f64 + 0.37) / 200_000.0)
            .map(|x| ((ours(x) - theirs(x)) / theirs(x)).abs())
            .fold(0.0, f64::max)
    }

    const ULP: f64 = f64::EPSILON;

    #[test]
    fn exp_is_good_to_an_ulp() {
        assert!(worst(-700.0, 700.0, exp, f64::exp) < 1.5 * ULP);
        assert!(worst(-1.0, 1.0, exp, f64::exp) < 1.5 * ULP);
        assert!(exp(-1e9) < 1e-300 && exp(0.0) == 1.0);
    }

    #[test]
    fn ln_is_good_to_an_ulp() {
        assert!(worst(1e-3, 0.99, ln, f64::ln) < 2.0 * ULP);
        assert!(worst(1.01, 1e5, ln, f64::ln) < 2.0 * ULP);
        assert!(worst(-0.29, 0.41, ln_1p_near, f64::ln_1p) < 2.0 * ULP);
        assert_eq!(ln(1.0), 0.0);
        assert!((ln(1e-300) / 1e-300f64.ln() - 1.0).abs() < ULP);
    }

    #[test]
    fn angles_are_good_to_two_ulp() {
        assert!(worst(1e-9, FRAC_PI_4, |x| sin_cos_octant(x).0, f64::sin) < 1.5 * ULP);
        assert!(worst(1e-9, FRAC_PI_4, |x| sin_cos_octant(x).1, f64::cos) < 1.5 * ULP);
        assert!(worst(1e-9, FRAC_PI_2, |x| sin_cos_quadrant(x).0, f64::sin) < 3.0 * ULP);
        assert!(worst(1e-9, 1.0, |x| sin_cos_quadrant(x).1, f64::cos) < 4.0 * ULP);
        assert!(worst(1e-9, 5.0, |x| atan_and_complement(x).0, f64::atan) < 2.0 * ULP);
        assert!(worst(1e-3, 50.0, |x| atan_and_complement(x).1, |x| (1.0 / x).atan()) < 2.0 * ULP);
        assert_eq!(atan_and_complement(1e-300).0, 1e-300);
        assert_eq!(atan_and_complement(1e300).1, 1e-300);
    }
}

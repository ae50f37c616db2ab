//! A fast logarithm of an absolute value.

/// Returns 1 for a normal number and 0 for others. Exact zeros come from blank pixels and dead units, not from small noise; NaN and ∞ are
/// errors.
#[inline(always)]
pub(super) fn counts(x: f32) -> f32 {
    if x.abs() >= f32::MIN_POSITIVE && x.abs() <= f32::MAX { 1.0 } else { 0.0 }
}

/// Returns log|x| of a number that counts, and 0 for others.
#[inline(always)]
pub(super) fn log_if_counted(x: f32) -> f32 {
    log_abs(if counts(x) == 0.0 { 1.0 } else { x })
}

/// Returns log|x| of a normal number to 1e-6, by arithmetic alone: loops are vectorised, and all machines give the same bits.
#[inline(always)]
pub(super) fn log_abs(x: f32) -> f32 {
    let bits = x.abs().to_bits();
    // x = 2^e m, √½ ≤ m < √2.
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let exponent = (shifted as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((exponent as u32) << 23));
    // log m = 2 artanh t, |t| < 0.172.
    let t = (m - 1.0) / (m + 1.0);
    let tt = t * t;
    let series = 2.0 + tt * (0.666_666_7 + tt * (0.4 + tt * 0.285_714_3));
    exponent as f32 * std::f32::consts::LN_2 + t * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_logarithm() {
        for i in 0..200_000 {
            let x = (10f64.powf(f64::from(i) / 200_000.0 * 74.0 - 37.0)) as f32;
            let (ours, theirs) = (log_abs(-x), f64::from(x).ln());
            assert!(
                (f64::from(ours) - theirs).abs() < 1e-6 * theirs.abs().max(1.0),
                "{x:e}: {ours} {theirs}"
            );
        }
        assert_eq!(log_abs(1.0), 0.0);
    }

    #[test]
    fn only_normal_numbers_count() {
        for x in [0.0, -0.0, 1e-40, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!((counts(x), log_if_counted(x)), (0.0, 0.0), "{x}");
        }
        assert_eq!((counts(-2.0), counts(f32::MIN_POSITIVE), counts(f32::MAX)), (1.0, 1.0, 1.0));
    }
}

//! Sines and cosines of αφ and (α−1)φ from one evaluation, without cancellation.
//!
//! Zolotarev's contour and the method of Chambers, Mallows and Stuck are built from the same
//! angles: φ between 0 and π/2, and its multiples. One multiple, chosen by α, is computed; the
//! others follow from the addition theorems.

use crate::elementary::sin_cos_quadrant;
use std::f64::consts::FRAC_PI_2;

/// The multiple of φ that is computed directly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Base {
    /// α < 3/4: αφ.
    Small,
    /// 3/4 ≤ α ≤ 5/4: (α−1)φ, with its versine, so that quotients stay smooth at α = 1.
    NearOne,
    /// α > 5/4: (α−1)φ, or for φ > π/4 its complement (2−α)π/2 + (α−1)(π/2−φ), which is small near
    /// α = 2.
    Large,
}

impl Base {
    pub(crate) fn of(alpha: f64) -> Self {
        match alpha {
            a if a < 0.75 => Self::Small,
            a if a <= 1.25 => Self::NearOne,
            _ => Self::Large,
        }
    }
}

/// The angle φ and functions of it, each with full relative accuracy.
pub(crate) struct Angle {
    pub(crate) phi: f64,
    /// π/2 − φ
    pub(crate) complement: f64,
    pub(crate) sin: f64,
    pub(crate) cos: f64,
}

/// Functions of the multiples of φ.
pub(crate) struct Multiples {
    /// sin αφ
    pub(crate) sin_a: f64,
    /// cos αφ
    pub(crate) cos_a: f64,
    /// sin (α−1)φ
    pub(crate) sin_e: f64,
    /// cos (α−1)φ
    pub(crate) cos_e: f64,
    /// 1 − cos (α−1)φ; only from [`Base::NearOne`], 0 otherwise.
    pub(crate) versine_e: f64,
}

/// The multiples of φ by the base `BASE` (a [`Base`] as `u8`).
#[inline(always)]
pub(crate) fn multiples<const BASE: u8>(alpha: f64, angle: &Angle) -> Multiples {
    let Angle { phi, complement, sin, cos } = *angle;
    let epsilon = alpha - 1.0;
    if BASE == Base::Small as u8 {
        let (sin_a, cos_a, _) = sin_cos_quadrant(alpha * phi);
        let cos_e = cos_a.mul_add(cos, sin_a * sin);
        let sin_e = sin_a.mul_add(cos, -(cos_a * sin));
        return Multiples { sin_a, cos_a, sin_e, cos_e, versine_e: 0.0 };
    }
    let (sin_e, cos_e, versine_e);
    if BASE == Base::NearOne as u8 {
        (sin_e, cos_e, versine_e) = sin_cos_quadrant(epsilon * phi);
    } else {
        let direct = phi < complement;
        let rest = epsilon.mul_add(complement, (2.0 - alpha) * FRAC_PI_2);
        let (s, c, _) = sin_cos_quadrant(if direct { epsilon * phi } else { rest });
        (sin_e, cos_e) = if direct { (s, c) } else { (c, s) };
        versine_e = 0.0;
    }
    let sin_a = sin.mul_add(cos_e, cos * sin_e);
    let cos_a = cos.mul_add(cos_e, -(sin * sin_e));
    Multiples { sin_a, cos_a, sin_e, cos_e, versine_e }
}

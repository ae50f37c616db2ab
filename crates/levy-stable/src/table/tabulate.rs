//! Tabulation of the field ∇G_α of one α.

use super::data::{NEAR_OCTAVES, TableAlpha, TableData, TableError, tabulated};
use super::fit::{Fit, Fitted};
use super::real::Real;
use crate::SymmetricStable;
use crate::unit::Regime;

/// The table ends where the terms v^(−α) that v∇G = 1 + α neglects are this fraction of the
/// tolerance.
const NEGLIGIBLE: f64 = 0.05;
/// Tolerance of the polynomials in double precision, relative to the field; rounding comes on top.
pub(crate) const DOUBLE_TOLERANCE: f64 = 2e-13;

impl TableData {
    /// Tabulates the field of 0.1 ≤ α ≤ 2 for single precision, with the fewest numbers to load per
    /// v.
    pub fn single(alpha: f64) -> Result<Self, TableError> {
        Ok(tabulate::<f32, 4>(&tabulated(alpha)?, 3e-8))
    }

    /// Tabulates the field of 0.1 ≤ α ≤ 2 for double precision.
    pub fn double(alpha: f64) -> Result<Self, TableError> {
        Ok(tabulate::<f64, 8>(&tabulated(alpha)?, DOUBLE_TOLERANCE))
    }
}

/// Tabulates the field of one α with `N` coefficients per piece, for arguments of type `T`.
pub(crate) fn tabulate<T: Real, const N: usize>(
    law: &SymmetricStable,
    tolerance: f64,
) -> TableData {
    let alpha = law.alpha();
    if alpha == 2.0 {
        // The field is v: one octave with a constant.
        return TableData::new(TableAlpha::Value(alpha), 0, &Fitted::<N, 1>::constant([1.0]));
    }
    let span = Span::of::<T>(law, tolerance);
    let fitted = span.fit(tolerance).fit::<N, 1>(&[span.held(law)], Some([1.0 + alpha]));
    TableData::new(TableAlpha::Value(alpha), span.first, &fitted)
}

/// The octaves of u in which the field of one α, or of some, is neither straight nor equal to its
/// limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) first: i32,
    last: i32,
}

impl Span {
    /// Returns the octaves that the tolerance requires, as far as numbers of type `T` have them.
    pub(crate) fn of<T: Real>(law: &SymmetricStable, tolerance: f64) -> Self {
        // At a quarter of the knee the field is nearly straight.
        let straight = 0.25 * law.scale() * law.unit().knee();
        let first = (libm::log2(straight).floor() as i32).clamp(T::EXPONENTS.start, 0);
        let last = (libm::log2(NEGLIGIBLE * tolerance) / -law.alpha()).ceil() as i32;
        Self { first, last: last.clamp(6, T::EXPONENTS.end - 1) }
    }

    /// Returns the octaves that are in either span.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    /// Returns the interval of v that the octaves cover.
    pub(crate) fn fit(self, tolerance: f64) -> Fit {
        Fit { lowest: self.first, end: libm::exp2(f64::from(self.last - 1)), tolerance, floor: 0.0 }
    }

    /// Returns the function of v that the table holds.
    pub(crate) fn held(self, law: &SymmetricStable) -> impl Fn(f64) -> f64 {
        let switch = libm::exp2(f64::from(self.first + NEAR_OCTAVES as i32 - 1));
        let ratio = ratio(law);
        move |v| if v >= switch { grad_g(law, v) * v } else { ratio(v) }
    }
}

/// Returns ∇G(v) of the law from [`SymmetricStable::kinetic`].
fn grad_g(law: &SymmetricStable, v: f64) -> f64 {
    -law.score(v)
}

/// Returns ∇G(v)/v as a function of v, which is finite at 0.
pub(crate) fn ratio(law: &SymmetricStable) -> impl Fn(f64) -> f64 {
    let slope = -law.score_derivative(0.0);
    move |v| if law.regime(v) == Regime::Origin { slope } else { grad_g(law, v) / v }
}

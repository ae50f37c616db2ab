//! The field ∇G_α on all of ℝ, evaluated from one table of octaves.
//!
//! ∇G is odd. The table holds ∇G/v near 0 and v∇G elsewhere: both are smooth and without zeros, so that the relative error
//! is bounded everywhere.

use super::data::{TableAlpha, TableData, TableError};
use super::fit::{Fit, Fitted};
use super::octave_table::OctaveTable;
use super::real::{Octave, Real};
use crate::unit::Regime;
use crate::{Alpha, ParameterError, SymmetricStable};

/// Octaves that hold ∇G/v; the others hold v∇G. The change is at v = 4w, about where ∇G is largest: there both are equally
/// steep.
pub(crate) const NEAR_OCTAVES: u32 = 3;
/// The table ends where the terms v^(−α) that v∇G = 1 + α neglects are this fraction of the tolerance.
const NEGLIGIBLE: f64 = 0.05;

/// The field in one precision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field<T, const N: usize> {
    /// The largest |v| for which the table holds ∇G/v.
    near: T,
    table: OctaveTable<T, N>,
}

impl<T: Real, const N: usize> Field<T, N> {
    /// Reads a table of one α with `N` coefficients per piece.
    pub(crate) fn new(data: &TableData) -> Result<Self, TableError> {
        data.check()?;
        let exponents = data.lowest..data.lowest + data.octaves.len() as i32;
        if exponents.start < T::EXPONENTS.start || exponents.end > T::EXPONENTS.end {
            return Err(TableError::Exponents(exponents));
        }
        let (pieces, rest) = data.coefficients.as_chunks();
        if data.terms != N || data.alpha_terms != 1 || !rest.is_empty() {
            return Err(TableError::Terms { found: [data.alpha_terms, data.terms], needed: [1, N] });
        }
        let octaves = data.octaves.iter().map(|&[first, split]| Octave { first, split }).collect();
        let table = OctaveTable::rounded(data.lowest, octaves, pieces.iter());
        let near = data.switch().map_or(T::rounded(f64::INFINITY), |v| T::rounded(v).before());
        Ok(Self { near, table })
    }

    /// Returns the field at v.
    #[inline(always)]
    pub(crate) fn at(&self, v: T) -> T {
        let size = v.size();
        let held = self.table.evaluate(size);
        let field = if size > self.near { held / size } else { held * size };
        field.signed_as(v)
    }

    /// Returns the table as it is stored.
    pub(crate) fn data(&self, alpha: f64, max_relative_error: f64) -> TableData {
        let octaves = self.table.octaves();
        TableData {
            version: TableData::VERSION,
            alpha: TableAlpha::Value(alpha),
            lowest: self.table.lowest(),
            near_octaves: NEAR_OCTAVES.min(octaves.len() as u32),
            octaves: octaves.iter().map(|octave| [octave.first, octave.split]).collect(),
            terms: N,
            alpha_terms: 1,
            coefficients: self.table.coefficients().iter().map(|c| c.double()).collect(),
            max_relative_error,
        }
    }

    /// Returns the bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

/// Tabulates the field of one α with `N` coefficients per piece, for arguments of type `T`.
pub(crate) fn tabulate<T: Real, const N: usize>(law: &SymmetricStable, tolerance: f64) -> TableData {
    let alpha = law.alpha();
    if alpha == 2.0 {
        // The field is v: one octave with a constant.
        return TableData::new(TableAlpha::Value(alpha), 0, &Fitted::<N, 1>::constant([1.0]));
    }
    let span = Span::of::<T>(law, tolerance);
    let fitted = span.fit(tolerance).fit::<N, 1>(&[span.held(law)], Some([1.0 + alpha]));
    TableData::new(TableAlpha::Value(alpha), span.first, &fitted)
}

/// The octaves of u in which the field of one α, or of some, is neither straight nor equal to its limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) first: i32,
    last: i32,
}

impl Span {
    /// Returns the octaves that the tolerance requires, as far as numbers of type `T` have them.
    pub(crate) fn of<T: Real>(law: &SymmetricStable, tolerance: f64) -> Self {
        // At a quarter of the knee the field is nearly straight.
        let straight = 0.25 * law.scale() * law.unit().bend();
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

/// Returns the law that ∇G_α belongs to, for 0.1 ≤ α ≤ 2: below, the field bends over more octaves than a table should have.
pub(crate) fn tabulated(alpha: f64) -> Result<SymmetricStable, ParameterError> {
    if Alpha::new(alpha)?.get() < 0.1 {
        return Err(ParameterError::TableAlpha(alpha));
    }
    SymmetricStable::kinetic(alpha)
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

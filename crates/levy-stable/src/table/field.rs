//! The field ∇G_α on all of ℝ, evaluated from one table of octaves.
//!
//! ∇G is odd. The table holds ∇G/v near 0 and v∇G elsewhere: both are smooth and without zeros, so
//! that the relative error is bounded everywhere.

use super::data::{NEAR_OCTAVES, TableAlpha, TableData, TableError};
use super::octave_table::OctaveTable;
use super::real::{Octave, Real};

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
            return Err(TableError::Terms {
                found: [data.alpha_terms, data.terms],
                needed: [1, N],
            });
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

//! ∇G_α from a table: for chains and optimizers, which evaluate it some hundred million times per
//! second.

use super::bulk::Lanes;
use super::data::{TableAlpha, TableData, TableError, tabulated};
use super::field::Field;
use super::single::Single;
use super::tabulate::{DOUBLE_TOLERANCE, tabulate};
use crate::ParameterError;
use crate::simd::dispatched;

/// The kinetic-energy field ∇G_α of one α on all of ℝ, tabulated.
///
/// ∇G_α = −ψ′/ψ, where ψ is the density of SαS(α^(−1/α)) (see
/// [`SymmetricStable::kinetic`](crate::SymmetricStable::kinetic)). The table holds ∇G_α(v)/v near 0
/// and v·∇G_α(v) elsewhere, both smooth and without zeros, as polynomials on pieces of the octaves
/// of |v|. So the relative error is bounded everywhere. The field is exactly odd, 0 at 0 and ±∞ (±∞
/// at ±∞ for α = 2), NaN at NaN, and at α = 2 it is v bit for bit.
///
/// For 0.1 ≤ α ≤ 2 and every v the relative error is at most 1e-12 in double and 2e-7 in single
/// precision (measured: 2.1e-13 and 1.8e-7). A table takes 9 to 80 KB for doubles and 2 to 8 KB for
/// singles, the less the closer α is to the middle of (1, 2), and is built in 2 to 40 milliseconds.
/// Single and slice forms give the same bits.
///
/// In single precision there is a second table around 0, which stays in vector registers. It
/// reaches |v| = 60 at α = 1.5, 30 at 1.75 and 6 at 1.99: for α > 1 draws of SαS(α^(−1/α)) seldom
/// leave it. Beyond it slices are ten times slower.
///
/// With the feature `serde` a table is stored as two [`TableData`], which are checked when they are
/// read.
///
/// ```
/// use levy_stable::{FieldTable, SymmetricStable};
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let field = FieldTable::new(1.5)?;
/// let exact = -SymmetricStable::kinetic(1.5)?.score(0.7);
/// assert!((field.at(0.7) / exact - 1.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Stored", try_from = "Stored"))]
pub struct FieldTable {
    alpha: f64,
    double: Field<f64, 8>,
    single: Single,
    /// Of the polynomials in double and in single precision.
    max_relative_error: [f64; 2],
}

/// The two tables in their serialised form.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Stored {
    double: TableData,
    single: TableData,
}

impl From<FieldTable> for Stored {
    fn from(table: FieldTable) -> Self {
        Self { double: table.double(), single: table.single() }
    }
}

impl TryFrom<Stored> for FieldTable {
    type Error = TableError;

    fn try_from(Stored { double, single }: Stored) -> Result<Self, TableError> {
        let TableAlpha::Value(alpha) = double.alpha else {
            return Err(TableError::Damaged("the field of one alpha cannot be read from a band"));
        };
        if single.alpha != double.alpha {
            return Err(TableError::Damaged("its tables are of different alpha"));
        }
        let law = tabulated(alpha)?;
        Ok(Self {
            alpha,
            double: Field::new(&double)?,
            single: Single::new(&law, &single)?,
            max_relative_error: [double.max_relative_error, single.max_relative_error],
        })
    }
}

impl FieldTable {
    /// Builds the table for 0.1 ≤ α ≤ 2: for smaller α, ∇G_α is nonlinear over too many octaves for
    /// a table.
    pub fn new(alpha: f64) -> Result<Self, ParameterError> {
        let law = tabulated(alpha)?;
        let stored = Stored {
            double: tabulate::<f64, 8>(&law, DOUBLE_TOLERANCE),
            single: Single::tabulate(&law),
        };
        stored.try_into().map_err(|error| match error {
            TableError::Parameter(error) => error,
            error => unreachable!("a table that was just built is sound: {error}"),
        })
    }

    /// Returns the table of double precision in its serialised form.
    pub fn double(&self) -> TableData {
        self.double.data(self.alpha, self.max_relative_error[0])
    }

    /// Returns the table of single precision in its serialised form, without the part in vector
    /// registers.
    ///
    /// It has eight coefficients per piece; [`TableData::single`] builds one with four.
    pub fn single(&self) -> TableData {
        self.single.data(self.alpha, self.max_relative_error[1])
    }

    /// Returns the tail index.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the largest relative error of the polynomials in double precision, measured between
    /// their nodes while building.
    pub fn max_relative_error(&self) -> f64 {
        self.max_relative_error[0]
    }

    /// Returns the bytes taken by the double and by the single table.
    pub fn bytes(&self) -> (usize, usize) {
        (self.double.bytes(), self.single.bytes())
    }

    /// Returns ∇G_α(v).
    pub fn at(&self, v: f64) -> f64 {
        at_f64(&self.double, v)
    }

    /// Returns ∇G_α(v) in single precision.
    pub fn at_f32(&self, v: f32) -> f32 {
        at_f32(&self.single, v)
    }

    /// Computes `out[i] = ∇G_α(v[i])`. Panics if the slices differ in length.
    pub fn eval_into(&self, v: &[f64], out: &mut [f64]) {
        assert_eq!(v.len(), out.len(), "input and output must have the same length");
        eval_f64(&self.double, v, out);
    }

    /// Computes `out[i] = ∇G_α(v[i])` in single precision. Panics if the slices differ in length.
    pub fn eval_into_f32(&self, v: &[f32], out: &mut [f32]) {
        assert_eq!(v.len(), out.len(), "input and output must have the same length");
        let (blocks, rest) = v.as_chunks();
        let (out_blocks, out_rest) = out.as_chunks_mut();
        self.blocks_f32(
            blocks.iter().zip(out_blocks),
            |(v, _)| Lanes(**v),
            |(_, out), field| *out = field.0,
        );
        for (out, &v) in out_rest.iter_mut().zip(rest) {
            *out = self.at_f32(v);
        }
    }

    /// Evaluates the field in the middle of a loop over blocks of sixteen numbers.
    ///
    /// `before` returns the arguments for a block, `after` receives the block and the field there.
    /// Nothing is stored in between, so that the loop takes no more memory bandwidth than its
    /// blocks.
    ///
    /// ```
    /// # fn main() -> Result<(), levy_stable::ParameterError> {
    /// use levy_stable::{Lanes, FieldTable};
    /// let field = FieldTable::new(1.5)?;
    /// let mut x = [1f32; 64];
    /// let (blocks, _) = x.as_chunks_mut();
    /// field.blocks_f32(blocks.iter_mut(), |x| Lanes(x.map(|x| 0.5 * x)), |x, h| *x = h.0);
    /// assert_eq!(x[7], field.at_f32(0.5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn blocks_f32<B>(
        &self,
        blocks: impl Iterator<Item = B>,
        before: impl FnMut(&mut B) -> Lanes,
        after: impl FnMut(B, Lanes),
    ) {
        self.single.blocks(blocks, before, after);
    }
}

dispatched! {
    fn at_f64(field: &Field<f64, 8>, v: f64) -> f64 { field.at(v) }
}
dispatched! {
    fn at_f32(field: &Single, v: f32) -> f32 { field.at(v) }
}
dispatched! {
    fn eval_f64(field: &Field<f64, 8>, v: &[f64], out: &mut [f64]) {
        // Eight coefficients per piece are best loaded as they are used: blocks would double the
        // time.
        for (out, &v) in out.iter_mut().zip(v) {
            *out = field.at(v);
        }
    }
}

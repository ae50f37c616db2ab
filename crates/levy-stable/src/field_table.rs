//! ∇G_α from a table: for chains and optimizers, which want it some hundred million times a second.

use crate::ParameterError;
#[cfg(feature = "serde")]
use crate::SymmetricStable;
use crate::bulk::Lanes;
use crate::field::{Field, tabulated};
use crate::simd::dispatched;
use crate::single::Single;

/// The kinetic-energy field ∇G_α of one α on all of ℝ, tabulated.
///
/// ∇G_α(v) is the score of SαS(α^(−1/α)) (see [`SymmetricStable::kinetic`](crate::SymmetricStable::kinetic)). The table holds ∇G_α(v)/v near 0 and
/// v·∇G_α(v) elsewhere, both smooth and without zeros, as polynomials on pieces of the octaves of |v|. So the relative
/// error is bounded everywhere, the field is exactly odd, 0 at 0 and ±∞ (±∞ at ±∞ for α = 2), NaN at NaN, and at α = 2 it is v bit
/// for bit.
///
/// For 0.1 ≤ α ≤ 2 and every v the relative error is at most 1e-12 in double and 2e-7 in single precision (measured:
/// 2.1e-13 and 1.8e-7). A table takes 9 to 80 KB for doubles and 2 to 8 KB for singles, the less the closer α is to
/// the middle of (1, 2), and is built in 2 to 40 milliseconds. Single and slice forms give the same bits.
///
/// Singles have a second table around 0, which stays in vector registers. It reaches 60 at α = 1.5, 30 at 1.75 and 6 at 1.99:
/// seldom does v leave it when its law is the one whose score this is and α > 1. Beyond it slices are ten times slower.
///
/// ```
/// use levy_stable::{FieldTable, SymmetricStable};
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let field = FieldTable::new(1.5)?;
/// let exact = SymmetricStable::kinetic(1.5)?.score(0.7);
/// assert!((field.at(0.7) / exact - 1.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Stored"))]
pub struct FieldTable {
    alpha: f64,
    double: Field<f64, 8>,
    single: Single,
    max_relative_error: f64,
}

/// Tolerance of the polynomials; rounding comes on top.
const TOLERANCE: f64 = 2e-13;

impl FieldTable {
    /// Builds the table for 0.1 ≤ α ≤ 2: below, ∇G_α bends over more octaves than a table should have.
    pub fn new(alpha: f64) -> Result<Self, ParameterError> {
        let law = tabulated(alpha)?;
        // Octaves that doubles can hold, with room for the factor 2 in the argument.
        let (double, max_relative_error) = Field::build(&law, TOLERANCE, -1000..1000);
        let single = Single::build(&law);
        Ok(Self { alpha, double, single, max_relative_error })
    }

    /// The tail index.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Largest relative error of the polynomials in double precision, seen between their nodes while building.
    pub fn max_relative_error(&self) -> f64 {
        self.max_relative_error
    }

    /// Bytes taken by the double and by the single table.
    pub fn bytes(&self) -> (usize, usize) {
        (self.double.bytes(), self.single.bytes())
    }

    /// ∇G_α(v).
    pub fn at(&self, v: f64) -> f64 {
        at_f64(&self.double, v)
    }

    /// ∇G_α(v) in single precision.
    pub fn at_f32(&self, v: f32) -> f32 {
        at_f32(&self.single, v)
    }

    /// `out[i] = ∇G_α(v[i])`. Panics if the slices differ in length.
    pub fn eval_into(&self, v: &[f64], out: &mut [f64]) {
        assert_eq!(v.len(), out.len(), "input and output must have the same length");
        eval_f64(&self.double, v, out);
    }

    /// `out[i] = ∇G_α(v[i])` in single precision. Panics if the slices differ in length.
    pub fn eval_into_f32(&self, v: &[f32], out: &mut [f32]) {
        assert_eq!(v.len(), out.len(), "input and output must have the same length");
        let (blocks, rest) = v.as_chunks();
        let (out_blocks, out_rest) = out.as_chunks_mut();
        self.blocks_f32(blocks.iter().zip(out_blocks), |(v, _)| Lanes(**v), |(_, out), field| *out = field.0);
        for (out, &v) in out_rest.iter_mut().zip(rest) {
            *out = self.at_f32(v);
        }
    }

    /// Evaluates the field in the middle of a loop over blocks of sixteen numbers: `before` makes arguments from a block,
    /// `after` gets the block and the field there. Nothing is stored between, so that a loop bound by memory stays so.
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
        // Eight coefficients a piece are best loaded as they are used: blocks would double the time.
        for (out, &v) in out.iter_mut().zip(v) {
            *out = field.at(v);
        }
    }
}
/// A table as read from a file, before its index is known to be sound.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Stored {
    alpha: f64,
    double: Field<f64, 8>,
    single: Single,
    max_relative_error: f64,
}

#[cfg(feature = "serde")]
impl TryFrom<Stored> for FieldTable {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { alpha, double, mut single, max_relative_error } = stored;
        let law = SymmetricStable::kinetic(alpha).map_err(|error| error.to_string())?;
        if !double.is_sound() || !single.is_sound() {
            return Err("the stored table is damaged: its index points outside its coefficients".into());
        }
        single.complete(&law);
        Ok(Self { alpha, double, single, max_relative_error })
    }
}

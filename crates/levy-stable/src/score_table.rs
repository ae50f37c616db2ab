//! ∇G_α from a table: for chains and optimizers, which want it some hundred million times a second.

use crate::piecewise::{BLOCK, Piecewise, Real};
use crate::simd::dispatched;
use crate::unit::Regime;
use crate::{ParameterError, SymmetricStable};

/// The kinetic-energy field ∇G_α of one α on all of ℝ, tabulated.
///
/// ∇G_α(v) is the score of SαS(α^(−1/α)) (see [`SymmetricStable::kinetic`]). The table holds ∇G_α(v)/v near 0 and
/// v·∇G_α(v) elsewhere, both smooth and without zeros, as polynomials on pieces of the octaves of |v|. So the relative
/// error is bounded everywhere, the field is exactly odd, 0 at 0 and ±∞ (±∞ at ±∞ for α = 2), NaN at NaN, and at α = 2 it is v bit
/// for bit.
///
/// For 0.1 ≤ α ≤ 2 and every v the relative error is at most 1e-12 in double and 2e-7 in single precision (measured:
/// 2.1e-13 and 1.9e-7). A table takes 9 to 80 KB for doubles and 4 to 19 KB for singles, the less the closer α is to
/// the middle of (1, 2), and is built in 2 to 30 milliseconds. Single and slice forms give the same bits.
///
/// ```
/// use levy_stable::{ScoreTable, SymmetricStable};
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let field = ScoreTable::new(1.5)?;
/// let exact = SymmetricStable::kinetic(1.5)?.score(0.7);
/// assert!((field.at(0.7) / exact - 1.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Stored"))]
pub struct ScoreTable {
    alpha: f64,
    double: Field<f64, 8>,
    single: Field<f32, 4>,
    max_relative_error: f64,
}

/// Tolerance of the polynomials; rounding comes on top.
const DOUBLE_TOLERANCE: f64 = 2e-13;
const SINGLE_TOLERANCE: f64 = 1.5e-8;
/// Beyond the last octave v∇G = 1 + α up to terms v^(−α) below this.
const NEGLIGIBLE: f64 = 1e-14;

impl ScoreTable {
    /// Builds the table for 0 < α ≤ 2.
    pub fn new(alpha: f64) -> Result<Self, ParameterError> {
        let law = SymmetricStable::kinetic(alpha)?;
        // Octaves that the types can hold, with room for the factor 2 in the argument.
        let (double, max_relative_error) = Field::build(&law, DOUBLE_TOLERANCE, -1000..1000);
        let (single, _) = Field::build(&law, SINGLE_TOLERANCE, -100..126);
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
        (self.double.table.bytes(), self.single.table.bytes())
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
        eval_f32(&self.single, v, out);
    }
}

/// The field in one precision.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Field<T, const N: usize> {
    /// w, a power of two. The argument of the table is u = max(|v| + w, 2|v|): one octave holds all |v| < w, and above
    /// u is exact.
    shift: T,
    /// The table holds ∇G/v up to this |v|, and v∇G above.
    near: T,
    table: Piecewise<T, N>,
}

impl<T: Real, const N: usize> Field<T, N> {
    /// The field to `tolerance`, with octaves as far as `range` allows, and the largest error seen.
    fn build(law: &SymmetricStable, tolerance: f64, range: std::ops::Range<i32>) -> (Self, f64) {
        let alpha = law.alpha();
        if alpha == 2.0 {
            let table = Piecewise::constant(1.0);
            return (Self { shift: T::rounded(1.0), near: T::rounded(f64::INFINITY), table }, 0.0);
        }
        // A quarter of where the field bends, it is nearly straight.
        let slope = law.score_derivative(0.0);
        let straight = 0.25 * law.scale() * law.unit().bend();
        let first = (libm::log2(straight).floor() as i32).clamp(range.start, 0);
        let shift = libm::exp2(f64::from(first));
        // About where ∇G is largest; there ∇G/v and v∇G are equally steep.
        let switch = 4.0 * shift;
        let last = ((libm::log2(NEGLIGIBLE) / -alpha).ceil() as i32).clamp(6, range.end);
        let (table, error) = Piecewise::fit(first..last, 1.0 + alpha, tolerance, 0.0, |u| {
            let v = if u < 2.0 * shift { u - shift } else { 0.5 * u };
            if v >= switch {
                law.score(v) * v
            } else if law.regime(v) == Regime::Origin {
                slope
            } else {
                law.score(v) / v
            }
        });
        (Self { shift: T::rounded(shift), near: T::rounded(switch).before(), table }, error)
    }

    #[inline(always)]
    fn argument(&self, v: T) -> T {
        let size = v.size();
        let (near, far) = (size + self.shift, size + size);
        if near > far { near } else { far }
    }

    /// ∇G(v) from what the table holds there.
    #[inline(always)]
    fn value(&self, v: T, held: T) -> T {
        let size = v.size();
        let field = if size > self.near { held / size } else { held * size };
        field.signed_as(v)
    }

    #[inline(always)]
    fn at(&self, v: T) -> T {
        self.value(v, self.table.at(self.argument(v)))
    }

    #[inline(always)]
    fn at_block(&self, v: &[T; BLOCK], out: &mut [T; BLOCK]) {
        let u = v.map(|v| self.argument(v));
        self.table.at_block(&u, out);
        for (held, &v) in out.iter_mut().zip(v) {
            *held = self.value(v, *held);
        }
    }
}

dispatched! {
    fn at_f64(field: &Field<f64, 8>, v: f64) -> f64 { field.at(v) }
}
dispatched! {
    fn at_f32(field: &Field<f32, 4>, v: f32) -> f32 { field.at(v) }
}
dispatched! {
    fn eval_f64(field: &Field<f64, 8>, v: &[f64], out: &mut [f64]) {
        // Eight coefficients a piece are best loaded as they are used: blocks would double the time.
        for (out, &v) in out.iter_mut().zip(v) {
            *out = field.at(v);
        }
    }
}
dispatched! {
    fn eval_f32(field: &Field<f32, 4>, v: &[f32], out: &mut [f32]) {
        let (blocks, rest) = v.as_chunks();
        let (out_blocks, out_rest) = out.as_chunks_mut();
        for (v, out) in blocks.iter().zip(out_blocks) {
            field.at_block(v, out);
        }
        for (out, &v) in out_rest.iter_mut().zip(rest) {
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
    single: Field<f32, 4>,
    max_relative_error: f64,
}

#[cfg(feature = "serde")]
impl TryFrom<Stored> for ScoreTable {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { alpha, double, single, max_relative_error } = stored;
        crate::Alpha::new(alpha).map_err(|error| error.to_string())?;
        if !double.table.is_sound() || !single.table.is_sound() {
            return Err("the stored table is damaged: its index points outside its coefficients".into());
        }
        Ok(Self { alpha, double, single, max_relative_error })
    }
}

//! ∇G_α as plain arrays, for devices that look numbers up in their own memory.

use crate::ParameterError;
use crate::field::{Field, tabulated};

/// Everything that a kernel on another device needs to evaluate ∇G_α, with the fewest numbers to look up for each v: four in
/// single precision, eight in double.
///
/// The value at v ≥ 0 (the field is odd) is found from u = max(v + w, 2v), w being `shift`:
///
/// - its exponent, less `lowest` and at most the last one, is the number of an octave, for which `octaves` has the index of a
///   first piece and a split;
/// - the octave has 2^split equal pieces; which one u is in, and at which t, −1/2 ≤ t < 1/2, are shifts of u's mantissa;
/// - the piece's polynomial in t is ∇G/v if v ≤ `near`, and v∇G above.
///
/// The relative error is at most 3e-7 in single and 1e-12 in double precision. On this processor a
/// [`FieldTable`](crate::FieldTable) is faster.
///
/// ```
/// use levy_stable::{FieldPieces, SymmetricStable};
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let pieces = FieldPieces::<f32>::new(1.5)?;
/// // At 0 the first piece holds the slope, half a piece left of its centre.
/// let slope = pieces.coefficients[0].iter().rev().fold(0.0, |p, c| p * -0.5 + c);
/// let exact = SymmetricStable::kinetic(1.5)?.score_derivative(0.0);
/// assert!((f64::from(slope) - exact).abs() < 3e-7 * exact);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPieces<T> {
    /// w, a power of two.
    pub shift: T,
    /// The largest v whose piece holds ∇G/v.
    pub near: T,
    /// Binary exponent of the first octave.
    pub lowest: i32,
    /// Index of the first piece, and split, of each octave. The last goes on to infinity.
    pub octaves: Vec<[u32; 2]>,
    /// The polynomials, the lowest power of t first.
    pub coefficients: Vec<Vec<T>>,
}

macro_rules! pieces {
    ($float:ty, $terms:literal, $tolerance:literal, $octaves:expr) => {
        impl FieldPieces<$float> {
            /// Tabulates the field for 0.1 ≤ α ≤ 2.
            pub fn new(alpha: f64) -> Result<Self, ParameterError> {
                let law = tabulated(alpha)?;
                let (field, _) = Field::<$float, $terms>::build(&law, $tolerance, $octaves);
                let (shift, near, table) = field.parts();
                let (lowest, octaves, coefficients) = table.parts();
                let coefficients = coefficients.chunks($terms).map(<[$float]>::to_vec).collect();
                Ok(Self { shift, near, lowest, octaves: octaves.collect(), coefficients })
            }
        }
    };
}

pieces!(f32, 4, 3e-8, -100..126);
pieces!(f64, 8, 2e-13, -1000..1000);

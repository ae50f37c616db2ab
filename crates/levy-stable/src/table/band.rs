//! ∇G_α(v) as a table in α and v, for programs that learn α only while they run on a device.

use super::data::{TableAlpha, TableData, TableError};
use super::fit::nodes;
use super::tabulate::Span;
use crate::SymmetricStable;

/// Tolerance of the polynomials in v at their α, relative to the field. Those in α add about as
/// much.
const TOLERANCE: f64 = 1e-9;
/// Coefficients in t.
const TERMS: usize = 8;
/// Coefficients in α.
const ALPHA_TERMS: usize = 10;

impl TableData {
    /// Number of bands that cover 0.1 ≤ α ≤ 2 − 2⁻³⁰. In their order α falls.
    pub const BANDS: usize = EDGES.len() - 1;

    /// Tabulates the field for all α of one band, in some 15 milliseconds.
    ///
    /// The octaves are those of single precision: for v > 1e37 the table of a small α has its limit
    /// 1 + α, which v∇G has not reached for α < 0.3.
    pub fn band(number: usize) -> Result<Self, TableError> {
        let Some(&[from, to]) = EDGES.array_windows().nth(number) else {
            return Err(TableError::Band { number, last: Self::BANDS - 1 });
        };
        let (centre, width) = (0.5 * (from + to), to - from);
        let mut laws = Vec::with_capacity(ALPHA_TERMS);
        for a in nodes::<ALPHA_TERMS>() {
            // α = 2/(1 + 2^s)
            laws.push(SymmetricStable::kinetic(2.0 / (1.0 + libm::exp2(centre + width * a)))?);
        }
        let spans = laws.iter().map(|law| Span::of::<f32>(law, TOLERANCE));
        let Some(span) = spans.reduce(Span::with) else { unreachable!("there are ten laws") };
        let held: [_; ALPHA_TERMS] = std::array::from_fn(|i| span.held(&laws[i]));
        let beyond = std::array::from_fn(|i| 1.0 + laws[i].alpha());
        let fitted = span.fit(TOLERANCE).fit::<TERMS, ALPHA_TERMS>(&held, Some(beyond));
        Ok(Self::new(TableAlpha::Band { log_ratio: [from, to] }, span.first, &fitted))
    }
}

/// Edges of the bands in log₂((2 − α)/α). Closer to α = 2 than 2⁻³¹ doubles leave no room for
/// nodes; singles end at 2 − 2⁻²³.
const EDGES: [f64; 33] = [
    -31.0, -29.0, -27.0, -25.0, -23.0, -21.0, -19.0, -17.0, -15.0, -13.0, -11.0, -9.0, -7.5, -6.0,
    -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75,
    4.0, 4.25,
];

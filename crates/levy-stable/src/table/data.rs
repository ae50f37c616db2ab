//! The serialised form of a table of ∇G_α: plain arrays with a format version.
//!
//! Everything that evaluates the field reads this form: the processor code of this crate, and the
//! code for burn, Triton and JAX. A table is of one α, or of a band of α, where each number is a
//! polynomial in α. A table is checked when it is read.

use super::fit::{Fitted, MAX_SPLIT, through};
use crate::{Alpha, ParameterError, SymmetricStable};
use std::ops::Range;
use thiserror::Error;

/// Octaves that hold ∇G/v; the others hold v∇G. The change is at v = 4w, about where ∇G is largest:
/// there both are equally steep.
pub(crate) const NEAR_OCTAVES: u32 = 3;

/// The numbers that evaluate ∇G_α on any device.
///
/// The value at v ≥ 0 (the field is odd) is found from u = max(v + w, 2v), w = 2^`lowest`:
///
/// - its exponent, less `lowest` and at most the last one, is the number of an octave, for which
///   `octaves` has the index of a first piece and a split;
/// - the octave has 2^split equal pieces; the index of the piece that u is in, and the place t
///   within it, −1/2 ≤ t < 1/2, are shifts of u's mantissa;
/// - the piece's polynomial in t is ∇G/v in the first `near_octaves` octaves, which is for v <
///   [`switch`](Self::switch), and v∇G in the others.
///
/// In a band each coefficient is a polynomial in a = (s − (s₀ + s₁)/2)/(s₁ − s₀), where s = log₂((2
/// − α)/α) runs from s₀ to s₁. Near α = 2 a tail of weight ∝ 2 − α takes over from the Gaussian, at
/// a place that moves with log(2 − α), and near 0 the knee of the field moves with log α/α: in s a
/// band has the same work everywhere.
///
/// | table | relative error | coefficients per piece |
/// |---|---|---|
/// | [`single`](Self::single), in single precision | 3e-7 | 4 |
/// | [`double`](Self::double) | 1e-12 | 8 |
/// | [`band`](Self::band) in single precision | 1e-6, for α < 0.3 3e-6 | 10 in α × 8 |
/// | [`band`](Self::band) in double precision, 0.12 ≤ α ≤ 2 − 2⁻²³, v < 1e37 | 1e-8 | 10 in α × 8 |
/// | [`band`](Self::band) in double precision, all other α, v < 1e37 | 2e-7 | 10 in α × 8 |
///
/// ```
/// use levy_stable::{SymmetricStable, table::TableData};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = TableData::single(1.5)?;
/// // At 0 the first piece holds the slope, half a piece left of its centre.
/// let slope = table.coefficients[..table.terms].iter().rev().fold(0.0, |p, c| p * -0.5 + c);
/// let exact = SymmetricStable::kinetic(1.5)?.score_derivative(0.0).abs();
/// assert!((slope - exact).abs() < 3e-7 * exact);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct TableData {
    /// Version of the format: [`TableData::VERSION`].
    pub version: u32,
    /// The tail index, or the band of tail indices.
    pub alpha: TableAlpha,
    /// Binary exponent of the first octave of u.
    pub lowest: i32,
    /// Number of octaves, from the first on, that hold ∇G/v. The others hold v∇G.
    pub near_octaves: u32,
    /// Index of the first piece, and split, of each octave. The last continues to infinity.
    pub octaves: Vec<[u32; 2]>,
    /// Coefficients in t per polynomial.
    pub terms: usize,
    /// Coefficients in α per coefficient: 1 in a table of one α.
    pub alpha_terms: usize,
    /// `coefficients[(piece · alpha_terms + i) · terms + j]` belongs to aⁱ tʲ.
    pub coefficients: Vec<f64>,
    /// Largest relative error of the polynomials in t that was measured between their nodes.
    pub max_relative_error: f64,
}

/// The tail indices that a table is for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub enum TableAlpha {
    /// One tail index.
    Value(f64),
    /// All α with s₀ ≤ log₂((2 − α)/α) ≤ s₁.
    Band {
        /// s₀ and s₁.
        log_ratio: [f64; 2],
    },
}

/// Why a table cannot be built or read. It carries the offending value.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The data contain no table for this tail index.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The data contain no band with this number.
    #[error("bands are numbered from 0 to {last}, got {number}")]
    Band {
        /// The number that was asked for.
        number: usize,
        /// The largest number.
        last: usize,
    },
    /// The table is of another format.
    #[error("the table has format version {0}, this version reads {version}: build it again", version = TableData::VERSION)]
    Version(u32),
    /// The table does not consist of the arrays that it should.
    #[error("the table is damaged: {0}; build it again")]
    Damaged(&'static str),
    /// The table has the wrong number of coefficients.
    #[error(
        "the table has {} coefficients in alpha and {} in t, where {} and {} are needed",
        found[0], found[1], needed[0], needed[1]
    )]
    Terms {
        /// Coefficients in α and in t.
        found: [usize; 2],
        /// What the reader evaluates.
        needed: [usize; 2],
    },
    /// The octaves are outside the range of the floating-point type.
    #[error("the table has octaves of exponents {} to {}, which this precision does not have", .0.start, .0.end - 1)]
    Exponents(Range<i32>),
}

impl TableData {
    /// Version of the format that this version writes and reads.
    pub const VERSION: u32 = 1;

    /// Arranges a fit of the fields at the Chebyshev points of a band, or of one α.
    pub(crate) fn new<const N: usize, const F: usize>(
        alpha: TableAlpha,
        lowest: i32,
        fitted: &Fitted<N, F>,
    ) -> Self {
        let octaves: Vec<_> =
            fitted.octaves.iter().map(|octave| [octave.first, octave.split]).collect();
        Self {
            version: Self::VERSION,
            alpha,
            lowest,
            near_octaves: NEAR_OCTAVES.min(octaves.len() as u32),
            octaves,
            terms: N,
            alpha_terms: F,
            coefficients: fitted
                .pieces
                .iter()
                .flat_map(|fits| across(fits).into_iter().flatten())
                .collect(),
            max_relative_error: fitted.error,
        }
    }

    /// Returns the number of pieces.
    pub fn pieces(&self) -> usize {
        self.coefficients.len() / (self.alpha_terms * self.terms)
    }

    /// Returns the least v at which pieces hold v∇G, a power of two; none if all hold ∇G/v, as at α
    /// = 2.
    pub fn switch(&self) -> Option<f64> {
        ((self.near_octaves as usize) < self.octaves.len())
            .then(|| libm::exp2(f64::from(self.lowest + self.near_octaves as i32 - 1)))
    }

    /// Checks that the table can be evaluated: its version, that its arrays fit together, and that
    /// its numbers are finite.
    pub fn check(&self) -> Result<(), TableError> {
        let damaged = |what| Err(TableError::Damaged(what));
        if self.version != Self::VERSION {
            return Err(TableError::Version(self.version));
        }
        match self.alpha {
            TableAlpha::Value(alpha) => {
                tabulated(alpha)?;
                if self.alpha_terms != 1 {
                    return damaged("a table of one alpha has one coefficient in alpha");
                }
            }
            TableAlpha::Band { log_ratio: [from, to] } => {
                if !(from < to && from.is_finite() && to.is_finite()) {
                    return damaged("the band of alpha is empty");
                }
            }
        }
        let size = self.alpha_terms.saturating_mul(self.terms);
        if size == 0
            || self.coefficients.is_empty()
            || !self.coefficients.len().is_multiple_of(size)
        {
            return damaged("the number of coefficients is not a multiple of those of a piece");
        }
        if self.octaves.is_empty()
            || self.octaves.len() > 4096
            || !(-1100..=1100).contains(&self.lowest)
        {
            return damaged("its octaves are none or more than there are exponents");
        }
        if self.near_octaves == 0 || self.near_octaves as usize > self.octaves.len() {
            return damaged("near_octaves is not between 1 and the number of octaves");
        }
        let pieces = self.pieces() as u64;
        let inside = |&[first, split]: &[u32; 2]| {
            split <= MAX_SPLIT
                && u64::from(first) + (1 << split) <= pieces
                && first <= i32::MAX as u32 >> 4
        };
        if !self.octaves.iter().all(inside) {
            return damaged("its index points outside its coefficients");
        }
        if !self.coefficients.iter().all(|c| c.is_finite()) {
            return damaged("a coefficient is not finite");
        }
        if !(self.max_relative_error >= 0.0 && self.max_relative_error.is_finite()) {
            return damaged("its error is not a number");
        }
        Ok(())
    }
}

/// Returns the law that ∇G_α belongs to, for 0.1 ≤ α ≤ 2: for smaller α, the field is nonlinear
/// over too many octaves for a table.
pub(crate) fn tabulated(alpha: f64) -> Result<SymmetricStable, ParameterError> {
    if Alpha::new(alpha)?.get() < 0.1 {
        return Err(ParameterError::TableAlpha(alpha));
    }
    SymmetricStable::kinetic(alpha)
}

/// Returns polynomials in a through polynomials in t, coefficient by coefficient.
fn across<const P: usize, const N: usize>(fits: &[[f64; N]; P]) -> [[f64; N]; P] {
    let mut out = [[0.0; N]; P];
    for j in 0..N {
        for (out, c) in out.iter_mut().zip(through(fits.map(|fit| fit[j]))) {
            out[j] = c;
        }
    }
    out
}

#[cfg(feature = "serde")]
impl serde::Serialize for TableData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TableData {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = Self::deserialize(deserializer)?;
        data.check().map_err(serde::de::Error::custom)?;
        Ok(data)
    }
}

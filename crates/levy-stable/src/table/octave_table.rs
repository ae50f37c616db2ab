//! Piecewise polynomials on [0, ∞) whose pieces are found from the bits of the argument.
//!
//! The argument is u = max(x + w, 2x), w = 2^a: one octave of u covers all x < w, and above it u is
//! exact. Each octave [2^e, 2^(e+1)) of u is cut into 2^split equal pieces, as few as the function
//! allows there. The piece and the place t ∈ [−1/2, 1/2) within it are shifts and masks of the bits
//! of u. A function that changes with log x, as the score and the quantile of a stable law do,
//! needs about as many pieces in every octave, so that some kilobytes cover all of ℝ.

use super::fit::{Fit, Fitted};
use super::real::{Octave, Real};

/// Polynomials of `N` coefficients of type `T` on octaves. The last octave continues to ∞.
///
/// ```
/// use levy_stable::table::{Fit, OctaveTable};
/// let fit = Fit { lowest: -2, end: 30.0, tolerance: 1e-12, floor: 0.0 };
/// let (table, error): (OctaveTable, f64) = OctaveTable::fit(&fit, |x| (1.0 + x * x).recip());
/// assert!(error <= 1e-12);
/// assert!((table.at(3.0) - 0.1).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OctaveTable<T = f64, const N: usize = 8> {
    /// w = 2^lowest
    shift: T,
    /// Exponent a of the first octave.
    lowest: i32,
    octaves: Vec<Octave>,
    /// The coefficients of each piece, the lowest power of t first.
    pieces: Vec<[T; N]>,
}

impl<T: Real, const N: usize> OctaveTable<T, N> {
    /// Returns the table of a constant.
    pub fn constant(value: f64) -> Self {
        Self::fitted(0, Fitted::constant([value]))
    }

    /// Fits a function and returns the table with the largest error that was measured between the
    /// nodes.
    ///
    /// The error is relative to |f| + floor. It exceeds the tolerance if the function is too rough;
    /// it is NaN, as is then the whole table, if the function is not finite somewhere.
    pub fn fit(fit: &Fit, f: impl Fn(f64) -> f64) -> (Self, f64) {
        let fitted = fit.fit(&[f], None);
        let error = fitted.error;
        (Self::fitted(fit.lowest, fitted), error)
    }

    /// Fits a function of u on octaves and continues it by the constant `beyond`: for
    /// [`evaluate_octaves`](Self::evaluate_octaves).
    pub(crate) fn fit_octaves(
        octaves: std::ops::Range<i32>,
        beyond: f64,
        tolerance: f64,
        floor: f64,
        f: impl Fn(f64) -> f64,
    ) -> Self {
        let end = libm::exp2(f64::from(octaves.end));
        let fit = Fit { lowest: octaves.start, end, tolerance, floor };
        Self::fitted(octaves.start, fit.fit_octaves(end, &[f], Some([beyond])))
    }

    fn fitted(lowest: i32, fitted: Fitted<N, 1>) -> Self {
        Self::rounded(lowest, fitted.octaves, fitted.pieces.as_flattened().iter())
    }

    /// Rounds polynomials to the type of the table. The octaves must point to pieces that exist.
    pub(crate) fn rounded<'a>(
        lowest: i32,
        octaves: Vec<Octave>,
        pieces: impl Iterator<Item = &'a [f64; N]>,
    ) -> Self {
        let shift = T::rounded(libm::exp2(f64::from(lowest)));
        Self { shift, lowest, octaves, pieces: pieces.map(|piece| piece.map(T::rounded)).collect() }
    }

    /// Returns the function at x ≥ 0, for code that is compiled with fused multiplication (see
    /// `dispatched!`): without, each of them is a call.
    #[inline(always)]
    pub fn evaluate(&self, x: T) -> T {
        let (near, far) = (x + self.shift, x + x);
        self.evaluate_octaves(if near > far { near } else { far })
    }

    /// Returns the function of u at u ≥ 2^lowest.
    #[inline(always)]
    pub(crate) fn evaluate_octaves(&self, u: T) -> T {
        let last = self.octaves.len() as u32 - 1;
        let (piece, t) = u.piece(self.octaves[u.octave(self.lowest).min(last) as usize]);
        let c = &self.pieces[piece as usize];
        let mut p = c[N - 1];
        for &c in c[..N - 1].iter().rev() {
            p = p.fma(t, c);
        }
        p
    }

    /// Returns the exponent of the first octave.
    pub(crate) fn lowest(&self) -> i32 {
        self.lowest
    }

    /// Returns the octaves.
    pub(crate) fn octaves(&self) -> &[Octave] {
        &self.octaves
    }

    /// Returns the coefficients of all pieces.
    pub(crate) fn coefficients(&self) -> &[T] {
        self.pieces.as_flattened()
    }

    /// Returns the bytes of all coefficients and of the index.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.pieces[..]) + size_of_val(&self.octaves[..])
    }
}

impl OctaveTable {
    /// Returns the function at x ≥ 0. Beyond the end of the fit the value is that of any piece of
    /// the last octave.
    pub fn at(&self, x: f64) -> f64 {
        at(self, x)
    }
}

crate::dispatched! {
    fn at(table: &OctaveTable, x: f64) -> f64 { table.evaluate(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(lowest: i32, end: f64) -> Fit {
        Fit { lowest, end, tolerance: 1e-12, floor: 0.0 }
    }

    #[test]
    fn fits_to_its_tolerance_everywhere() {
        let f = |x: f64| (1.0 + x * x).ln_1p() * (-0.3 * x).exp();
        let (table, worst): (OctaveTable, _) = OctaveTable::fit(&fit(-3, 27.3), f);
        assert!(worst <= 1e-12);
        for i in 0..100_000 {
            let x = 27.3 * (f64::from(i) + 0.5) / 100_000.0;
            assert!((table.at(x) / f(x) - 1.0).abs() < 2e-12, "{x}");
        }
    }

    #[test]
    fn an_end_at_an_edge_between_octaves_belongs_to_the_table() {
        let f = |x: f64| 1.0 + x;
        for end in [2.0, 8.0] {
            let (table, _): (OctaveTable, _) = OctaveTable::fit(&fit(-1, end), f);
            assert!((table.at(end) - f(end)).abs() < 1e-12, "{}", table.at(end));
        }
    }

    #[test]
    fn extreme_arguments_are_harmless() {
        let (table, _): (OctaveTable, _) = OctaveTable::fit(&fit(-1, 2.0), |x| 1.0 + x);
        assert!(table.at(f64::INFINITY).is_finite() && table.at(1e300).is_finite());
        let _ = (table.at(f64::NAN), table.at(-1.0), table.at(f64::NEG_INFINITY));
        let broken = |x: f64| if x > 1.0 { f64::NAN } else { 1.0 };
        assert!(<OctaveTable>::fit(&fit(-1, 2.0), broken).1.is_nan());
    }
}

//! Fits polynomials to functions on the pieces of octaves.
//!
//! A piece is the polynomial through the function at the Chebyshev points of the piece. Each octave
//! is cut into 2^split equal pieces; the split grows until every piece meets the tolerance. Several
//! functions can share their pieces, as the fields of several α do.

use super::real::Octave;

/// Largest split: an octave has at most 2^10 pieces.
pub(crate) const MAX_SPLIT: u32 = 10;
/// Smallest split of the octave in which a table ends, so that it ends close to where it should.
const LAST_SPLIT: u32 = 6;

/// The interval of a fit and its tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Exponent a: one octave of the table covers [0, 2^a).
    pub lowest: i32,
    /// The function is fitted on [0, end]. The last piece may evaluate it up to 1/64 beyond.
    pub end: f64,
    /// Pieces are halved until their error is at most tolerance · (|f| + floor), or there are 2^10
    /// in an octave.
    pub tolerance: f64,
    /// Size below which the error is absolute, in units of f.
    pub floor: f64,
}

/// The fit of `F` functions by `N` coefficients per piece.
pub(crate) struct Fitted<const N: usize, const F: usize> {
    pub(crate) octaves: Vec<Octave>,
    /// The polynomials of each piece, one for each function, the lowest power first.
    pub(crate) pieces: Vec<[[f64; N]; F]>,
    /// Largest error that was measured between the nodes, relative to |f| + floor. NaN if a
    /// function is not finite.
    pub(crate) error: f64,
}

impl Fit {
    /// Fits functions of x ≥ 0. With `beyond`, the end must be a power of two, and each function
    /// continues as that constant.
    pub(crate) fn fit<const N: usize, const F: usize>(
        &self,
        functions: &[impl Fn(f64) -> f64; F],
        beyond: Option<[f64; F]>,
    ) -> Fitted<N, F> {
        let shift = libm::exp2(f64::from(self.lowest));
        let of_u = functions
            .each_ref()
            .map(|f| move |u: f64| f(if u < 2.0 * shift { u - shift } else { 0.5 * u }));
        self.fit_octaves((self.end + shift).max(2.0 * self.end), &of_u, beyond)
    }

    /// Fits functions of u on the octaves from 2^lowest to `end`. With `beyond`, the end must be a
    /// power of two.
    pub(crate) fn fit_octaves<const N: usize, const F: usize>(
        &self,
        end: f64,
        functions: &[impl Fn(f64) -> f64; F],
        beyond: Option<[f64; F]>,
    ) -> Fitted<N, F> {
        let mut fitted = Fitted { octaves: Vec::new(), pieces: Vec::new(), error: 0.0 };
        let (mut base, mut split) = (libm::exp2(f64::from(self.lowest)), 0u32);
        while base < end || (base == end && beyond.is_none()) {
            // Neighbouring octaves are alike: start one split below the last one and refine.
            split = split.saturating_sub(1).max(if 2.0 * base > end { LAST_SPLIT } else { 0 });
            let (pieces, error) = loop {
                let (pieces, error) = self.fit_octave(base, split, end, functions);
                // Halving does not remove a NaN.
                if error <= self.tolerance || error.is_nan() || split == MAX_SPLIT {
                    break (pieces, error);
                }
                split += 1;
            };
            if error.is_nan() {
                return Fitted::constant([error; F]);
            }
            fitted.push(split, pieces);
            fitted.error = fitted.error.max(error);
            base *= 2.0;
        }
        if let Some(beyond) = beyond {
            fitted.push(0, vec![beyond.map(constant)]);
        }
        fitted
    }

    /// Interpolates in 2^split pieces of [base, 2 base), repeating the last one beyond `end`, and
    /// returns the largest error. Stops at the first piece that misses the tolerance, unless there
    /// is no finer split.
    fn fit_octave<const N: usize, const F: usize>(
        &self,
        base: f64,
        split: u32,
        end: f64,
        functions: &[impl Fn(f64) -> f64; F],
    ) -> (Vec<[[f64; N]; F]>, f64) {
        let count = 1u32 << split;
        let width = base / f64::from(count);
        let (mut pieces, mut worst) = (Vec::with_capacity(count as usize), 0.0f64);
        for k in 0..count {
            if let Some(&last) = pieces.last()
                && base + f64::from(k) * width > end
            {
                pieces.push(last);
                continue;
            }
            let centre = base + (f64::from(k) + 0.5) * width;
            let fits = functions
                .each_ref()
                .map(|f| fit_piece(&|t| f(t.mul_add(width, centre)), self.floor));
            pieces.push(fits.map(|(piece, _)| piece));
            worst = fits.iter().map(|&(_, error)| error).fold(worst, worse);
            if worst.is_nan() || (worst > self.tolerance && split < MAX_SPLIT) {
                break;
            }
        }
        (pieces, worst)
    }
}

impl<const N: usize, const F: usize> Fitted<N, F> {
    /// Returns the exact fit of constants; its error is NaN if one of them is.
    pub(crate) fn constant(values: [f64; F]) -> Self {
        let error = values.iter().fold(0.0, |error, value| error + 0.0 * value);
        let mut fitted = Self { octaves: Vec::new(), pieces: Vec::new(), error };
        fitted.push(0, vec![values.map(constant)]);
        fitted
    }

    fn push(&mut self, split: u32, pieces: Vec<[[f64; N]; F]>) {
        self.octaves.push(Octave { first: self.pieces.len() as u32, split });
        self.pieces.extend(pieces);
    }
}

/// Returns the polynomial that is a constant.
fn constant<const N: usize>(value: f64) -> [f64; N] {
    let mut piece = [0.0; N];
    piece[0] = value;
    piece
}

/// Returns the polynomial through f on [−1/2, 1/2] and its largest error relative to |f| + `floor`;
/// NaN if f is not finite.
pub(crate) fn fit_piece<const N: usize>(f: &impl Fn(f64) -> f64, floor: f64) -> ([f64; N], f64) {
    let piece = interpolate::<N>(f);
    let error = check_points::<N>().map(|t| {
        let exact = f(t);
        let ours = piece.iter().rev().fold(0.0f64, |p, &c| p.mul_add(t, c));
        (ours - exact).abs() / (exact.abs() + floor)
    });
    (piece, error.into_iter().fold(0.0, worse))
}

/// Returns the larger of two errors, or NaN if one of them is.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b < a { a } else { b }
}

/// Returns the polynomial through f at the Chebyshev points of [−1/2, 1/2], the lowest power first.
pub fn interpolate<const N: usize>(f: &impl Fn(f64) -> f64) -> [f64; N] {
    through(nodes::<N>().map(f))
}

/// A Chebyshev point of [−1/2, 1/2].
fn node<const N: usize>(i: usize) -> f64 {
    -0.5 * libm::cos(std::f64::consts::PI * (i as f64 + 0.5) / N as f64)
}

/// Returns the `N` Chebyshev points of [−1/2, 1/2].
pub(crate) fn nodes<const N: usize>() -> [f64; N] {
    std::array::from_fn(node::<N>)
}

/// Points just inside the ends, where interpolation at Chebyshev points has its largest error, and
/// between the innermost nodes.
fn check_points<const N: usize>() -> [f64; 3] {
    let middle = N / 2;
    [-0.4999, 0.5 * (node::<N>(middle - 1) + node::<N>(middle)), 0.4999]
}

/// Returns the polynomial with these values at the Chebyshev points: Newton's divided differences,
/// expanded in powers of t.
pub(crate) fn through<const N: usize>(values: [f64; N]) -> [f64; N] {
    let nodes = nodes::<N>();
    let mut d = values;
    for level in 1..N {
        for i in (level..N).rev() {
            d[i] = (d[i] - d[i - 1]) / (nodes[i] - nodes[i - level]);
        }
    }
    let mut c = [0.0; N];
    for i in (0..N).rev() {
        // c ← c·(t − node) + d
        for j in (1..N).rev() {
            c[j] = c[j - 1] - nodes[i] * c[j];
        }
        c[0] = d[i] - nodes[i] * c[0];
    }
    c
}

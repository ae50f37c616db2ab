//! Piecewise polynomials whose pieces are found from the bits of a floating-point number.
//!
//! Each octave [2^e, 2^(e+1)) is cut into 2^split equal pieces, as few as the function allows there; the piece and the
//! place t ∈ [−1/2, 1/2) within it are shifts and masks of the argument's bits. What is scale-free, as score and
//! quantile of a stable law are, needs about the same effort in every octave, so that some kilobytes cover all of ℝ.

/// Pieces of an octave are halved until they meet their tolerance, or this often.
pub(crate) const MAX_SPLIT: u32 = 9;

/// Where the pieces of one octave are.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Octave {
    /// Index of the first piece.
    first: u32,
    /// The octave has 2^split pieces.
    split: u32,
}

/// Polynomials of `N` coefficients of type `T` on the pieces of [2^a, ∞). The last piece goes on to ∞.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Piecewise<T, const N: usize> {
    /// Exponent a of the first octave.
    lowest: i32,
    octaves: Vec<Octave>,
    /// `N` coefficients a piece, the lowest power of t first.
    coefficients: Vec<T>,
}

/// The two floating-point types, as far as a table needs them.
pub(crate) trait Real:
    Copy + PartialOrd + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> + std::ops::Div<Output = Self>
{
    /// From the double that the coefficients are computed in.
    fn rounded(x: f64) -> Self;
    /// Which octave, counted from that of 2^lowest, an argument ≥ 2^lowest is in.
    fn octave(self, lowest: i32) -> u32;
    /// Index of the piece and place within it, in a given octave.
    fn piece(self, octave: Octave) -> (u32, Self);
    /// self · a + b, rounded once.
    fn fma(self, a: Self, b: Self) -> Self;
    /// The largest number below self.
    fn before(self) -> Self;
    /// |self|
    fn size(self) -> Self;
    /// |self| with the sign of `sign`.
    fn signed_as(self, sign: Self) -> Self;
}

macro_rules! real {
    ($float:ty, $bits:ty, $mantissa_bits:literal, $bias:literal) => {
        impl Real for $float {
            #[inline(always)]
            fn rounded(x: f64) -> Self {
                x as $float
            }

            #[inline(always)]
            fn octave(self, lowest: i32) -> u32 {
                ((self.to_bits() >> $mantissa_bits) as u32).wrapping_sub((lowest + $bias) as u32)
            }

            #[inline(always)]
            fn piece(self, octave: Octave) -> (u32, Self) {
                const MANTISSA: $bits = (1 << $mantissa_bits) - 1;
                const ONE: $bits = $bias << $mantissa_bits;
                let within = (self.to_bits() & MANTISSA) << octave.split;
                let piece = octave.first + (within >> $mantissa_bits) as u32;
                (piece, <$float>::from_bits(ONE | (within & MANTISSA)) - 1.5)
            }

            #[inline(always)]
            fn fma(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }

            fn before(self) -> Self {
                self.next_down()
            }

            #[inline(always)]
            fn size(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn signed_as(self, sign: Self) -> Self {
                self.copysign(sign)
            }
        }
    };
}

real!(f64, u64, 52, 1023);
real!(f32, u32, 23, 127);

impl<T: Real, const N: usize> Piecewise<T, N> {
    /// A constant on all of (0, ∞).
    pub(crate) fn constant(value: f64) -> Self {
        let mut coefficients = vec![T::rounded(0.0); N];
        coefficients[0] = T::rounded(value);
        Self { lowest: 0, octaves: vec![Octave { first: 0, split: 0 }], coefficients }
    }

    /// Fits f on [2^a, 2^b) so that each piece is within `tolerance`·(|f| + `floor`), as far as `MAX_SPLIT` allows, and
    /// continues it by the constant `beyond`. Returns the largest error seen between the nodes, in the same measure.
    pub(crate) fn fit(
        octaves: std::ops::Range<i32>,
        beyond: f64,
        tolerance: f64,
        floor: f64,
        f: impl Fn(f64) -> f64,
    ) -> (Self, f64) {
        let mut table = Self { lowest: octaves.start, octaves: Vec::new(), coefficients: Vec::new() };
        let (mut worst, mut guess) = (0.0f64, 0);
        for exponent in octaves {
            let base = libm::exp2(f64::from(exponent));
            let split_from = |split: u32| fit_octave::<N>(base, split, tolerance, floor, &f);
            // Neighbouring octaves are alike: start one split below the last one and refine.
            let mut split = guess.max(1) - 1;
            let (pieces, error) = loop {
                match split_from(split) {
                    Ok(fit) => break fit,
                    Err(fit) if split == MAX_SPLIT => break fit,
                    Err(_) => split += 1,
                }
            };
            guess = split;
            worst = worst.max(error);
            table.push(split, pieces.iter().flatten().copied());
        }
        let mut last = [0.0; N];
        last[0] = beyond;
        table.push(0, last.into_iter());
        (table, worst)
    }

    fn push(&mut self, split: u32, coefficients: impl Iterator<Item = f64>) {
        self.octaves.push(Octave { first: (self.coefficients.len() / N) as u32, split });
        self.coefficients.extend(coefficients.map(T::rounded));
    }

    /// The function at u ≥ 2^a.
    #[inline(always)]
    pub(crate) fn at(&self, u: T) -> T {
        let last = self.octaves.len() as u32 - 1;
        let (piece, t) = u.piece(self.octaves[u.octave(self.lowest).min(last) as usize]);
        let c: &[T; N] = self.coefficients[piece as usize * N..][..N].try_into().expect("N coefficients");
        let mut p = c[N - 1];
        for &c in c[..N - 1].iter().rev() {
            p = p.fma(t, c);
        }
        p
    }

    /// Exponent of the first octave; first piece and split of every octave; the coefficients.
    pub(crate) fn parts(&self) -> (i32, impl Iterator<Item = [u32; 2]>, &[T]) {
        (self.lowest, self.octaves.iter().map(|o| [o.first, o.split]), &self.coefficients)
    }

    /// Bytes of all coefficients and of the index.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.coefficients[..]) + size_of_val(&self.octaves[..])
    }

    /// Whether every octave points to pieces that exist, as in a table made here; one read from a file may not.
    #[cfg(feature = "serde")]
    pub(crate) fn is_sound(&self) -> bool {
        let pieces = self.coefficients.len() / N;
        self.coefficients.len().is_multiple_of(N)
            && !self.octaves.is_empty()
            && self
                .octaves
                .iter()
                .all(|o| o.split <= MAX_SPLIT && o.first as usize + (1 << o.split) <= pieces)
    }
}

/// Coefficients of the pieces of one octave, and the largest error.
pub(crate) type Fit<const N: usize> = (Vec<[f64; N]>, f64);

/// Interpolates f in 2^split pieces of [base, 2 base); `Err` if a piece misses the tolerance.
pub(crate) fn fit_octave<const N: usize>(
    base: f64,
    split: u32,
    tolerance: f64,
    floor: f64,
    f: &impl Fn(f64) -> f64,
) -> Result<Fit<N>, Fit<N>> {
    let count = 1u32 << split;
    let width = base / f64::from(count);
    let mut pieces = Vec::with_capacity(count as usize);
    let mut worst = 0.0f64;
    for k in 0..count {
        let centre = base + (f64::from(k) + 0.5) * width;
        let at = |t: f64| f(t.mul_add(width, centre));
        let (piece, error) = fit_piece::<N>(&at, floor);
        worst = worst.max(error);
        pieces.push(piece);
        if worst > tolerance && split < MAX_SPLIT {
            return Err((pieces, worst));
        }
    }
    if worst <= tolerance { Ok((pieces, worst)) } else { Err((pieces, worst)) }
}

/// The polynomial through f on [−1/2, 1/2] and its largest error, as a part of |f| + `floor`.
pub(crate) fn fit_piece<const N: usize>(f: &impl Fn(f64) -> f64, floor: f64) -> ([f64; N], f64) {
    let piece = interpolate::<N>(f);
    let error = check_points::<N>().map(|t| {
        let exact = f(t);
        let ours = piece.iter().rev().fold(0.0f64, |p, &c| p.mul_add(t, c));
        (ours - exact).abs() / (exact.abs() + floor)
    });
    (piece, error.into_iter().fold(0.0, f64::max))
}

/// Chebyshev points of [−1/2, 1/2].
fn node<const N: usize>(i: usize) -> f64 {
    -0.5 * libm::cos(std::f64::consts::PI * (i as f64 + 0.5) / N as f64)
}

/// All of them.
pub(crate) fn nodes<const N: usize>() -> [f64; N] {
    std::array::from_fn(node::<N>)
}

/// Just inside the ends, where interpolation at Chebyshev points errs most, and between the innermost nodes.
fn check_points<const N: usize>() -> [f64; 3] {
    let middle = N / 2;
    [-0.4999, 0.5 * (node::<N>(middle - 1) + node::<N>(middle)), 0.4999]
}

/// The polynomial through f at the Chebyshev points of [−1/2, 1/2].
pub fn interpolate<const N: usize>(f: &impl Fn(f64) -> f64) -> [f64; N] {
    through(nodes::<N>().map(f))
}

/// The polynomial with these values at the Chebyshev points: Newton's divided differences, expanded in powers of t.
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

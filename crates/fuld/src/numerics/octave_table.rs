//! A function on [0, ∞) as polynomials whose piece is found from the bits of the argument.

use levy_stable::interpolate;

/// Coefficients of one piece, the lowest power first.
type Piece = [f64; 8];

/// An octave is cut into at most 2 to this power pieces.
const MAX_SPLIT: u32 = 10;
/// The octave in which the table ends has at least 2 to this power pieces, so that it ends close to where it should.
const LAST_SPLIT: u32 = 6;

/// Polynomials of degree 7 on [0, end]: one stretch [0, 2ᵃ), then octaves, each cut into 2^split equal pieces, as few as
/// the function allows there.
#[derive(Clone, Debug)]
pub(crate) struct OctaveTable {
    /// 2ᵃ. The argument of the pieces is u = max(x + 2ᵃ, 2x): one octave holds all x < 2ᵃ, and above u is exact.
    shift: f64,
    lowest: i32,
    /// Index of the first piece of each octave, and its split.
    octaves: Vec<(u32, u32)>,
    pieces: Vec<Piece>,
}

impl OctaveTable {
    /// 1 everywhere.
    pub(crate) fn one() -> Self {
        let piece = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        Self { shift: 1.0, lowest: 0, octaves: vec![(0, 0)], pieces: vec![piece] }
    }

    /// Fits f on [0, end] with pieces whose error is up to `tolerance`·(|f| + `floor`), as far as halving can bring it.
    /// The last piece may ask for f up to 1/64 beyond the end. Returns the largest error seen between the nodes, in the
    /// same measure; NaN if f is not finite somewhere.
    pub(crate) fn fit(a: i32, end: f64, tolerance: f64, floor: f64, f: impl Fn(f64) -> f64) -> (Self, f64) {
        let shift = libm::exp2(f64::from(a));
        let mut table = Self { shift, lowest: a, octaves: Vec::new(), pieces: Vec::new() };
        let of_u = |u: f64| f(if u < 2.0 * shift { u - shift } else { 0.5 * u });
        let u_end = (end + shift).max(2.0 * end);
        let (mut worst, mut split, mut base) = (0.0f64, 0u32, shift);
        while base <= u_end {
            // Neighbouring octaves are alike: start one split below the last one and refine.
            split = split.saturating_sub(1).max(if 2.0 * base > u_end { LAST_SPLIT } else { 0 });
            let (pieces, error) = loop {
                let (pieces, error) = fit_octave(base, split, u_end, (tolerance, floor), &of_u);
                // Halving mends no NaN.
                if error <= tolerance || error.is_nan() || split == MAX_SPLIT {
                    break (pieces, error);
                }
                split += 1;
            };
            if error.is_nan() {
                return (Self::one(), error);
            }
            worst = worst.max(error);
            table.octaves.push((table.pieces.len() as u32, split));
            table.pieces.extend(pieces);
            base *= 2.0;
        }
        (table, worst)
    }

    /// The function at x ≥ 0; past the end, whatever the last octave holds.
    #[inline(always)]
    pub(crate) fn at(&self, x: f64) -> f64 {
        const MANTISSA: u64 = (1 << 52) - 1;
        const ONE: u64 = 1023 << 52;
        let (near, far) = (x + self.shift, x + x);
        let bits = (if near > far { near } else { far }).to_bits();
        let octave = ((bits >> 52) as u32).wrapping_sub((self.lowest + 1023) as u32);
        let (first, split) = self.octaves[octave.min(self.octaves.len() as u32 - 1) as usize];
        let within = (bits & MANTISSA) << split;
        let t = f64::from_bits(ONE | (within & MANTISSA)) - 1.5;
        let c = &self.pieces[(first + (within >> 52) as u32) as usize];
        // Estrin's order: shorter chains than Horner's, and the same bits everywhere as nothing is fused.
        let t2 = t * t;
        let low = (c[0] + c[1] * t) + (c[2] + c[3] * t) * t2;
        let high = (c[4] + c[5] * t) + (c[6] + c[7] * t) * t2;
        low + high * (t2 * t2)
    }

    /// Bytes of all coefficients.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.pieces[..]) + size_of_val(&self.octaves[..])
    }
}

/// Interpolates f in 2^split pieces of [base, 2 base), repeating the last one beyond `end`. Gives up at the first piece
/// that misses the tolerance, unless there is no finer split.
fn fit_octave(
    base: f64,
    split: u32,
    end: f64,
    (tolerance, floor): (f64, f64),
    f: &impl Fn(f64) -> f64,
) -> (Vec<Piece>, f64) {
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
        let at = |t: f64| f(centre + t * width);
        let piece = interpolate(&at);
        // Just inside the ends, where interpolation at Chebyshev points errs most, and between the innermost nodes.
        for t in [-0.4999, 0.0, 0.4999] {
            let exact = at(t);
            let ours = piece.iter().rev().fold(0.0, |p, &c| p * t + c);
            let error = (ours - exact).abs() / (exact.abs() + floor);
            worst = if error.is_nan() { error } else { worst.max(error) };
        }
        pieces.push(piece);
        if worst.is_nan() || (worst > tolerance && split < MAX_SPLIT) {
            break;
        }
    }
    (pieces, worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_to_its_tolerance_everywhere() {
        let f = |x: f64| (1.0 + x * x).ln_1p() * (-0.3 * x).exp();
        let (table, worst) = OctaveTable::fit(-3, 27.3, 1e-12, 0.0, f);
        assert!(worst <= 1e-12);
        for i in 0..100_000 {
            let x = 27.3 * (f64::from(i) + 0.5) / 100_000.0;
            assert!((table.at(x) / f(x) - 1.0).abs() < 2e-12, "{x}");
        }
    }

    #[test]
    fn odd_arguments_are_harmless() {
        let (table, _) = OctaveTable::fit(-1, 2.0, 1e-12, 0.0, |x| 1.0 + x);
        assert!(table.at(f64::INFINITY).is_finite() && table.at(1e300).is_finite());
        let _ = table.at(f64::NAN);
        assert!(OctaveTable::fit(-1, 2.0, 1e-12, 0.0, |x| if x > 1.0 { f64::NAN } else { 1.0 }).1.is_nan());
    }
}

//! ∇G_α(v) as a table in α and v, for programs that learn α only while they run on a device.

use crate::SymmetricStable;
use crate::field::Span;
use crate::piecewise::{MAX_SPLIT, fit_octave, nodes, through};

/// Tolerance of the polynomials in v at their α. Those in α add about as much.
const TOLERANCE: f64 = 1e-9;
/// Octaves that singles can hold, with room for the factor 2 in the argument.
const RANGE: std::ops::Range<i32> = -100..126;

/// The field for α in one of the bands that 0.1 ≤ α ≤ 2 − 2⁻³⁰ is cut into.
///
/// For an α of the band the table contracts to one of that α alone: each number in it is a polynomial in
/// a = log₂(r/`middle`)/`width`, −1/2 ≤ a ≤ 1/2, where r = (2 − α)/α. In log r a band has the same work everywhere: near α = 2
/// a tail of weight ∝ 2 − α takes over from the Gaussian, at a place that moves with log(2 − α), and near 0 the field bends
/// where log v ∝ log α/α.
///
/// The table of one α gives the field at v ≥ 0 (it is odd) from u = max(v + w, 2v), w being `shift`:
///
/// - its exponent, less `lowest` and at most the last one, is the number of an octave, for which `octaves` has the index of a
///   first piece and a split;
/// - the octave has 2^split equal pieces; which one u is in, and at which t, −1/2 ≤ t < 1/2, are shifts of u's mantissa;
/// - the piece's polynomial in t is ∇G/v if v < `switch`, and v∇G from there on.
///
/// The relative error for every v is at most 1e-6 in single precision, 3e-6 for α < 0.3 (measured: 6e-7 and 1.5e-6); it is that
/// of r, which single precision knows no better. In double precision it is 1e-8 for 0.12 ≤ α ≤ 2 − 2⁻²³ and 2e-7 beyond
/// (measured: 4e-9 and 8e-8), as far as v < 1e37: farther out the table of a small α has its limit 1 + α, which v∇G is not
/// yet for α < 0.3.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaBand {
    /// Where r begins and ends.
    pub ends: [f64; 2],
    /// The middle of r, as log r has it.
    pub middle: f64,
    /// Octaves of r.
    pub width: f64,
    /// w, a power of two.
    pub shift: f64,
    /// The least v whose piece holds v∇G, a power of two.
    pub switch: f64,
    /// Binary exponent of the first octave.
    pub lowest: i32,
    /// Index of the first piece, and split, of each octave. The last goes on to infinity.
    pub octaves: Vec<[u32; 2]>,
    /// The polynomials of the pieces: `coefficients[piece][i][j]` belongs to aⁱ tʲ.
    pub coefficients: Vec<[[f64; Self::TERMS]; Self::ALPHA_TERMS]>,
}

impl AlphaBand {
    /// There are as many bands. In their order α falls.
    pub const COUNT: usize = EDGES.len() - 1;
    /// Coefficients in t.
    pub const TERMS: usize = 8;
    /// Coefficients in a.
    pub const ALPHA_TERMS: usize = 10;

    /// Tabulates the band of this number, in some 15 milliseconds. Panics if there is none.
    pub fn new(number: usize) -> Self {
        let (from, to) = (EDGES[number], EDGES[number + 1]);
        let (centre, width) = (0.5 * (from + to), to - from);
        let laws = nodes::<{ Self::ALPHA_TERMS }>().map(|a| law(centre + width * a));
        let spans = laws.each_ref().map(|law| Span::of(law, TOLERANCE, RANGE));
        let span = spans.into_iter().reduce(Span::with).expect("there are laws");
        let held = laws.each_ref().map(|law| span.held(law));

        let (mut octaves, mut coefficients) = (Vec::new(), Vec::new());
        let mut split = 0u32;
        for exponent in span.octaves() {
            let base = libm::exp2(f64::from(exponent));
            // Neighbouring octaves are alike: start one split below the last one and refine. What does for the ends and the
            // middle does for all.
            split = split.saturating_sub(1);
            for f in [&held[0], &held[held.len() / 2], &held[held.len() - 1]] {
                while split < MAX_SPLIT
                    && fit_octave::<{ Self::TERMS }>(base, split, TOLERANCE, 0.0, f).is_err()
                {
                    split += 1;
                }
            }
            octaves.push([coefficients.len() as u32, split]);
            let fits = held.each_ref().map(|f| {
                let (Ok(fit) | Err(fit)) = fit_octave(base, split, f64::INFINITY, 0.0, f);
                fit.0
            });
            coefficients.extend((0..1 << split).map(|piece| across(fits.each_ref().map(|fit| fit[piece]))));
        }
        octaves.push([coefficients.len() as u32, 0]);
        coefficients.push(across(laws.map(|law| {
            let mut beyond = [0.0; Self::TERMS];
            beyond[0] = 1.0 + law.alpha();
            beyond
        })));
        Self {
            ends: [from, to].map(libm::exp2),
            middle: libm::exp2(centre),
            width,
            shift: span.shift(),
            switch: span.switch(),
            lowest: span.octaves().start,
            octaves,
            coefficients,
        }
    }
}

/// The law of α = 2/(1 + 2^s), where r = 2^s.
fn law(s: f64) -> SymmetricStable {
    SymmetricStable::kinetic(2.0 / (1.0 + libm::exp2(s))).expect("every alpha of the bands is in (0, 2)")
}

/// Polynomials in a through polynomials in t, coefficient by coefficient.
fn across<const P: usize, const N: usize>(fits: [[f64; N]; P]) -> [[f64; N]; P] {
    let mut out = [[0.0; N]; P];
    for j in 0..N {
        for (out, c) in out.iter_mut().zip(through(fits.map(|fit| fit[j]))) {
            out[j] = c;
        }
    }
    out
}

/// Edges of the bands in log₂ r. Closer to α = 2 than 2⁻³¹ doubles have no room for nodes; singles end at 2 − 2⁻²³.
const EDGES: [f64; 33] = [
    -31.0, -29.0, -27.0, -25.0, -23.0, -21.0, -19.0, -17.0, -15.0, -13.0, -11.0, -9.0, -7.5, -6.0, -5.0,
    -4.0, -3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25,
];

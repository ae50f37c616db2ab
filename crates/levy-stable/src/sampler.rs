//! Random draws: singly by the method of Chambers, Mallows and Stuck, or in bulk by inversion of a
//! tabulated quantile.

use crate::SymmetricStable;
use crate::angles::{Angle, Base, multiples};
use crate::elementary::{exp, ln, sin_cos_octant};
use crate::random::{Purpose, Stream};
use crate::simd::dispatched;
use crate::table::OctaveTable;
use rand::Rng;
use rand::distr::Distribution;
use std::f64::consts::FRAC_PI_2;
use std::sync::{Arc, Mutex, PoisonError};

/// 2^−53
const HALF_ULP: f64 = 1.0 / (1u64 << 53) as f64;

/// Draws X = sin αφ (cos φ)^(−1/α) (cos((α−1)φ)/W)^((1−α)/α) with φ uniform on (−π/2, π/2) and W
/// exponential: the method of Chambers, Mallows and Stuck, which is exact and requires no table.
impl Distribution<f64> for SymmetricStable {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let (angle, level) = (rng.next_u64(), rng.next_u64());
        self.scale() * draw(self.alpha(), angle, level)
    }
}

impl Distribution<f32> for SymmetricStable {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f32 {
        Distribution::<f64>::sample(self, rng) as f32
    }
}

dispatched! {
    fn draw(alpha: f64, angle: u64, level: u64) -> f64 {
        match Base::of(alpha) {
            Base::Small => chambers::<{ Base::Small as u8 }>(alpha, angle, level),
            Base::NearOne => chambers::<{ Base::NearOne as u8 }>(alpha, angle, level),
            Base::Large => chambers::<{ Base::Large as u8 }>(alpha, angle, level),
        }
    }
}

/// Returns one draw from two words of random bits, by functions that give the same bits on every
/// machine.
///
/// | word | bits | use |
/// |---|---|---|
/// | `angle` | 63 | sign |
/// | `angle` | 11 to 62 | φ |
/// | `level` | 12 to 63 | W |
///
/// The other bits are not used.
#[inline(always)]
fn chambers<const BASE: u8>(alpha: f64, angle: u64, level: u64) -> f64 {
    // φ = (π/2)u with u in (0, 1) and 1 − u exact.
    let u = (((angle << 1) >> 12) as f64 + 0.5) * (2.0 * HALF_ULP);
    let (phi, complement) = (FRAC_PI_2 * u, FRAC_PI_2 * (1.0 - u));
    let (small, large) = sin_cos_octant(if u < 0.5 { phi } else { complement });
    let (sin, cos) = if u < 0.5 { (small, large) } else { (large, small) };
    let m = multiples::<BASE>(alpha, &Angle { phi, complement, sin, cos });
    let wait = -ln(((level >> 12) as f64 + 0.5) * (2.0 * HALF_ULP));
    let exponent = ((alpha - 1.0) * ln(wait / m.cos_e) - ln(cos)) / alpha;
    // exp is clamped at e^709; only for α < 0.1 can an exponent be larger, and then the draw is
    // infinite.
    let size = if exponent > 709.0 { f64::INFINITY } else { m.sin_a * exp(exponent) };
    with_sign(size, angle)
}

/// The bit of a word that holds the sign of its draw.
const SIGN: u64 = 1 << 63;

/// Returns `x` with its sign flipped if the top bit of `word` is set.
#[inline(always)]
fn with_sign(x: f64, word: u64) -> f64 {
    f64::from_bits(x.to_bits() ^ (word & SIGN))
}

/// A sampler for many draws of one law, by inversion of its tabulated distribution function.
///
/// Created by [`SymmetricStable::sampler`]. A draw is x(q) for q uniform on (0, 1/2) with a random
/// sign. x(q) is stored as polynomials on pieces of each octave of q, down to q = 2^−64, with a
/// relative error below 1e-9 in x. Every probability of a draw therefore differs from that of
/// SαS(σ) by less than 1e-9. A draw takes one word of random bits; the method of Chambers, Mallows
/// and Stuck takes two and four transcendental functions.
///
/// For α < 0.2, where x(q) overflows within the table, draws are made as by [`SymmetricStable`].
/// The same generator and seed give the same draws singly, in bulk, and on every machine.
///
/// ```
/// use levy_stable::SymmetricStable;
/// use rand::SeedableRng;
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let sampler = SymmetricStable::new(1.5)?.sampler();
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// let mut noise = vec![0.0; 1000];
/// sampler.fill(&mut rng, &mut noise);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    law: SymmetricStable,
    /// x(q) of SαS(σ); `None` for α < 0.2.
    table: Option<Arc<OctaveTable<f64, 6>>>,
}

/// The tabulated quantile of a [`Sampler`] as plain arrays, for other devices.
///
/// The quantile x(q) at 2^−64 ≤ q < 1/2 is found from the bits of q: the exponent of q, less
/// `lowest`, is the number of an octave, for which `octaves` has the index of a first piece and a
/// split. The octave has 2^split equal pieces. The index of the piece that q is in, and the place t
/// within it, −1/2 ≤ t < 1/2, are shifts of the mantissa of q. Six coefficients of each piece, the
/// lowest power of t first, give x(q).
#[derive(Clone, Debug, PartialEq)]
pub struct QuantileData {
    /// Binary exponent of the first octave.
    pub lowest: i32,
    /// Index of the first piece, and split, of each octave.
    pub octaves: Vec<[u32; 2]>,
    /// `coefficients[6 · piece + j]` belongs to tʲ.
    pub coefficients: Vec<f64>,
}

/// The smallest q drawn is 2^−64; the last octave ends at 1/2.
const OCTAVES: std::ops::Range<i32> = -64..-1;
/// Draws made together: their words are generated first, so that the rest is a loop without calls.
const BLOCK: usize = 256;

impl SymmetricStable {
    /// Returns a sampler for many draws of this law. Building its table takes some milliseconds;
    /// the tables of the laws that were used last are kept.
    pub fn sampler(&self) -> Sampler {
        Sampler { law: *self, table: (self.alpha() >= 0.2).then(|| table_of(self)) }
    }
}

/// α and σ of a law, with its table.
type KeptTable = ([u64; 2], Arc<OctaveTable<f64, 6>>);

/// The tables of the laws that were used last: grids of runs ask for the same laws again and again.
static TABLES: Mutex<Vec<KeptTable>> = Mutex::new(Vec::new());
/// The number of tables that are kept, of about 50 kB each.
const KEPT: usize = 16;

/// Returns the tabulated quantile of a law.
fn table_of(law: &SymmetricStable) -> Arc<OctaveTable<f64, 6>> {
    let key = [law.alpha(), law.scale()].map(f64::to_bits);
    let tables = || TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, table)) = tables().iter().find(|(of, _)| *of == key) {
        return Arc::clone(table);
    }
    let width = law.scale() / law.unit().peak();
    let table = OctaveTable::fit_octaves(OCTAVES, 0.0, 5e-10, width, |q| law.isf(q));
    let table = Arc::new(table);
    let mut tables = tables();
    if tables.len() == KEPT {
        tables.remove(0);
    }
    tables.push((key, Arc::clone(&table)));
    table
}

impl Sampler {
    /// Returns the law that is sampled.
    pub fn law(&self) -> &SymmetricStable {
        &self.law
    }

    /// Returns the tabulated quantile, or `None` for α < 0.2, where draws are made by the method of
    /// Chambers, Mallows and Stuck.
    pub fn quantile_data(&self) -> Option<QuantileData> {
        let table = self.table.as_ref()?;
        Some(QuantileData {
            lowest: table.lowest(),
            octaves: table.octaves().iter().map(|octave| [octave.first, octave.split]).collect(),
            coefficients: table.coefficients().to_vec(),
        })
    }

    /// Fills `out` with independent draws.
    pub fn fill<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let Some(table) = &self.table else {
            out.fill_with(|| self.law.sample(rng));
            return;
        };
        let mut words = [0u64; BLOCK];
        for out in out.chunks_mut(BLOCK) {
            let words = &mut words[..out.len()];
            words.fill_with(|| rng.next_u64());
            invert(table, words, out);
        }
    }

    /// Sets `out[i]` to the draw made of the random bits `words[i]`, for counter-based generators
    /// such as [`random::Stream`](crate::random::Stream). Panics if the slices differ in length.
    ///
    /// For α < 0.2, where a draw requires two words, the second is that of Philox with the first as
    /// its key.
    pub fn transform(&self, words: &[u64], out: &mut [f64]) {
        assert_eq!(words.len(), out.len(), "input and output must have the same length");
        if let Some(table) = &self.table {
            invert(table, words, out);
        } else {
            for (out, &word) in out.iter_mut().zip(words) {
                *out = self.law.scale() * draw(self.law.alpha(), word, second_word(word));
            }
        }
    }

    /// Fills `out` with independent draws, rounded to single precision.
    pub fn fill_f32<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f32]) {
        let mut draws = [0.0; BLOCK];
        for out in out.chunks_mut(BLOCK) {
            let draws = &mut draws[..out.len()];
            self.fill(rng, draws);
            for (o, &x) in out.iter_mut().zip(&*draws) {
                *o = x as f32;
            }
        }
    }
}

impl Distribution<f64> for Sampler {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match &self.table {
            Some(table) => invert_one(table, rng.next_u64()),
            None => self.law.sample(rng),
        }
    }
}

impl Distribution<f32> for Sampler {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f32 {
        Distribution::<f64>::sample(self, rng) as f32
    }
}

/// Returns the second word of a draw whose first is given.
fn second_word(word: u64) -> u64 {
    Stream::new(word, 0, Purpose::SecondWord).word(0)
}

/// Returns x(q) with a sign, from one word: bit 63 is the sign, bits 1 to 62 are q, bit 0 is not
/// used.
#[inline(always)]
fn inverted(table: &OctaveTable<f64, 6>, word: u64) -> f64 {
    /// The largest double below 1/2.
    const BELOW_HALF: f64 = 0.5 - 0.5 * HALF_ULP;
    // The double keeps the leading 53 of 63 bits, so that small q are spaced as finely as large
    // ones. Odd, hence never 0.
    let q = (word & !SIGN | 1) as i64 as f64 * (0.5 * HALF_ULP / (1u64 << 10) as f64);
    let x = table.evaluate_octaves(if q < BELOW_HALF { q } else { BELOW_HALF });
    with_sign(x, word)
}

dispatched! {
    fn invert_one(table: &OctaveTable<f64, 6>, word: u64) -> f64 { inverted(table, word) }
}
dispatched! {
    fn invert(table: &OctaveTable<f64, 6>, words: &[u64], out: &mut [f64]) {
        for (o, &word) in out.iter_mut().zip(words) {
            *o = inverted(table, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_of_a_law_share_its_table() {
        let sampler = |alpha, scale| {
            SymmetricStable::new(alpha).unwrap().with_scale(scale).unwrap().sampler()
        };
        let (one, other) = (sampler(1.37, 2.0), sampler(1.37, 2.0));
        assert!(Arc::ptr_eq(one.table.as_ref().unwrap(), other.table.as_ref().unwrap()));
        assert!(one.quantile_data() != sampler(1.37, 1.0).quantile_data());
        // As many other laws as tables are kept: the table is built again, with the same numbers.
        (0..KEPT).for_each(|n| drop(sampler(1.0, 1.0 + n as f64)));
        assert!(TABLES.lock().unwrap().len() <= KEPT);
        assert!(sampler(1.37, 2.0).quantile_data() == one.quantile_data());
    }
}

//! ∇G_α in single precision where almost all arguments lie: 32 pieces that fit in vector registers.
//!
//! This is an acceleration of the table of octaves, which covers the other arguments. AVX-512
//! selects 16 numbers out of 32 in one instruction. A table of 32 pieces with 8 numbers each is
//! therefore 16 registers, and no argument needs a load of its own. The pieces have equal lengths
//! up to w = 2^e, and their length doubles with every doubling of |v| + w after that: the leading
//! bits of |v| + w are the index. Each piece holds ∇G(v)/v as a polynomial of |v| − c, where c is
//! its centre, so that the field is odd and its relative error bounded.

use super::fit::fit_piece;

/// Pieces of the table: one instruction selects from as many.
pub(crate) const PIECES: usize = 32;
/// Coefficients of a piece. With its centre they make a row of eight numbers.
const N: usize = 7;
/// Numbers per piece.
pub(crate) const ROW: usize = N + 1;

/// Sixteen numbers in memory that is aligned for one register.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub struct Lanes(pub [f32; 16]);

/// The table in registers.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(align(64))]
pub(crate) struct Bulk {
    /// Centre and coefficients of each piece, the lowest power first, for instruction sets that
    /// load a row.
    pub(crate) rows: [[f32; ROW]; PIECES],
    /// The same numbers by power, for instruction sets that permute registers.
    pub(crate) columns: Columns,
    /// w, a power of two.
    pub(crate) shift: f32,
    /// The table covers |v| + w below this.
    pub(crate) end: f32,
    /// Number of bits of |v| + w below those of the index.
    pub(crate) drop: u32,
}

/// Columns of a table, each two registers long.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct Columns(pub(crate) [[f32; PIECES]; ROW]);

impl Default for Columns {
    fn default() -> Self {
        Self([[0.0; PIECES]; ROW])
    }
}

impl Bulk {
    /// Tabulates `ratio` = ∇G(v)/v, whose knee is at about `knee`, as far out as 32 pieces within
    /// `tolerance` reach. The table is empty if no piece is.
    pub(crate) fn fit(knee: f64, tolerance: f64, ratio: impl Fn(f64) -> f64) -> Self {
        let widest = libm::log2(knee).ceil() as i32 + 5;
        // 4, 8 or 16 pieces per octave: finer octaves are fewer, but the first one can be longer.
        let longest = |split| {
            (widest - 8..=widest).rev().find_map(|e| Self::with(e, split, tolerance, &ratio))
        };
        let tables = (2..=4).filter_map(longest);
        tables.max_by(|a, b| a.reach().total_cmp(&b.reach())).unwrap_or_default()
    }

    /// Returns the table with w = 2^exponent and 2^split pieces per octave, if all of them meet the
    /// tolerance.
    fn with(
        exponent: i32,
        split: u32,
        tolerance: f64,
        ratio: &impl Fn(f64) -> f64,
    ) -> Option<Self> {
        // Powers of the lengths must stay within single precision.
        if !(-12..=12).contains(&exponent) {
            return None;
        }
        let shift = libm::ldexp(1.0, exponent);
        let octaves = PIECES as u32 >> split;
        let drop = 23 - split;
        let mut table = Self {
            shift: shift as f32,
            end: libm::ldexp(shift, octaves as i32) as f32,
            drop,
            ..Self::default()
        };
        // From the outside in: long pieces fail first.
        for octave in (0..octaves).rev() {
            let start = libm::ldexp(shift, octave as i32);
            let length = start / f64::from(1u32 << split);
            for k in 0..1 << split {
                let centre = start - shift + (f64::from(k) + 0.5) * length;
                let (piece, error) = fit_piece::<N>(&|t| ratio(t.mul_add(length, centre)), 0.0);
                if error.is_nan() || error > tolerance {
                    return None;
                }
                let j = table.index(centre as f32 + table.shift);
                table.rows[j][0] = centre as f32;
                for (power, c) in piece.into_iter().enumerate() {
                    table.rows[j][power + 1] = (c / libm::pow(length, power as f64)) as f32;
                }
            }
        }
        if !table.rows.as_flattened().iter().all(|c| c.is_finite()) {
            return None;
        }
        table.columns = Columns(std::array::from_fn(|k| table.rows.map(|row| row[k])));
        Some(table)
    }

    #[inline(always)]
    fn index(&self, u: f32) -> usize {
        (u.to_bits() >> self.drop) as usize % PIECES
    }

    /// Returns ∇G(v), if the table covers v.
    #[inline(always)]
    pub(crate) fn at(&self, v: f32) -> Option<f32> {
        let size = v.abs();
        let u = size + self.shift;
        (u < self.end).then(|| {
            let row = &self.rows[self.index(u)];
            let t = size - row[0];
            let mut p = row[ROW - 1];
            for &c in row[1..ROW - 1].iter().rev() {
                p = p.mul_add(t, c);
            }
            p * v
        })
    }

    /// Returns the |v| at which the table ends.
    fn reach(&self) -> f32 {
        self.end - self.shift
    }

    /// Returns the bytes of one copy of the table.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.rows)
    }
}

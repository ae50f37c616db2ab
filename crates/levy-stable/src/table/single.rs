//! ∇G_α in single precision: a table in vector registers where almost all arguments lie, one of
//! octaves everywhere else.

use super::bulk::{Bulk, Lanes};
use super::data::{TableData, TableError};
use super::field::Field;
use super::tabulate::{ratio, tabulate};
use crate::SymmetricStable;

/// Tolerance of the polynomials, relative to the field; rounding comes on top.
const TOLERANCE: f64 = 1.5e-8;
/// Coefficients per piece: twice those of the table for other devices, for a quarter of the memory.
const TERMS: usize = 8;

/// The field in single precision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Single {
    bulk: Box<Bulk>,
    everywhere: Field<f32, TERMS>,
}

impl Single {
    /// Tabulates the field of a law everywhere.
    pub(crate) fn tabulate(law: &SymmetricStable) -> TableData {
        tabulate::<f32, TERMS>(law, TOLERANCE)
    }

    /// Reads the table of a law, and adds the one in registers, which is not stored.
    pub(crate) fn new(law: &SymmetricStable, everywhere: &TableData) -> Result<Self, TableError> {
        let bulk = if law.alpha() == 2.0 {
            Bulk::fit(1.0, TOLERANCE, |_| 1.0)
        } else {
            Bulk::fit(law.scale() * law.unit().knee(), TOLERANCE, ratio(law))
        };
        Ok(Self { bulk: Box::new(bulk), everywhere: Field::new(everywhere)? })
    }

    /// Returns the field at v.
    #[inline(always)]
    pub(crate) fn at(&self, v: f32) -> f32 {
        self.bulk.at(v).unwrap_or_else(|| self.everywhere.at(v))
    }

    /// Returns the table of octaves as it is stored.
    pub(crate) fn data(&self, alpha: f64, max_relative_error: f64) -> TableData {
        self.everywhere.data(alpha, max_relative_error)
    }

    /// Evaluates the field in the middle of a loop: see [`crate::FieldTable::blocks_f32`].
    #[inline]
    pub(crate) fn blocks<B>(
        &self,
        blocks: impl Iterator<Item = B>,
        mut before: impl FnMut(&mut B) -> Lanes,
        mut after: impl FnMut(B, Lanes),
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx512f") {
                // SAFETY: the feature was just detected (it implies AVX2 and FMA).
                return unsafe { self.blocks_avx512(blocks, before, after) };
            }
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                // SAFETY: the features were just detected.
                return unsafe { self.blocks_avx2(blocks, before, after) };
            }
        }
        for mut block in blocks {
            let v = before(&mut block);
            after(block, Lanes(v.0.map(|v| self.at(v))));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,fma")]
    fn blocks_avx512<B>(
        &self,
        blocks: impl Iterator<Item = B>,
        mut before: impl FnMut(&mut B) -> Lanes,
        mut after: impl FnMut(B, Lanes),
    ) {
        use crate::table::bulk_x86::{Loaded, load, store};
        let bulk = Loaded::new(&self.bulk);
        for mut block in blocks {
            let v = load(&before(&mut block));
            let (mut field, beyond) = bulk.at(v);
            if beyond != 0 {
                // Copies, so that in all other cases both stay in registers.
                field = load(&self.mended(beyond, &store(v), store(field)));
            }
            after(block, store(field));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn blocks_avx2<B>(
        &self,
        blocks: impl Iterator<Item = B>,
        mut before: impl FnMut(&mut B) -> Lanes,
        mut after: impl FnMut(B, Lanes),
    ) {
        for mut block in blocks {
            let v = before(&mut block);
            let (out, beyond) = crate::table::bulk_x86::at_avx2(&self.bulk, &v);
            after(block, if beyond == 0 { out } else { self.mended(beyond, &v, out) });
        }
    }

    /// Returns `out` with the lanes of a mask evaluated one by one. Not inlined, so that the others
    /// stay in their registers.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[target_feature(enable = "avx2,fma")]
    fn mended(&self, mut beyond: u32, v: &Lanes, mut out: Lanes) -> Lanes {
        while beyond != 0 {
            let lane = beyond.trailing_zeros() as usize;
            out.0[lane] = self.everywhere.at(v.0[lane]);
            beyond &= beyond - 1;
        }
        out
    }

    /// Returns the bytes of both tables.
    pub(crate) fn bytes(&self) -> usize {
        self.bulk.bytes() + self.everywhere.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_bits() {
        for alpha in [0.2, 0.9, 1.0, 1.5, 1.75, 1.999, 2.0] {
            let law = SymmetricStable::kinetic(alpha).unwrap();
            let field = Single::new(&law, &Single::tabulate(&law)).unwrap();
            // Both sides of every boundary between pieces, and far beyond the last one.
            let edges = (0..900).map(|k| f32::from_bits(0x3000_0000 + k * (1 << 19)));
            let v = edges.flat_map(|v| [v, -v.next_down()]).chain([
                0.0,
                -0.0,
                f32::MAX,
                f32::INFINITY,
                1e-42,
            ]);
            let mut v: Vec<f32> = v.collect();
            v.resize(v.len().next_multiple_of(16), f32::NAN);
            let blocks = v.as_chunks().0;
            let check = |v: &[f32; 16], out: Lanes| {
                for (&v, out) in v.iter().zip(out.0) {
                    assert!(
                        out.to_bits() == field.at(v).to_bits() || v.is_nan() && out.is_nan(),
                        "{alpha}, {v}"
                    );
                }
            };
            field.blocks(blocks.iter(), |v| Lanes(**v), check);
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                // SAFETY: the features were just detected.
                unsafe { field.blocks_avx2(blocks.iter(), |v| Lanes(**v), check) };
            }
        }
    }
}

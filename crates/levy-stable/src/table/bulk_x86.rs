//! [`Bulk`] in the vector registers of x86: the arithmetic of [`Bulk::at`] in every lane, so the
//! bits are the same.
//!
//! Both forms return a mask of the lanes that the table does not cover. The values in those lanes
//! are meaningless.

use super::bulk::{Bulk, Lanes, ROW};
use std::arch::x86_64::*;

/// The whole table in registers.
pub(crate) struct Loaded {
    columns: [[__m512; 2]; ROW],
    shift: __m512,
    end: __m512,
    drop: __m512i,
}

impl Loaded {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn new(bulk: &Bulk) -> Self {
        let load = |half: &[f32; 16]| {
            // SAFETY: `half` is sixteen floats long.
            unsafe { _mm512_loadu_ps(half.as_ptr()) }
        };
        Self {
            columns: bulk.columns.0.each_ref().map(|column| {
                let (halves, _) = column.as_chunks();
                [load(&halves[0]), load(&halves[1])]
            }),
            shift: _mm512_set1_ps(bulk.shift),
            end: _mm512_set1_ps(bulk.end),
            drop: _mm512_set1_epi32(bulk.drop as i32),
        }
    }

    /// Returns ∇G at sixteen arguments. One permutation selects a coefficient of all their pieces.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn at(&self, v: __m512) -> (__m512, u32) {
        let size = _mm512_abs_ps(v);
        let u = _mm512_add_ps(size, self.shift);
        // The permutation uses only the lowest five bits.
        let piece = _mm512_srlv_epi32(_mm512_castps_si512(u), self.drop);
        let chosen =
            |k: usize| _mm512_permutex2var_ps(self.columns[k][0], piece, self.columns[k][1]);
        let t = _mm512_sub_ps(size, chosen(0));
        let mut p = chosen(ROW - 1);
        for k in (1..ROW - 1).rev() {
            p = _mm512_fmadd_ps(p, t, chosen(k));
        }
        (_mm512_mul_ps(p, v), u32::from(_mm512_cmp_ps_mask::<_CMP_NLT_UQ>(u, self.end)))
    }
}

/// Loads a register.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(lanes: &Lanes) -> __m512 {
    // SAFETY: `Lanes` is sixteen aligned floats.
    unsafe { _mm512_load_ps(lanes.0.as_ptr()) }
}

/// Stores a register.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(register: __m512) -> Lanes {
    let mut lanes = Lanes([0.0; 16]);
    // SAFETY: `Lanes` is sixteen aligned floats.
    unsafe { _mm512_store_ps(lanes.0.as_mut_ptr(), register) };
    lanes
}

/// Returns ∇G at sixteen arguments, evaluated in two halves.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn at_avx2(bulk: &Bulk, v: &Lanes) -> (Lanes, u32) {
    let mut out = Lanes([0.0; 16]);
    let (v, (halves, _)) = (v.0.as_chunks().0, out.0.as_chunks_mut());
    let beyond = at_eight(bulk, &v[0], &mut halves[0]) | at_eight(bulk, &v[1], &mut halves[1]) << 8;
    (out, beyond)
}

/// Writes ∇G at eight arguments. Their rows are loaded and transposed.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn at_eight(bulk: &Bulk, v: &[f32; 8], out: &mut [f32; 8]) -> u32 {
    // SAFETY: `v` is eight floats long.
    let v = unsafe { _mm256_loadu_ps(v.as_ptr()) };
    let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), v);
    let u = _mm256_add_ps(size, _mm256_set1_ps(bulk.shift));
    let piece = _mm256_srlv_epi32(_mm256_castps_si256(u), _mm256_set1_epi32(bulk.drop as i32));
    let mut pieces = [0u32; 8];
    // SAFETY: `pieces` is eight integers long.
    unsafe { _mm256_storeu_si256(pieces.as_mut_ptr().cast(), piece) };
    let row = |i: usize| &bulk.rows[pieces[i] as usize % bulk.rows.len()];
    // Columns k to k + 3 of the rows of lanes i and i + 4.
    let pair = |i: usize, k: usize| {
        let half = |row: &[f32; ROW]| {
            // SAFETY: k is 0 or 4, and a row is eight long.
            unsafe { _mm_loadu_ps(row.as_ptr().add(k)) }
        };
        _mm256_set_m128(half(row(i + 4)), half(row(i)))
    };
    let columns = |k: usize| {
        let (a, b, c, d) = (pair(0, k), pair(1, k), pair(2, k), pair(3, k));
        let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(ab, cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab, cd),
            _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high),
        ]
    };
    let ([centre, c0, c1, c2], [c3, c4, c5, c6]) = (columns(0), columns(4));
    let t = _mm256_sub_ps(size, centre);
    let p = [c5, c4, c3, c2, c1, c0].into_iter().fold(c6, |p, c| _mm256_fmadd_ps(p, t, c));
    // SAFETY: `out` is eight floats long.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), _mm256_mul_ps(p, v)) };
    _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NLT_UQ>(u, _mm256_set1_ps(bulk.end))) as u32
}

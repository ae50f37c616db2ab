//! The sampled coordinates of a tensor.

use super::Calibration;
use std::ops::Range;

/// Neighbours sampled together, because memory is read in cache lines.
pub(super) const ROW: usize = 8;

/// Returns the number of sampled coordinates of a tensor: a sixteenth of its length, at least 64 or all, and at most
/// [`Calibration::MAX_SAMPLES`].
pub(super) fn count(length: usize) -> usize {
    if length <= 64 { length } else { (length / 16).clamp(64, Calibration::MAX_SAMPLES) / ROW * ROW }
}

/// Returns one row of neighbours in each of equal parts of the tensor, chosen by the number of the quadruple; one row of all
/// coordinates for a small tensor.
///
/// Over time every coordinate is sampled, except for the last few, which do not fill a row, and no row or column of a matrix is
/// preferred.
pub(super) fn rows(length: usize, quadruple: u32) -> impl Iterator<Item = Range<usize>> {
    let count = count(length);
    let (parts, row) = if count == length { (1, length) } else { (count / ROW, ROW) };
    // The p-th part begins at p·rows/parts, rounded down, computed without a division per part.
    let rows = length / row.max(1);
    let (step, over) = (rows / parts, rows % parts);
    let (mut start, mut left) = (0, 0);
    (0..parts).map(move |part| {
        left += over;
        let carry = left >= parts;
        left -= if carry { parts } else { 0 };
        let size = step + usize::from(carry);
        // Offsets within a part fit in 32 bits, which JAX uses.
        let choices = size.clamp(1, u32::MAX as usize / 2 / ROW);
        let first = start + mixed(part as u32, quadruple) as usize % choices;
        start += size;
        first * row..(first + 1) * row
    })
}

/// Odd multipliers of the part, of the quadruple and of their mixture.
pub(super) const MIX: [u32; 3] = [0x9e37_79b9, 0x85eb_ca6b, 0x7feb_352d];

/// Returns a hash of two numbers.
fn mixed(part: u32, quadruple: u32) -> u32 {
    let mut h = part.wrapping_mul(MIX[0]) ^ quadruple.wrapping_mul(MIX[1]);
    h = (h ^ (h >> 16)).wrapping_mul(MIX[2]);
    h ^ (h >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_within_the_tensor_and_all_of_a_small_one() {
        for length in [1, 10, 64, 65, 1000, 1024, 16_385, 1_000_003] {
            for quadruple in [0, 1, 77] {
                let indices: Vec<usize> = rows(length, quadruple).flatten().collect();
                if length > 64 {
                    let (parts, all) = (indices.len() / ROW, length / ROW);
                    for (part, index) in indices.iter().step_by(ROW).enumerate() {
                        assert!(part * all / parts <= index / ROW, "{length}: {index}");
                        assert!(index / ROW < (part + 1) * all / parts, "{length}: {index}");
                    }
                }
                assert!(indices.is_sorted_by(|a, b| a < b) && *indices.last().unwrap() < length, "{length}");
                assert_eq!(indices.len(), count(length));
            }
        }
        assert!(rows(10, 3).flatten().eq(0..10));
        assert_eq!((rows(0, 0).flatten().count(), count(200_704)), (0, 1024));
    }

    /// Every column of a square matrix whose rows are as long as four parts is sampled within 200 quadruples.
    #[test]
    fn every_column_is_sampled() {
        let mut sampled = [false; 256];
        for quadruple in 0..200 {
            rows(65_536, quadruple).flatten().for_each(|index| sampled[index % 256] = true);
        }
        assert!(sampled.iter().all(|&sampled| sampled));
    }
}

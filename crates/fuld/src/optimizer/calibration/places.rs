//! Which coordinates of a tensor are looked at.

use super::Calibration;

/// Neighbours that are looked at together: memory comes in lines.
pub(super) const ROW: usize = 8;

/// How many of a tensor of so many numbers: a sixteenth of them, but at least 64 if there are so many, and at most
/// [`Calibration::MOST`].
pub(super) fn count(length: usize) -> usize {
    if length <= 64 { length } else { (length / 16).clamp(64, Calibration::MOST) / ROW * ROW }
}

/// A few neighbours in each of equal parts, chosen by the number of the quadruple: over time every coordinate is seen, and no row or
/// column of a matrix is favoured.
pub(super) fn places(length: usize, quadruple: u32) -> impl Iterator<Item = usize> {
    let count = count(length);
    let (parts, row) = if count == length { (1, length) } else { (count / ROW, ROW) };
    let start = move |part: usize| (part as u64 * length as u64 / parts as u64) as usize;
    (0..parts).flat_map(move |part| {
        let (start, end) = (start(part), start(part + 1));
        let first = start + mixed(part as u32, quadruple) as usize % (end - start - row + 1);
        first..first + row
    })
}

/// Odd numbers to multiply the part, the quadruple and what came of them by.
pub(super) const MIX: [u32; 3] = [0x9e37_79b9, 0x85eb_ca6b, 0x7feb_352d];

/// Two numbers, mixed beyond recognition.
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
                let places: Vec<usize> = places(length, quadruple).collect();
                assert!(places.is_sorted_by(|a, b| a < b) && *places.last().unwrap() < length, "{length}");
                assert_eq!(places.len(), count(length));
            }
        }
        assert!(places(10, 3).eq(0..10));
        assert_eq!((places(0, 0).count(), count(200_704)), (0, 1024));
    }

    /// Of a square matrix whose rows are as long as four parts, every column is seen within 200 quadruples.
    #[test]
    fn every_column_is_seen() {
        let mut seen = [false; 256];
        for quadruple in 0..200 {
            places(65_536, quadruple).for_each(|place| seen[place % 256] = true);
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}

//! Which coordinates of a tensor are looked at.

use super::Calibration;
use std::ops::Range;

/// Neighbours that are looked at together: memory comes in lines.
pub(super) const ROW: usize = 8;

/// How many of a tensor of so many numbers: a sixteenth of them, but at least 64 if there are so many, and at most
/// [`Calibration::MOST`].
pub(super) fn count(length: usize) -> usize {
    if length <= 64 { length } else { (length / 16).clamp(64, Calibration::MOST) / ROW * ROW }
}

/// A few neighbours in each of equal parts, chosen by the number of the quadruple: over time every coordinate is seen but the last few, which
/// fill no row, and no row or column of a matrix is favoured. Of a small tensor all in one row.
pub(super) fn rows(length: usize, quadruple: u32) -> impl Iterator<Item = Range<usize>> {
    let count = count(length);
    let (parts, row) = if count == length { (1, length) } else { (count / ROW, ROW) };
    // The p-th part begins at p·rows/parts, rounded down: without a division for each.
    let rows = length / row.max(1);
    let (step, over) = (rows / parts, rows % parts);
    let (mut start, mut left) = (0, 0);
    (0..parts).map(move |part| {
        left += over;
        let carry = left >= parts;
        left -= if carry { parts } else { 0 };
        let size = step + usize::from(carry);
        // So that 32 bits count the numbers from the beginning of the part, where no others are at hand.
        let room = size.clamp(1, u32::MAX as usize / 2 / ROW);
        let first = start + mixed(part as u32, quadruple) as usize % room;
        start += size;
        first * row..(first + 1) * row
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
                let places: Vec<usize> = rows(length, quadruple).flatten().collect();
                if length > 64 {
                    let (parts, all) = (places.len() / ROW, length / ROW);
                    for (part, place) in places.iter().step_by(ROW).enumerate() {
                        assert!(part * all / parts <= place / ROW, "{length}: {place}");
                        assert!(place / ROW < (part + 1) * all / parts, "{length}: {place}");
                    }
                }
                assert!(places.is_sorted_by(|a, b| a < b) && *places.last().unwrap() < length, "{length}");
                assert_eq!(places.len(), count(length));
            }
        }
        assert!(rows(10, 3).flatten().eq(0..10));
        assert_eq!((rows(0, 0).flatten().count(), count(200_704)), (0, 1024));
    }

    /// Of a square matrix whose rows are as long as four parts, every column is seen within 200 quadruples.
    #[test]
    fn every_column_is_seen() {
        let mut seen = [false; 256];
        for quadruple in 0..200 {
            rows(65_536, quadruple).flatten().for_each(|place| seen[place % 256] = true);
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}

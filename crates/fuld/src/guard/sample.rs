//! The components of a tensor whose logarithms are taken.

/// Largest number of components sampled per tensor. For SαS noise Var log|g| = (π²/6)(1/α² + 1/2) ≤
/// 2.47 at α ≥ 1, so that the standard error of ℓ is at most 1.57/√4096 = 2.5 %.
pub const SAMPLE: usize = 4096;

/// ⌊2³²/φ⌋ for the golden ratio φ, whose multiples fill an interval most evenly.
const GOLDEN: u64 = 2_654_435_769;

/// Returns the positions of the sampled components of a tensor: all of a small one, else one in
/// each of [`SAMPLE`] equal parts.
///
/// > position(i) = ⌊i·N/n⌋ + ⌊((2654435769·i) mod 2³²)·⌊N/n⌋ / 2³²⌋,  n = 4096
///
/// The places within the parts differ, so that no column of a matrix is preferred. Implementations
/// in other languages use the same positions.
pub fn sampled_positions(length: usize) -> impl Iterator<Item = usize> {
    let count = length.min(SAMPLE);
    let (length, part) = (length as u64, (length / SAMPLE) as u64);
    (0..count as u64).map(move |i| {
        if count < SAMPLE {
            return i as usize;
        }
        let start = i * length / SAMPLE as u64;
        let jitter = ((GOLDEN * i % (1 << 32)) * part) >> 32;
        (start + jitter) as usize
    })
}

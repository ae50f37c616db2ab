//! Blocks of sixteen numbers, over which loops are vectorised.

/// Numbers per block.
pub(super) const LANES: usize = 16;

/// Returns all numbers in blocks. The last block is padded with zeros, which the sums over logarithms ignore.
pub(super) fn blocks(numbers: &[f32]) -> impl Iterator<Item = [f32; LANES]> {
    let (whole, rest) = numbers.as_chunks::<LANES>();
    let filled = (!rest.is_empty()).then(|| {
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        last
    });
    whole.iter().copied().chain(filled)
}

/// Returns the value of a function for each lane.
#[inline(always)]
pub(super) fn each(of: impl Fn(usize) -> f32) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    for (lane, value) in lanes.iter_mut().enumerate() {
        *value = of(lane);
    }
    lanes
}

/// Sums over blocks, one per lane.
pub(super) struct Lanes([f32; LANES]);

impl Lanes {
    /// Sums over no blocks.
    pub(super) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(super) fn add(&mut self, of: impl Fn(usize) -> f32) {
        for (lane, sum) in self.0.iter_mut().enumerate() {
            *sum += of(lane);
        }
    }

    /// Returns the sum over lanes, in a tree, whose additions can run in parallel.
    pub(super) fn sum(&self) -> f32 {
        let mut lanes = self.0;
        for half in [LANES / 2, LANES / 4, LANES / 8, LANES / 16] {
            for lane in 0..half {
                lanes[lane] += lanes[lane + half];
            }
        }
        lanes[0]
    }
}

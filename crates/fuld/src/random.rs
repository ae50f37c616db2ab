//! Random words by counting: the n-th word of a chain is a function of seed, chain and n.
//!
//! Nothing is carried from step to step, so results depend neither on threads nor on how chains are batched, and a
//! checkpoint need only know how far it got.

use levy_stable::{GOLDEN, mixed};

/// The words of SplitMix64 from `state` on.
pub fn words(state: u64) -> impl Iterator<Item = u64> {
    (1u64..).map(move |n| mixed(n.wrapping_mul(GOLDEN).wrapping_add(state)))
}

/// What a stream is for: streams of different purpose share no words.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// The noise of a dynamics, or added to gradients.
    Noise = 1,
    /// Minibatches.
    Gradient = 2,
    /// Where a run begins.
    Start = 3,
    /// Bootstrap.
    Resample = 4,
    /// Gaussian control of a tail index.
    Control = 5,
    /// Minibatches that only a measurement looks at.
    Measurement = 6,
    /// The noise of these.
    MeasuredNoise = 7,
}

/// The words of one chain for one purpose.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    offset: u64,
    key: u64,
}

impl Stream {
    /// The stream of a chain.
    pub fn new(seed: u64, chain: u64, purpose: Purpose) -> Self {
        // Two keys: were there only the offset, two streams whose offsets happen to lie close would overlap.
        let offset =
            mixed(mixed(seed ^ GOLDEN).wrapping_add(chain.wrapping_mul(GOLDEN)).wrapping_add(purpose as u64));
        Self { offset, key: mixed(offset.wrapping_add(GOLDEN)) }
    }

    /// The n-th word.
    #[inline(always)]
    pub fn word(self, n: u64) -> u64 {
        mixed(mixed(n.wrapping_mul(GOLDEN).wrapping_add(self.offset)).wrapping_add(self.key))
    }
}

levy_stable::dispatched! {
    /// Words `first`, `first` + 1, … of each stream: `out` has `count` words a stream, one stream after the other.
    pub fn fill(streams: &[Stream], first: u64, count: usize, out: &mut [u64]) {
        if count == 1 {
            for (out, stream) in out.iter_mut().zip(streams) {
                *out = stream.word(first);
            }
        } else {
            for (out, stream) in out.chunks_exact_mut(count).zip(streams) {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = stream.word(first + i as u64);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits of neighbouring words, chains, seeds and purposes are balanced and uncorrelated: of 64 × 64 sums over 4096
    /// pairs, none deviates by more than six standard deviations (8e-6 to fail by chance, seeds fixed).
    #[test]
    fn neighbours_are_uncorrelated() {
        let word = |seed, chain, purpose, n| Stream::new(seed, chain, purpose).word(n);
        type Neighbour = fn(u64) -> (u64, u64);
        let pairs: [Neighbour; 4] = [
            |n| (Stream::new(1, 5, Purpose::Noise).word(n), Stream::new(1, 5, Purpose::Noise).word(n + 1)),
            |n| (Stream::new(1, n, Purpose::Noise).word(7), Stream::new(1, n + 1, Purpose::Noise).word(7)),
            |n| (Stream::new(n, 0, Purpose::Noise).word(0), Stream::new(n + 1, 0, Purpose::Noise).word(0)),
            |n| (Stream::new(1, n, Purpose::Noise).word(0), Stream::new(1, n, Purpose::Gradient).word(0)),
        ];
        for pair in pairs {
            let mut sums = [[0i32; 64]; 64];
            for n in 0..4096 {
                let (a, b) = pair(n);
                for (i, row) in sums.iter_mut().enumerate() {
                    let x = (a >> i & 1) as i32 * 2 - 1;
                    for (j, sum) in row.iter_mut().enumerate() {
                        *sum += x * ((b >> j & 1) as i32 * 2 - 1);
                    }
                }
            }
            assert!(sums.iter().flatten().all(|s| s.abs() < 6 * 64));
        }
        assert_ne!(word(0, 0, Purpose::Noise, 0), word(0, 0, Purpose::Start, 0));
    }

    #[test]
    fn words_are_those_of_splitmix64() {
        // First outputs for seed 1234567, as in the reference implementation of S. Vigna.
        let first: Vec<u64> = words(1234567).take(2).collect();
        assert_eq!(first, [6457827717110365317, 3203168211198807973]);
    }

    #[test]
    fn filling_is_counting() {
        let streams: Vec<_> = (0..3).map(|c| Stream::new(9, c, Purpose::Noise)).collect();
        let mut out = [0; 6];
        fill(&streams, 10, 2, &mut out);
        assert_eq!(out[3], streams[1].word(11));
        let mut one = [0; 3];
        fill(&streams, 11, 1, &mut one);
        assert_eq!(one[1], out[3]);
    }
}

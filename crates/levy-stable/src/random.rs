//! Counter-based random words: word `n` of a stream is a function of seed, chain, purpose and `n`.
//!
//! The generator is Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw,
//! "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). The key is the seed. The counter holds
//! the block, the chain and, in the top byte, the purpose:
//!
//! | 32-bit word | 0 | 1 | 2 | 3 |
//! |---|---|---|---|---|
//! | key | seed, low half | seed, high half | | |
//! | counter | block, low half | block, high half | chain, low half | chain, bits 32 to 55; purpose in bits 56 to 63 |
//!
//! One block is 128 bits, hence two words of 64: word `n` is half `n & 1` of block `n >> 1`. No
//! state is carried from word to word, so results depend neither on threads nor on how chains are
//! batched, and a resumed run needs only its step number.

use crate::simd::dispatched;

/// Rounds of Philox.
const ROUNDS: usize = 10;
/// Multipliers of the two halves of the counter (Random123, `philox.h`).
const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// Increments of the two halves of the key from round to round: the golden ratio and √3 − 1, times
/// 2³².
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
/// The low 32 bits.
const LOW: u64 = 0xffff_ffff;
/// Bits of a counter that hold the chain; the purpose is above them.
const CHAIN_BITS: u32 = 56;
/// The number of chains that a seed and a purpose have streams for, 2⁵⁶.
pub const MAX_CHAINS: u64 = 1 << CHAIN_BITS;
/// Chains whose words are generated together in [`Streams::fill`], so that the buffer stays in the
/// first cache.
const TOGETHER: usize = 64;

/// Philox4x32-10. Counter and result are 32-bit numbers in 64-bit lanes, which is the form that the
/// vector instruction for 32 × 32 → 64 bits takes.
#[inline(always)]
fn philox(seed: u64, counter: [u64; 4]) -> [u64; 4] {
    let [mut x0, mut x1, mut x2, mut x3] = counter;
    let (mut k0, mut k1) = (seed as u32, (seed >> 32) as u32);
    for _ in 0..ROUNDS {
        let (p0, p1) = ((x0 & LOW) * MULTIPLIERS[0], (x2 & LOW) * MULTIPLIERS[1]);
        // The high 32 bits of a lane may be anything until the end: a product uses the low ones
        // only.
        (x0, x1, x2, x3) =
            ((p1 >> 32) ^ x1 ^ u64::from(k0), p1, (p0 >> 32) ^ x3 ^ u64::from(k1), p0);
        (k0, k1) = (k0.wrapping_add(WEYL[0]), k1.wrapping_add(WEYL[1]));
    }
    [x0 & LOW, x1 & LOW, x2 & LOW, x3 & LOW]
}

/// The two words of a block.
#[inline(always)]
fn block_words(seed: u64, tagged_chain: u64, block: u64) -> [u64; 2] {
    let x = philox(seed, [block & LOW, block >> 32, tagged_chain & LOW, tagged_chain >> 32]);
    [x[0] | x[1] << 32, x[2] | x[3] << 32]
}

/// The purpose of a stream. Streams of different purposes share no words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Noise of a dynamics, or added to gradients.
    Noise = 1,
    /// Minibatches.
    Gradient = 2,
    /// Initial positions and weights.
    Start = 3,
    /// Bootstrap resamples.
    Resample = 4,
    /// Gaussian control of a tail index.
    Control = 5,
    /// Minibatches that serve a measurement only.
    Measurement = 6,
    /// Noise of those minibatches.
    MeasuredNoise = 7,
    /// Second word of a draw that requires two; see
    /// [`Sampler::transform`](crate::Sampler::transform).
    SecondWord = 8,
    /// Acceptance of proposals.
    Acceptance = 9,
    /// Exchanges between temperatures.
    Exchange = 10,
}

impl Purpose {
    /// The chain's 56 bits with the purpose above them.
    fn tag(self, chain: u64) -> u64 {
        chain & (MAX_CHAINS - 1) | (self as u64) << CHAIN_BITS
    }
}

/// The random words of one chain for one purpose.
///
/// ```
/// use levy_stable::random::{Purpose, Stream};
/// let stream = Stream::new(42, 0, Purpose::Noise);
/// let mut words = [0; 5];
/// stream.fill(3, &mut words);
/// assert_eq!(words[4], stream.word(7));
/// assert!(stream.words().skip(3).take(5).eq(words));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    seed: u64,
    /// The chain, with the purpose in the top byte.
    chain: u64,
}

impl Stream {
    /// Creates the stream of a chain below [`MAX_CHAINS`]; higher bits of `chain` are ignored.
    pub fn new(seed: u64, chain: u64, purpose: Purpose) -> Self {
        Self { seed, chain: purpose.tag(chain) }
    }

    /// Returns word `n`.
    #[inline]
    pub fn word(self, n: u64) -> u64 {
        self.block(n >> 1)[(n & 1) as usize]
    }

    /// Returns all words, from word 0 on.
    pub fn words(self) -> impl Iterator<Item = u64> {
        (0..=u64::MAX >> 1).flat_map(move |block| self.block(block))
    }

    /// Fills `out` with words `first`, `first + 1`, …
    pub fn fill(self, first: u64, out: &mut [u64]) {
        let (odd, out) = out.split_at_mut(out.len().min((first & 1) as usize));
        let (whole, even) = out.as_chunks_mut();
        odd.fill_with(|| self.word(first));
        fill_blocks(self, first.div_ceil(2), whole);
        even.fill_with(|| self.word(first.next_multiple_of(2) + 2 * whole.len() as u64));
    }

    #[inline(always)]
    fn block(self, block: u64) -> [u64; 2] {
        block_words(self.seed, self.chain, block)
    }
}

/// The streams of consecutive chains for one purpose, filled together.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    /// The stream of the first chain.
    first: Stream,
    chains: usize,
}

impl Streams {
    /// Creates the streams of `chains` chains from number `first` on; all numbers must be below
    /// [`MAX_CHAINS`].
    pub fn new(seed: u64, first: u64, chains: usize, purpose: Purpose) -> Self {
        Self { first: Stream::new(seed, first, purpose), chains }
    }

    /// Fills `out` with words `first..first + count` of each chain, chain after chain. Panics if
    /// `out` does not have `count` words per chain.
    pub fn fill(&self, first: u64, count: usize, out: &mut [u64]) {
        assert_eq!(out.len(), count * self.chains, "the buffer must hold `count` words per chain");
        if count == 0 {
            return;
        }
        let blocks = first >> 1..=(first + count as u64 - 1) >> 1;
        if count >= TOGETHER {
            for (chain, out) in out.chunks_exact_mut(count).enumerate() {
                self.stream(chain).fill(first, out);
            }
            return;
        }
        // Few words per chain: one block of many chains at a time.
        let (mut even, mut odd) = ([0; TOGETHER], [0; TOGETHER]);
        for (group, out) in out.chunks_mut(count * TOGETHER).enumerate() {
            let chains = out.len() / count;
            let stream = self.stream(group * TOGETHER);
            for block in blocks.clone() {
                fill_chains(stream, block, &mut even[..chains], &mut odd[..chains]);
                for (half, words) in [&even, &odd].into_iter().enumerate() {
                    // Before `first` this wraps to a number far above `count`.
                    let place = (2 * block + half as u64).wrapping_sub(first);
                    if place < count as u64 {
                        let places = out.iter_mut().skip(place as usize).step_by(count);
                        places.zip(words).for_each(|(out, word)| *out = *word);
                    }
                }
            }
        }
    }

    /// Fills `even` with word `2 * block` and `odd` with word `2 * block + 1` of each chain: half
    /// the work of two calls of [`fill`](Self::fill). Panics unless both have one word per chain.
    pub fn fill_pair(&self, block: u64, even: &mut [u64], odd: &mut [u64]) {
        assert!(
            even.len() == self.chains && odd.len() == self.chains,
            "the buffers must hold one word per chain"
        );
        fill_chains(self.first, block, even, odd);
    }

    fn stream(&self, chain: usize) -> Stream {
        Stream { chain: self.first.chain + chain as u64, ..self.first }
    }
}

dispatched! {
    /// Fills `out` with consecutive blocks of one chain.
    fn fill_blocks(stream: Stream, first: u64, out: &mut [[u64; 2]]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = block_words(stream.seed, stream.chain, first + i as u64);
        }
    }
}
dispatched! {
    /// Fills `even` and `odd` with the two words of one block of consecutive chains.
    fn fill_chains(stream: Stream, block: u64, even: &mut [u64], odd: &mut [u64]) {
        for (i, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
            [*even, *odd] = block_words(stream.seed, stream.chain + i as u64, block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of Random123 (`kat_vectors`, philox4x32 with 10 rounds): counter, key, result.
    const KNOWN: [([u64; 4], u64, [u64; 4]); 3] = [
        ([0; 4], 0, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
        ([LOW; 4], u64::MAX, [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
        (
            [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
            0x299f31d0_a4093822,
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
        ),
    ];

    #[test]
    fn philox_gives_the_known_answers() {
        for (counter, key, expected) in KNOWN {
            assert_eq!(philox(key, counter), expected);
        }
    }

    /// The reference implementation, in 32-bit arithmetic, independent of the vector form above.
    fn reference(seed: u64, chain: u64, purpose: Purpose, n: u64) -> u64 {
        let block = n >> 1;
        let (mut key, mut x) = (
            [seed as u32, (seed >> 32) as u32],
            [
                block as u32,
                (block >> 32) as u32,
                chain as u32,
                (chain >> 32) as u32 | (purpose as u32) << 24,
            ],
        );
        for _ in 0..ROUNDS {
            let product =
                |m: u64, x: u32| (((m * u64::from(x)) >> 32) as u32, (m as u32).wrapping_mul(x));
            let ((high0, low0), (high1, low1)) =
                (product(MULTIPLIERS[0], x[0]), product(MULTIPLIERS[1], x[2]));
            x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0];
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let half = (n & 1) as usize;
        u64::from(x[2 * half]) | u64::from(x[2 * half + 1]) << 32
    }

    /// All ways to fill a buffer give the words of the scalar reference, at even and odd starts and
    /// where halves carry.
    #[test]
    fn filling_gives_the_words_of_the_reference() {
        let (seed, purpose) = (0x0123_4567_89ab_cdef, Purpose::Gradient);
        for first in [0, 1, 10, 11, (1 << 33) - 5, (1 << 40) + 3] {
            for first_chain in [0, 7, (1 << 32) - 20] {
                for (chains, count) in
                    [(1, 1), (3, 2), (100, 1), (100, 3), (70, 31), (2, 64), (3, 101)]
                {
                    let streams = Streams::new(seed, first_chain, chains, purpose);
                    let mut out = vec![0; chains * count];
                    streams.fill(first, count, &mut out);
                    for (i, &word) in out.iter().enumerate() {
                        let (chain, n) =
                            (first_chain + (i / count) as u64, first + (i % count) as u64);
                        assert_eq!(
                            word,
                            reference(seed, chain, purpose, n),
                            "chain {chain}, word {n}"
                        );
                        assert_eq!(word, Stream::new(seed, chain, purpose).word(n));
                    }
                    let (mut even, mut odd) = (vec![0; chains], vec![0; chains]);
                    streams.fill_pair(first, &mut even, &mut odd);
                    for (i, words) in even.into_iter().zip(odd).enumerate() {
                        let word = |n| reference(seed, first_chain + i as u64, purpose, n);
                        assert_eq!(words, (word(2 * first), word(2 * first + 1)));
                    }
                }
            }
        }
    }

    /// Bits of neighbouring words, chains, seeds and purposes are balanced and uncorrelated: of 64
    /// × 64 sums over 4096 pairs, none deviates by more than six standard deviations (8e-6 to fail
    /// by chance, seeds fixed).
    #[test]
    fn neighbours_are_uncorrelated() {
        type Neighbour = fn(u64) -> (u64, u64);
        let pairs: [Neighbour; 4] = [
            |n| {
                (
                    Stream::new(1, 5, Purpose::Noise).word(n),
                    Stream::new(1, 5, Purpose::Noise).word(n + 1),
                )
            },
            |n| {
                (
                    Stream::new(1, n, Purpose::Noise).word(7),
                    Stream::new(1, n + 1, Purpose::Noise).word(7),
                )
            },
            |n| {
                (
                    Stream::new(n, 0, Purpose::Noise).word(0),
                    Stream::new(n + 1, 0, Purpose::Noise).word(0),
                )
            },
            |n| {
                (
                    Stream::new(1, n, Purpose::Noise).word(0),
                    Stream::new(1, n, Purpose::Gradient).word(0),
                )
            },
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
        let word = |purpose| Stream::new(0, 0, purpose).word(0);
        assert_ne!(word(Purpose::Noise), word(Purpose::Start));
    }
}

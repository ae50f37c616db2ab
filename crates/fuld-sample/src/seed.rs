//! Seeds of runs that give none.

use std::hash::{BuildHasher, RandomState};

/// Returns a random seed of 32 bits, few enough to be copied by hand.
pub fn random_seed() -> u64 {
    // The keys of the standard library's hash come from the operating system, and differ from call
    // to call.
    RandomState::new().hash_one(0) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of eight seeds are equal with a chance of 28 · 2⁻³².
    #[test]
    fn seeds_differ_and_are_short() {
        let mut seeds: Vec<u64> = (0..8).map(|_| random_seed()).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 8);
        assert!(seeds.iter().all(|&seed| seed < 1 << 32));
    }
}

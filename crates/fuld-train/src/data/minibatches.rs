//! The order of a set in training: minibatches of indices, with a new permutation for every epoch.
//!
//! The minibatch of an iteration is a function of seed, set size, batch size and iteration. A
//! resumed run therefore has the same minibatches as an uninterrupted one.

use fuld::random::{Purpose, Stream};
use thiserror::Error;

/// An error of [`Minibatches::new`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MinibatchError {
    /// The minibatch has no images.
    #[error("the batch size must be at least 1, got 0")]
    Empty,
    /// The minibatch is larger than the set.
    #[error("the batch size must be at most {count}, the number of images, got {batch}")]
    TooLarge {
        /// Images per minibatch.
        batch: usize,
        /// Images of the set.
        count: usize,
    },
    /// The set has more images than a 32-bit index can address.
    #[error("a set must have at most {max} images, got {0}", max = u32::MAX)]
    TooMany(usize),
}

/// Minibatches of indices. Each epoch is a new permutation of all of them; the remainder that does
/// not fill a minibatch is left out of that epoch.
#[derive(Clone, Debug)]
pub struct Minibatches {
    batch: usize,
    seed: u64,
    /// The epoch of `order`.
    epoch: u64,
    /// The permutation of all indices in the current epoch.
    order: Vec<u32>,
}

impl Minibatches {
    /// Creates minibatches of `batch` indices below `count`.
    pub fn new(count: usize, batch: usize, seed: u64) -> Result<Self, MinibatchError> {
        if batch == 0 {
            return Err(MinibatchError::Empty);
        }
        if batch > count {
            return Err(MinibatchError::TooLarge { batch, count });
        }
        let all = u32::try_from(count).map_err(|_| MinibatchError::TooMany(count))?;
        let mut batches = Self { batch, seed, epoch: 0, order: (0..all).collect() };
        batches.shuffle(0);
        Ok(batches)
    }

    /// Returns the number of minibatches per epoch.
    pub fn per_epoch(&self) -> u64 {
        (self.order.len() / self.batch) as u64
    }

    /// Returns the indices of an iteration's minibatch. Iterations may be requested in any order. A
    /// change of epoch costs one shuffle.
    pub fn at(&mut self, iteration: u64) -> &[u32] {
        let epoch = iteration / self.per_epoch();
        if epoch != self.epoch {
            self.shuffle(epoch);
        }
        let start = (iteration % self.per_epoch()) as usize * self.batch;
        &self.order[start..start + self.batch]
    }

    /// Returns the permutation of an epoch, whose minibatches follow each other from its start.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn order(&mut self, epoch: u64) -> &[u32] {
        if epoch != self.epoch {
            self.shuffle(epoch);
        }
        &self.order
    }

    /// Shuffles by Fisher and Yates, from the sorted order, so that no epoch depends on another.
    fn shuffle(&mut self, epoch: u64) {
        self.epoch = epoch;
        for (place, n) in self.order.iter_mut().zip(0..) {
            *place = n;
        }
        let mut words = Stream::new(self.seed, epoch, Purpose::Gradient).words();
        for last in (1..self.order.len()).rev() {
            let other = below(last as u64 + 1, || words.next().unwrap_or_default()) as usize;
            self.order.swap(last, other);
        }
    }
}

/// Returns a uniform number below `bound` (D. Lemire, "Fast random integer generation in an
/// interval", 2019): the high word of bound × word. Words whose low word shows that they would make
/// a result more likely than the others are rejected.
fn below(bound: u64, mut word: impl FnMut() -> u64) -> u64 {
    loop {
        let product = u128::from(bound) * u128::from(word());
        let low = product as u64;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch_of(batches: &mut Minibatches, epoch: u64) -> Vec<u32> {
        let first = epoch * batches.per_epoch();
        (first..first + batches.per_epoch()).flat_map(|i| batches.at(i).to_vec()).collect()
    }

    #[test]
    fn an_epoch_is_a_permutation() {
        let mut batches = Minibatches::new(60, 5, 1).unwrap();
        let epochs: Vec<_> = (0..3).map(|epoch| epoch_of(&mut batches, epoch)).collect();
        for epoch in &epochs {
            let mut sorted = epoch.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..60).collect::<Vec<_>>());
        }
        assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2] && epochs[0] != epochs[2]);
        assert_ne!(epoch_of(&mut Minibatches::new(60, 5, 2).unwrap(), 0), epochs[0]);
    }

    #[test]
    fn the_remainder_differs_between_epochs() {
        let mut batches = Minibatches::new(10, 4, 3).unwrap();
        assert_eq!(batches.per_epoch(), 2);
        let mut used: Vec<u32> = (0..20).flat_map(|epoch| epoch_of(&mut batches, epoch)).collect();
        assert_eq!(used.len(), 160);
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), 10);
    }

    #[test]
    fn minibatches_do_not_depend_on_the_order_of_requests() {
        let mut batches = Minibatches::new(23, 4, 9).unwrap();
        let forward: Vec<_> = (0..40).map(|i| batches.at(i).to_vec()).collect();
        for i in (0..40).rev().chain([17, 3, 39, 0]) {
            assert_eq!(batches.at(i as u64), forward[i]);
            assert_eq!(Minibatches::new(23, 4, 9).unwrap().at(i as u64), forward[i]);
        }
        assert_eq!(batches.at(u64::MAX).len(), 4);
    }

    #[test]
    fn first_indices_are_pinned() {
        let mut batches = Minibatches::new(60_000, 6, 7).unwrap();
        assert_eq!(batches.at(0), [16787, 19899, 28542, 32577, 39995, 37287]);
        assert_eq!(batches.at(10_000), [14977, 43674, 57939, 31447, 25083, 5374]);
    }

    #[test]
    fn sizes_are_checked() {
        assert_eq!(Minibatches::new(10, 0, 0).unwrap_err(), MinibatchError::Empty);
        assert_eq!(
            Minibatches::new(10, 11, 0).unwrap_err(),
            MinibatchError::TooLarge { batch: 11, count: 10 }
        );
        assert_eq!(
            Minibatches::new(0, 1, 0).unwrap_err(),
            MinibatchError::TooLarge { batch: 1, count: 0 }
        );
        assert_eq!(Minibatches::new(1, 1, 0).unwrap().at(5), [0]);
    }

    /// All 120 permutations of five indices are equally likely, over epochs and over seeds: χ² with
    /// 119 degrees of freedom stays below 190 (false-positive rate 4e-5 each; the seeds are fixed).
    /// A shuffle that swaps with any position at each step gives thousands.
    #[test]
    fn orders_are_uniform() {
        let chi_square = |orders: &mut dyn FnMut(u64) -> Vec<u32>| {
            let mut counts = std::collections::HashMap::new();
            (0..60_000).for_each(|n| *counts.entry(orders(n)).or_insert(0.0) += 1.0);
            assert_eq!(counts.len(), 120);
            counts.values().map(|count: &f64| (count - 500.0).powi(2) / 500.0).sum::<f64>()
        };
        let mut batches = Minibatches::new(5, 5, 11).unwrap();
        let epochs = chi_square(&mut |n| batches.at(n).to_vec());
        let seeds = chi_square(&mut |n| Minibatches::new(5, 5, n).unwrap().at(0).to_vec());
        assert!(epochs < 190.0 && seeds < 190.0, "{epochs} {seeds}");
    }

    /// Words that would make a number more likely are rejected: a quarter of all words for a bound
    /// of 3·2^62.
    #[test]
    fn biased_words_are_rejected() {
        let bound = 3 << 62;
        let mut given = [1, 2, 4u64 << 60].into_iter();
        let drawn = below(bound, &mut || given.next().unwrap());
        // 1·bound has the low word 3·2^62 ≥ 2^62 and is accepted.
        assert_eq!((drawn, given.len()), (0, 2));
        let mut given = [0, 0, 5].into_iter();
        assert_eq!((below(bound, &mut || given.next().unwrap()), given.len()), (3, 0));
    }
}

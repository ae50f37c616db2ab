//! Everything that exact sampling adapts: the tuning of every temperature, and the temperatures.

use super::adaptation::Adaptation;
use super::ladder::Ladder;
use super::trips::Trips;
use super::tuning::Tuning;

/// The adaptation of all levels of parallel tempering; without tempering there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Levels {
    pub(crate) ladder: Ladder,
    pub(crate) trips: Trips,
    /// The adaptation of each level.
    pub(crate) adaptations: Vec<Adaptation>,
}

impl Levels {
    /// Begins the adaptation of `levels` levels of `chains` chains each over `warmup` iterations.
    pub(crate) fn new(tuning: &Tuning, warmup: u64, chains: usize, levels: usize) -> Self {
        let adaptation = Adaptation::new(tuning.clone(), warmup, chains);
        let (ladder, trips) = (Ladder::new(levels), Trips::new(levels, chains));
        let mut this = Self { ladder, trips, adaptations: vec![adaptation; levels] };
        this.widen(&vec![1.0; levels]);
        this
    }

    /// Scales the coordinates of each level by what its inverse temperature changed since it had
    /// the given `factors`, as suits a Gaussian.
    pub(crate) fn widen(&mut self, factors: &[f64]) {
        let changes =
            self.ladder.factors().into_iter().zip(factors).map(|(new, old)| (old / new).sqrt());
        for (adaptation, change) in self.adaptations.iter_mut().zip(changes) {
            adaptation.tuning.scales.iter_mut().for_each(|scale| *scale *= change);
        }
    }

    /// Returns the state as numbers, for a checkpoint: the ladder, the round trips, and for each
    /// level the count of its numbers and the numbers.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let mut numbers = self.ladder.to_numbers();
        numbers.extend(self.trips.to_numbers());
        for adaptation in &self.adaptations {
            let level = adaptation.to_numbers();
            numbers.push(level.len() as f64);
            numbers.extend(level);
        }
        numbers
    }

    /// Restores the state from [`to_numbers`](Self::to_numbers); None if the numbers are too few or
    /// too many.
    pub(crate) fn from_numbers(
        numbers: &[f64],
        warmup: u64,
        [levels, chains, dim]: [usize; 3],
    ) -> Option<Self> {
        let (ladder, rest) = Ladder::from_numbers(numbers, levels)?;
        let (trips, mut rest) = Trips::from_numbers(rest, levels, chains)?;
        let mut adaptations = Vec::new();
        for _ in 0..levels {
            let (count, others) = rest.split_first()?;
            let (level, others) = others.split_at_checked(*count as usize)?;
            adaptations.push(Adaptation::from_numbers(level, warmup, chains, dim)?);
            rest = others;
        }
        rest.is_empty().then_some(Self { ladder, trips, adaptations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_restore_the_state() {
        let mut levels = Levels::new(&Tuning::plain(0.5, 1.0, 3), 100, 10, 3);
        levels.ladder.update(1, 0.9, true);
        levels.trips.count();
        levels.adaptations[2].tuning.scales[1] = 7.0;
        let numbers = levels.to_numbers();
        let restore = |numbers: &[f64]| Levels::from_numbers(numbers, 100, [3, 10, 3]);
        assert_eq!(restore(&numbers).unwrap(), levels);
        assert!(
            restore(&numbers[1..]).is_none() && restore(&numbers[..numbers.len() - 1]).is_none()
        );
        assert!(restore(&[&numbers[..], &[0.0]].concat()).is_none());
    }
}

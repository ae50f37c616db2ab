//! Round trips of parallel tempering: positions that went from the hottest level to level 0 and
//! back.
//!
//! A position brings a mode that was chosen at the hottest level to the draws at most once per
//! round trip, so round trips bound the number of independent visits of modes (Katzgraber, Trebst,
//! Huse and Troyer 2006; Syed, Bouchard-Côté, Deligiannidis and Doucet 2022).

/// The way of a position so far.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It has not been at the hottest level.
    Unknown,
    /// It was at the hottest level, and not at level 0 since then.
    FromHottest,
    /// It was at the hottest level, and then at level 0.
    FromColdest,
}

impl Way {
    const ALL: [Self; 3] = [Self::Unknown, Self::FromHottest, Self::FromColdest];
}

/// The round trips since the adaptation ended; nothing if there is one level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trips {
    chains: usize,
    complete: u64,
    /// The ways of the positions: for each level those of all chains.
    ways: Vec<Way>,
}

impl Trips {
    /// Begins to count.
    pub(crate) fn new(levels: usize, chains: usize) -> Self {
        let positions = if levels > 1 { levels * chains } else { 0 };
        Self { chains, complete: 0, ways: vec![Way::Unknown; positions] }
    }

    /// Returns the number of round trips of all chains.
    pub(crate) fn complete(&self) -> u64 {
        self.complete
    }

    /// Follows an exchange of positions between a level and the next.
    pub(crate) fn exchange(&mut self, level: usize, chain: usize) {
        let at = level * self.chains + chain;
        self.ways.swap(at, at + self.chains);
    }

    /// Counts the positions that returned to the hottest level, after all exchanges of an
    /// iteration.
    pub(crate) fn count(&mut self) {
        let Some(hottest) = self.ways.len().checked_sub(self.chains) else { return };
        for way in &mut self.ways[hottest..] {
            self.complete += u64::from(*way == Way::FromColdest);
            *way = Way::FromHottest;
        }
        let arrived = self.ways[..self.chains].iter_mut().filter(|way| **way == Way::FromHottest);
        arrived.for_each(|way| *way = Way::FromColdest);
    }

    /// Returns the state as numbers, for a checkpoint.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let complete = (!self.ways.is_empty()).then_some(self.complete as f64);
        complete.into_iter().chain(self.ways.iter().map(|way| f64::from(*way as u8))).collect()
    }

    /// Restores the state from the beginning of `numbers`, and returns the other numbers; None if
    /// they are not the state of as many positions.
    pub(crate) fn from_numbers(
        numbers: &[f64],
        levels: usize,
        chains: usize,
    ) -> Option<(Self, &[f64])> {
        let mut this = Self::new(levels, chains);
        if levels == 1 {
            return Some((this, numbers));
        }
        let (complete, rest) = numbers.split_first()?;
        let (ways, rest) = rest.split_at_checked(this.ways.len())?;
        this.complete = *complete as u64;
        for (way, number) in this.ways.iter_mut().zip(ways) {
            *way = *Way::ALL.iter().find(|way| f64::from(**way as u8) == *number)?;
        }
        Some((this, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One position of two chains goes from the hottest of three levels to level 0 and back, twice.
    #[test]
    fn whole_trips_are_counted() {
        let mut trips = Trips::new(3, 2);
        // Both positions of chain 1 at the end levels stay; those of chain 0 travel.
        for (level, complete) in [(1, 0), (0, 0), (0, 0), (1, 1), (1, 1), (0, 1), (0, 1), (1, 2)] {
            trips.count();
            trips.exchange(level, 0);
            let numbers = trips.to_numbers();
            let (restored, rest) = Trips::from_numbers(&numbers, 3, 2).unwrap();
            assert_eq!((&restored, rest.len()), (&trips, 0));
            trips.count();
            assert_eq!(trips.complete(), complete, "{trips:?}");
        }
        let numbers = trips.to_numbers();
        assert!(Trips::from_numbers(&numbers[1..], 3, 2).is_none());
        assert!(Trips::from_numbers(&[3.0; 7], 3, 2).is_none());
        assert!(Trips::new(1, 2).to_numbers().is_empty());
    }
}

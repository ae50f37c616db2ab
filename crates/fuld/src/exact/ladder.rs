//! The inverse temperatures of parallel tempering, and their adaptation.
//!
//! Level 0 samples from e^(−βf), level l from e^(−λ_l βf) with 1 = λ₀ > λ₁ > …: the hotter a level,
//! the lower are its barriers. After each iteration neighbouring levels of a chain may exchange
//! their positions, first the pairs that begin with an even level, then the others (Syed,
//! Bouchard-Côté, Deligiannidis and Doucet 2022). An exchange is accepted with probability min(1,
//! e^((λ_l − λ_m)β(f_l − f_m))), which leaves the joint law of all levels invariant.
//!
//! During the warm-up the gaps log(λ_l/λ_{l+1}) follow the mean acceptance over all chains
//! (Miasojedow, Moulines and Vihola 2013).

/// Acceptance of exchanges that the gaps are adapted to: about the most efficient one (Syed and
/// others 2022).
const ACCEPTANCE: f64 = 0.5;
/// The decay of the adaptation: update n has weight n to the minus this, between 1/2 and 1 so that
/// it converges.
const DECAY: f64 = 0.6;
/// Largest log(λ₀/λ_l): where the domain of f is bounded, hotter levels would be accepted without
/// end.
const LARGEST: f64 = 27.6;
/// Numbers per gap in a checkpoint.
const NUMBERS: usize = 4;

/// The levels of parallel tempering.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ladder {
    gaps: Vec<Gap>,
}

/// Two neighbouring levels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gap {
    /// log(λ_l/λ_{l+1})
    size: f64,
    /// Updates so far.
    updates: f64,
    /// Sum and number of the mean acceptances since the adaptation ended.
    acceptance: f64,
    exchanges: f64,
}

impl Ladder {
    /// Returns `levels` levels, each twice as hot as the one before, unless the last would be too
    /// hot.
    pub(crate) fn new(levels: usize) -> Self {
        let size = core::f64::consts::LN_2.min(LARGEST / levels as f64);
        let gap = Gap { size, updates: 0.0, acceptance: 0.0, exchanges: 0.0 };
        Self { gaps: vec![gap; levels - 1] }
    }

    /// Returns λ of every level.
    pub(crate) fn factors(&self) -> Vec<f64> {
        let mut factor = 1.0;
        let hotter = self.gaps.iter().map(|gap| {
            factor *= libm::exp(-gap.size);
            factor
        });
        std::iter::once(1.0).chain(hotter).collect()
    }

    /// Returns the mean acceptance of exchanges between neighbouring levels since the adaptation
    /// ended.
    pub(crate) fn acceptance(&self) -> Vec<f64> {
        self.gaps.iter().map(|gap| gap.acceptance / gap.exchanges).collect()
    }

    /// Returns the colder level of each pair, in the order of the exchanges.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = usize> + use<> {
        let count = self.gaps.len();
        (0..count).step_by(2).chain((1..count).step_by(2))
    }

    /// Learns from the mean acceptance of exchanges between a level and the next.
    pub(crate) fn update(&mut self, level: usize, acceptance: f64, adapting: bool) {
        let others: f64 = self.gaps.iter().map(|gap| gap.size).sum::<f64>() - self.gaps[level].size;
        let gap = &mut self.gaps[level];
        if adapting {
            gap.updates += 1.0;
            let size =
                gap.size * libm::exp(libm::pow(gap.updates, -DECAY) * (acceptance - ACCEPTANCE));
            gap.size =
                if size > gap.size { size.min((LARGEST - others).max(gap.size)) } else { size };
        } else {
            gap.acceptance += acceptance;
            gap.exchanges += 1.0;
        }
    }

    /// Returns the state as numbers, for a checkpoint.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        self.gaps
            .iter()
            .flat_map(|gap| [gap.size, gap.updates, gap.acceptance, gap.exchanges])
            .collect()
    }

    /// Restores the state from the beginning of `numbers`, and returns the other numbers; None if
    /// they are too few.
    pub(crate) fn from_numbers(numbers: &[f64], levels: usize) -> Option<(Self, &[f64])> {
        let (gaps, rest) = numbers.split_at_checked(NUMBERS * (levels - 1))?;
        let gap = |&[size, updates, acceptance, exchanges]: &[f64; NUMBERS]| Gap {
            size,
            updates,
            acceptance,
            exchanges,
        };
        Some((Self { gaps: gaps.as_chunks().0.iter().map(gap).collect() }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The acceptance of a gap s is e^(−s): the gaps with acceptance 1/2 are found.
    #[test]
    fn gaps_are_adapted_to_the_acceptance() {
        let mut ladder = Ladder::new(4);
        ladder.gaps[2].size = 5.0;
        for _ in 0..400 {
            for level in ladder.pairs() {
                ladder.update(level, libm::exp(-ladder.gaps[level].size), true);
            }
        }
        for (level, factor) in ladder.factors().iter().enumerate() {
            assert!((factor * libm::exp2(level as f64) - 1.0).abs() < 0.02, "{ladder:?}");
        }
        (0..10).for_each(|_| ladder.update(1, 0.25, false));
        assert_eq!(ladder.acceptance()[1], 0.25);
        let numbers = ladder.to_numbers();
        let (restored, rest) = Ladder::from_numbers(&numbers, 4).unwrap();
        assert_eq!((restored.gaps[1], rest.len()), (ladder.gaps[1], 0));
        assert!(Ladder::from_numbers(&numbers[1..], 4).is_none());
    }

    /// Exchanges that are always accepted, as on a bounded domain, do not make a level infinitely
    /// hot.
    #[test]
    fn the_hottest_level_is_bounded() {
        for levels in [3, 255] {
            let mut ladder = Ladder::new(levels);
            for _ in 0..1000 {
                ladder.pairs().for_each(|level| ladder.update(level, 1.0, true));
            }
            let hottest = ladder.factors()[levels - 1];
            assert!((1e-13..1e-9).contains(&hottest), "{levels}: {hottest}");
        }
    }

    #[test]
    fn even_pairs_come_first() {
        assert_eq!(Ladder::new(5).pairs().collect::<Vec<_>>(), [0, 2, 1, 3]);
        assert_eq!(Ladder::new(1).pairs().count(), 0);
    }
}

//! How far chains are from a law, and how far chance alone would put them.

use fuld::diagnostics::Sample;
use fuld::gibbs::Gibbs;
use fuld::random::{Purpose, Stream};

/// A distance of Kolmogorov and Smirnov.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Distance {
    /// sup |F̂ − F|
    pub(super) value: f64,
    /// Which chance exceeds once in twenty, were the law right: draws of one chain depend on each other, so it is measured by
    /// drawing whole chains again.
    pub(super) chance: f64,
}

/// Places at which distributions are compared when chains are drawn again, and how often they are.
const PLACES: usize = 64;
const RESAMPLES: u64 = 200;

/// What a small step may add to chance.
const DISCRETISATION: f64 = 0.002;

impl Distance {
    /// Whether the law is right, as far as chance and a small step let one see: half again of what chance exceeds once in twenty is
    /// exceeded about once in a thousand.
    pub(super) fn agrees(&self) -> bool {
        self.value <= 1.5 * self.chance + DISCRETISATION
    }

    /// Of the draws of chains, those that are finite.
    pub(super) fn of(chains: &[Vec<f64>], law: &Gibbs) -> anyhow::Result<Self> {
        let draws: Vec<f64> = chains.iter().flatten().copied().filter(|x| x.is_finite()).collect();
        let value = Sample::new(draws)?.kolmogorov_smirnov(|x| law.cdf(x))?.distance;
        Ok(Self { value, chance: chance(chains, law) })
    }
}

fn chance(chains: &[Vec<f64>], law: &Gibbs) -> f64 {
    let places: Vec<f64> = (1..PLACES).map(|i| law.quantile(i as f64 / PLACES as f64)).collect();
    // Of each chain how many draws lie below each place, and how many there are.
    let counts: Vec<(Vec<f64>, f64)> = chains
        .iter()
        .map(|chain| {
            let mut below = vec![0.0; places.len()];
            for x in chain.iter().filter(|x| x.is_finite()) {
                let first = places.partition_point(|place| place < x);
                below[first..].iter_mut().for_each(|count| *count += 1.0);
            }
            (below, chain.iter().filter(|x| x.is_finite()).count() as f64)
        })
        .collect();
    let distribution = |chosen: &mut dyn Iterator<Item = usize>| {
        let (mut below, mut total) = (vec![0.0; places.len()], 0.0);
        for chain in chosen {
            below.iter_mut().zip(&counts[chain].0).for_each(|(sum, count)| *sum += count);
            total += counts[chain].1;
        }
        below.iter_mut().for_each(|sum| *sum /= total);
        below
    };
    let all = distribution(&mut (0..chains.len()));
    let mut distances: Vec<f64> = (0..RESAMPLES)
        .map(|resample| {
            let stream = Stream::new(resample, 0, Purpose::Start);
            let again = distribution(
                &mut (0..chains.len() as u64).map(|i| (stream.word(i) % chains.len() as u64) as usize),
            );
            all.iter().zip(again).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        })
        .collect();
    distances.sort_by(f64::total_cmp);
    distances[(0.95 * RESAMPLES as f64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuld::potential::Harmonic;

    /// Independent draws: the 0.95 quantile of the distance is 1.36/√n, here known to a tenth.
    #[test]
    fn chance_is_that_of_independent_draws() {
        let law = Gibbs::new(&Harmonic::isotropic(1, 1.0).unwrap(), 1.0).unwrap();
        let uniform = |i: u64| (Stream::new(5, 0, Purpose::Noise).word(i) >> 11) as f64 / (1u64 << 53) as f64;
        let chains: Vec<Vec<f64>> =
            (0..2000).map(|i| vec![law.quantile(uniform(i).clamp(1e-9, 1.0 - 1e-9))]).collect();
        let distance = Distance::of(&chains, &law).unwrap();
        assert!((distance.chance * 2000f64.sqrt() / 1.36 - 1.0).abs() < 0.12, "{distance:?}");
        // The same draws twice in each chain: nothing more is known.
        let twice: Vec<Vec<f64>> = chains.iter().map(|chain| chain.repeat(2)).collect();
        assert_eq!(Distance::of(&twice, &law).unwrap().chance, distance.chance);
    }
}

//! The Kolmogorov–Smirnov distance of chains to a law, and the distance that Monte Carlo error
//! alone would cause.

use crate::Context;
use crate::quartic::finite;
use fuld::diagnostics::Sample;
use fuld::gibbs::Gibbs;
use fuld::random::{Purpose, Stream};
use fuld_sample::SampleRequest;

/// A Kolmogorov–Smirnov distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Distance {
    /// sup |F̂ − F|
    pub(crate) ks: f64,
    /// The 95 % quantile of the distance if the law is right, by a bootstrap over whole chains,
    /// because the draws of one chain depend on each other. `fuld sample` estimates it from the
    /// effective sample size instead and calls it `ks_noise`.
    pub(crate) ks_bootstrap: f64,
}

/// Quantiles at which distributions are compared when chains are resampled.
const QUANTILES: usize = 64;
/// Number of times chains are resampled.
const RESAMPLES: u64 = 200;
/// Distance that a small step may add to Monte Carlo error.
const STEP_BIAS: f64 = 0.002;

impl Distance {
    /// Returns whether Monte Carlo error and a small step explain the distance. 1.5 times the 95 %
    /// quantile is exceeded about once in a thousand.
    pub(crate) fn agrees(&self) -> bool {
        self.ks <= 1.5 * self.ks_bootstrap + STEP_BIAS
    }

    /// Returns the distance of the finite draws of chains to a law.
    pub(crate) fn of(chains: &[Vec<f64>], law: &Gibbs) -> anyhow::Result<Self> {
        let ks = Sample::new(finite(chains))?.kolmogorov_smirnov(|x| law.cdf(x))?.distance;
        Ok(Self { ks, ks_bootstrap: bootstrap(chains, law) })
    }
}

/// Positions of chains, compared with a law.
pub(crate) struct Sampled {
    pub(crate) draws: Vec<Vec<f64>>,
    pub(crate) distance: Distance,
    /// Number of chains that diverged.
    pub(crate) diverged: usize,
}

impl Sampled {
    pub(crate) fn new(
        context: &Context<'_>,
        request: SampleRequest,
        law: &Gibbs,
    ) -> anyhow::Result<Self> {
        let (samples, outcome) = context.sample(request)?;
        let draws = samples.coordinate(0);
        Ok(Self {
            distance: Distance::of(&draws, law)?,
            draws,
            diverged: outcome.divergences.len(),
        })
    }
}

/// Resamples whole chains and returns the 95 % quantile of the distance to all of them.
fn bootstrap(chains: &[Vec<f64>], law: &Gibbs) -> f64 {
    let quantiles: Vec<f64> =
        (1..QUANTILES).map(|i| law.quantile(i as f64 / QUANTILES as f64)).collect();
    // For each chain, the number of draws below each quantile and the number of draws.
    let counts: Vec<(Vec<f64>, f64)> = chains
        .iter()
        .map(|chain| {
            let mut below = vec![0.0; quantiles.len()];
            for x in chain.iter().filter(|x| x.is_finite()) {
                let first = quantiles.partition_point(|quantile| quantile < x);
                below[first..].iter_mut().for_each(|count| *count += 1.0);
            }
            (below, chain.iter().filter(|x| x.is_finite()).count() as f64)
        })
        .collect();
    let distribution = |chosen: &mut dyn Iterator<Item = usize>| {
        let (mut below, mut total) = (vec![0.0; quantiles.len()], 0.0);
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
                &mut (0..chains.len() as u64)
                    .map(|i| (stream.word(i) % chains.len() as u64) as usize),
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

    /// For independent draws the 0.95 quantile of the distance is 1.36/√n; the test resolves a
    /// tenth of it.
    #[test]
    fn the_bootstrap_has_the_noise_of_independent_draws() {
        let law = Gibbs::new(&Harmonic::isotropic(1, 1.0).unwrap(), fuld::Beta::ONE).unwrap();
        let uniform =
            |i: u64| (Stream::new(5, 0, Purpose::Noise).word(i) >> 11) as f64 / (1u64 << 53) as f64;
        let chains: Vec<Vec<f64>> =
            (0..2000).map(|i| vec![law.quantile(uniform(i).clamp(1e-9, 1.0 - 1e-9))]).collect();
        let distance = Distance::of(&chains, &law).unwrap();
        assert!((distance.ks_bootstrap * 2000f64.sqrt() / 1.36 - 1.0).abs() < 0.12, "{distance:?}");
        // The same draws twice in each chain: they carry no more information.
        let twice: Vec<Vec<f64>> = chains.iter().map(|chain| chain.repeat(2)).collect();
        assert_eq!(Distance::of(&twice, &law).unwrap().ks_bootstrap, distance.ks_bootstrap);
    }
}

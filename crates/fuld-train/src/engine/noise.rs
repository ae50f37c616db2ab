//! Stable noise that is added to gradients. Each number is a function of seed, iteration, layer and
//! index.

use crate::spec::InjectedNoise;
use fuld::random::{Purpose, Stream};
use levy_stable::{ParameterError, Sampler, SymmetricStable};
use rayon::prelude::*;

/// Numbers drawn at a time, so that random words and draws fit into the first-level cache.
const BLOCK: usize = 512;

/// The noise of one run.
#[derive(Clone, Debug)]
pub(super) struct Noise {
    sampler: Sampler,
    seed: u64,
    layers: u64,
}

impl Noise {
    pub(super) fn new(
        noise: InjectedNoise,
        seed: u64,
        layers: usize,
    ) -> Result<Self, ParameterError> {
        let law = SymmetricStable::new(noise.alpha)?.with_scale(noise.scale)?;
        Ok(Self { sampler: law.sampler(), seed, layers: layers as u64 })
    }

    /// Adds the noise of an iteration to the gradient of a layer, for training or for a
    /// measurement.
    pub(super) fn add(
        &self,
        (purpose, iteration): (Purpose, u64),
        layer: usize,
        gradient: &mut [f32],
    ) {
        let stream = Stream::new(self.seed, iteration * self.layers + layer as u64, purpose);
        gradient.par_chunks_mut(BLOCK).enumerate().for_each(|(block, gradient)| {
            let (mut words, mut draws) = ([0u64; BLOCK], [0f64; BLOCK]);
            let (words, draws) = (&mut words[..gradient.len()], &mut draws[..gradient.len()]);
            stream.fill((block * BLOCK) as u64, words);
            self.sampler.transform(words, draws);
            for (g, draw) in gradient.iter_mut().zip(draws) {
                *g += *draw as f32;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use levy_stable::tail_index::{LogMoments, TailIndexEstimator};

    fn noise(seed: u64, iteration: u64, layer: usize) -> Vec<f32> {
        let mut gradient = vec![0.0; 5000];
        let noise = Noise::new(InjectedNoise { alpha: 1.5, scale: 1e-3 }, seed, 2).unwrap();
        noise.add((Purpose::Noise, iteration), layer, &mut gradient);
        gradient
    }

    /// For 10,000 draws, the tolerances 0.15 of α and 10 % of the scale are at least four standard
    /// deviations: false-positive rate 1e-4.
    #[test]
    fn the_noise_has_the_requested_alpha_and_scale() {
        let numbers = [noise(3, 5, 0), noise(3, 5, 1)].concat();
        let numbers: Vec<f64> = numbers.iter().map(|&x| x.into()).collect();
        let found = LogMoments.estimate(&numbers).unwrap();
        assert!((found.alpha - 1.5).abs() < 0.15, "{found:?}");
        assert!((found.scale.unwrap() / 1e-3).ln().abs() < 0.1, "{found:?}");
    }

    #[test]
    fn the_noise_depends_on_seed_layer_and_iteration() {
        let one = noise(3, 5, 0);
        assert!(one == noise(3, 5, 0) && one != noise(9, 5, 0));
        assert!(one != noise(3, 6, 0) && one != noise(3, 5, 1));
    }
}

//! Stable noise that is added to gradients. Each number is a function of seed, iteration, layer and
//! index.

use crate::spec::InjectedNoise;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use fuld::random::{Purpose, Stream};
use levy_stable::{ParameterError, Sampler, SymmetricStable};

/// Numbers drawn at a time, so that random words and draws fit into the first-level cache.
const BLOCK: usize = 512;

/// The noise of a stack of runs.
pub(super) struct Injection {
    /// The sampler and the seed of each run.
    runs: Vec<(Sampler, u64)>,
    layers: u64,
}

impl Injection {
    pub(super) fn new(
        runs: impl Iterator<Item = (InjectedNoise, u64)>,
        layers: usize,
    ) -> Result<Self, ParameterError> {
        let runs = runs.map(|(noise, seed)| {
            Ok((SymmetricStable::new(noise.alpha)?.with_scale(noise.scale)?.sampler(), seed))
        });
        Ok(Self { runs: runs.collect::<Result<_, ParameterError>>()?, layers: layers as u64 })
    }

    /// Returns the gradients of an iteration with noise, for training or for a measurement.
    pub(super) fn added<B: Backend>(
        &self,
        gradients: Vec<Tensor<B, 3>>,
        purpose: Purpose,
        iteration: u64,
    ) -> Vec<Tensor<B, 3>> {
        let layer = |(layer, gradient): (usize, Tensor<B, 3>)| {
            let (shape, device) = (gradient.dims(), gradient.device());
            let mut noise = vec![0f32; shape.iter().product()];
            for (part, (sampler, seed)) in
                noise.chunks_exact_mut(shape[1] * shape[2]).zip(&self.runs)
            {
                let stream = Stream::new(*seed, iteration * self.layers + layer as u64, purpose);
                draw(sampler, stream, part);
            }
            gradient + Tensor::from_data(TensorData::new(noise, shape), &device)
        };
        gradients.into_iter().enumerate().map(layer).collect()
    }
}

fn draw(sampler: &Sampler, stream: Stream, out: &mut [f32]) {
    let (mut words, mut draws) = ([0u64; BLOCK], [0f64; BLOCK]);
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let (words, draws) = (&mut words[..out.len()], &mut draws[..out.len()]);
        stream.fill((block * BLOCK) as u64, words);
        sampler.transform(words, draws);
        for (out, draw) in out.iter_mut().zip(draws) {
            *out = *draw as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Flex;
    use levy_stable::tail_index::{LogMoments, TailIndexEstimator};

    fn noise(seeds: &[u64], iteration: u64) -> Vec<f32> {
        let device = Default::default();
        let runs = seeds.iter().map(|&seed| (InjectedNoise { alpha: 1.5, scale: 1e-3 }, seed));
        let zeros = Tensor::<Flex, 3>::zeros([seeds.len(), 50, 100], &device);
        let added = Injection::new(runs, 2).unwrap().added(
            vec![zeros.clone(), zeros],
            Purpose::Noise,
            iteration,
        );
        added.into_iter().flat_map(|layer| layer.into_data().to_vec::<f32>().unwrap()).collect()
    }

    /// For 10,000 draws, the tolerances 0.15 of α and 10 % of the scale are at least four standard
    /// deviations: false-positive rate 1e-4.
    #[test]
    fn the_noise_has_the_requested_alpha_and_scale() {
        let numbers: Vec<f64> = noise(&[3], 5).iter().map(|&x| x.into()).collect();
        let found = LogMoments.estimate(&numbers).unwrap();
        assert!((found.alpha - 1.5).abs() < 0.15, "{found:?}");
        assert!((found.scale.unwrap() / 1e-3).ln().abs() < 0.1, "{found:?}");
    }

    #[test]
    fn the_noise_depends_only_on_seed_layer_and_iteration() {
        let (alone, pair) = (noise(&[3], 5), noise(&[9, 3], 5));
        assert!(alone[..5000] == pair[5000..10_000] && alone[5000..] == pair[15_000..]);
        assert!(
            alone[..5000] != alone[5000..]
                && alone != noise(&[3], 6)
                && pair[..5000] != pair[5000..10_000]
        );
    }
}

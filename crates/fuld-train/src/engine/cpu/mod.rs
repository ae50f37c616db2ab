//! The engine for CPUs. Each run has its own network, optimizer and buffers, so that its bits
//! depend neither on the other runs of the stack nor on the number of threads.

mod cross_entropy;
mod memory;
mod optimizer;
mod passes;
mod product;

use super::noise::Noise;
use super::rules::UpdateRule;
use super::{Engine, ImageSet, Score};
use crate::data::{DataSet, Images, Minibatches};
use crate::engine::EngineError;
use crate::network::Network;
use crate::spec::TrainSpec;
use crate::tensor_file::TensorFile;
use cross_entropy::sums;
use fuld::optimizer::RuleError;
use fuld::random::Purpose;
use optimizer::RunOptimizer;
use passes::{Passes, forward};
use rayon::prelude::*;

/// Images per forward pass of a measurement.
pub(super) const CHUNK: usize = 500;

/// A stack of runs on the CPU.
pub(super) struct CpuEngine<'a> {
    data: &'a DataSet,
    runs: Vec<Run>,
}

/// A run with its buffers.
struct Run {
    network: Network,
    optimizer: RunOptimizer,
    noise: Option<Noise>,
    batches: Minibatches,
    passes: Passes,
    images: Vec<f32>,
    labels: Vec<u8>,
    loss: f64,
}

impl<'a> CpuEngine<'a> {
    pub(super) fn new(data: &'a DataSet, specs: &[TrainSpec]) -> Result<Self, EngineError> {
        memory::check(data, specs)?;
        let run = |(spec, rule): (&TrainSpec, UpdateRule)| {
            let network =
                Network::new(spec.network(data.train.features(), data.classes), spec.seed);
            let noise = spec.inject_noise.map(|noise| Noise::new(noise, spec.seed, spec.depth));
            Ok(Run {
                optimizer: RunOptimizer::new(rule, &network.layers),
                network,
                noise: noise.transpose()?,
                batches: Minibatches::new(data.train.len(), spec.batch, spec.seed)?,
                passes: Passes::default(),
                images: Vec::new(),
                labels: Vec::new(),
                loss: f64::NAN,
            })
        };
        let runs = specs.iter().zip(UpdateRule::of(specs)?).map(run);
        Ok(Self { data, runs: runs.collect::<Result<_, EngineError>>()? })
    }
}

impl Run {
    fn step(&mut self, images: &Images, iteration: u64) -> Result<(), RuleError> {
        let indices = self.batches.at(iteration);
        gather(images, indices, &mut self.images, &mut self.labels);
        let Self { network, optimizer, noise, passes, .. } = self;
        let layers = &mut network.layers;
        let mut done = Ok(());
        self.loss = passes.backward(layers, &self.images, &self.labels, |n, weights, gradient| {
            if let Some(noise) = noise {
                noise.add((Purpose::Noise, iteration), n, gradient);
            }
            if done.is_ok() {
                done = optimizer.step(iteration, n, weights, gradient);
            }
        });
        done.and_then(|()| optimizer.finish(iteration, layers))
    }

    fn gradients(
        &mut self,
        images: &Images,
        indices: &[u32],
        noise_of: (Purpose, u64),
    ) -> Vec<Vec<f32>> {
        gather(images, indices, &mut self.images, &mut self.labels);
        let layers = &mut self.network.layers;
        let mut gradients = vec![Vec::new(); layers.len()];
        self.passes.backward(layers, &self.images, &self.labels, |n, _, gradient| {
            if let Some(noise) = &self.noise {
                noise.add(noise_of, n, gradient);
            }
            gradients[n] = gradient.to_vec();
        });
        gradients
    }
}

/// Reads images and labels by index.
fn gather(images: &Images, indices: &[u32], pixels: &mut Vec<f32>, labels: &mut Vec<u8>) {
    pixels.resize(indices.len() * images.features(), 0.0);
    images.gather(indices, pixels);
    labels.clear();
    labels.extend(indices.iter().map(|&index| images.labels()[index as usize]));
}

impl Engine for CpuEngine<'_> {
    fn step(&mut self, iteration: u64) -> Result<(), EngineError> {
        let images = &self.data.train;
        let step = |(run, state): (usize, &mut Run)| {
            state.step(images, iteration).map_err(|source| EngineError::Rule { run, source })
        };
        match &mut self.runs[..] {
            // The products themselves are parallel.
            [run] => step((0, run)),
            runs => runs.par_iter_mut().enumerate().try_for_each(step),
        }
    }

    fn losses(&mut self) -> Result<Vec<f64>, EngineError> {
        Ok(self.runs.iter().map(|run| run.loss).collect())
    }

    fn losses_wait(&self) -> bool {
        false
    }

    /// The threads of the current pool share the chunks. Sums are taken in the order of the chunks,
    /// so that the result does not depend on the number of threads.
    fn score(&mut self, set: ImageSet, count: usize) -> Result<Vec<Score>, EngineError> {
        let images = match set {
            ImageSet::Training => &self.data.train,
            ImageSet::Test => &self.data.test,
        };
        let starts: Vec<usize> = (0..count).step_by(CHUNK).collect();
        let score = |run: &Run| {
            let chunk = |(pixels, outputs): &mut (Vec<f32>, Vec<Vec<f32>>), &start: &usize| {
                let range = start..(start + CHUNK).min(count);
                pixels.resize(range.len() * images.features(), 0.0);
                images.gather_range(range.clone(), pixels);
                forward(&run.network.layers, pixels, outputs);
                sums(outputs.last_mut().map_or(&mut [], Vec::as_mut_slice), &images.labels()[range])
            };
            let chunks: Vec<Score> = starts.par_iter().map_init(Default::default, chunk).collect();
            let mean = |of: fn(&Score) -> f64| chunks.iter().map(of).sum::<f64>() / count as f64;
            Score { loss: mean(|sums| sums.loss), accuracy: mean(|sums| sums.accuracy) }
        };
        Ok(self.runs.iter().map(score).collect())
    }

    fn gradients(
        &mut self,
        indices: &[u32],
        noise: (Purpose, u64),
    ) -> Result<Vec<Vec<Vec<f32>>>, EngineError> {
        let (images, batch) = (&self.data.train, indices.len() / self.runs.len());
        let parts = self.runs.iter_mut().zip(indices.chunks_exact(batch));
        Ok(parts.map(|(run, indices)| run.gradients(images, indices, noise)).collect())
    }

    fn largest_v(&mut self) -> Result<Option<Vec<f64>>, EngineError> {
        Ok(self.runs.iter().map(|run| run.optimizer.largest_v()).collect())
    }

    fn networks(&mut self) -> Result<Vec<Network>, EngineError> {
        Ok(self.runs.iter().map(|run| run.network.clone()).collect())
    }

    fn save(&mut self) -> Result<TensorFile, EngineError> {
        let mut file = TensorFile::default();
        for Run { network, optimizer, .. } in &self.runs {
            for (n, layer) in network.layers.iter().enumerate() {
                let shape = [layer.inputs, layer.outputs];
                file.push(format!("weights.{n}"), &shape, &layer.weights);
            }
            optimizer.save(&mut file, &network.layers);
        }
        Ok(file)
    }

    fn restore(&mut self, file: TensorFile, _iteration: u64) -> Result<(), EngineError> {
        let count = self.runs.len();
        for (run, Run { network, optimizer, .. }) in self.runs.iter_mut().enumerate() {
            let file = file.of_run(run, count);
            for (n, layer) in network.layers.iter_mut().enumerate() {
                let shape = [layer.inputs, layer.outputs];
                file.read(&format!("weights.{n}"), &shape, &mut layer.weights)?;
            }
            optimizer.restore(file, &network.layers)?;
        }
        Ok(())
    }
}

//! The networks of a stack of runs and their training steps.

use super::device_images::DeviceImages;
use super::measurement::{Measurement, score};
use super::noise::Injection;
use super::stack_optimizer::StackOptimizer;
use super::{TrainError, tails};
use crate::data::{DataSet, Minibatches};
use crate::mlp::Mlp;
use crate::spec::TrainSpec;
use crate::tensor_file::{TensorError, TensorFile};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use fuld::random::Purpose;

/// Training images of a measurement that appears only in curves, not in the reported means.
const QUICK_IMAGES: usize = 10_000;

/// Networks of one shape, each with its own seed and settings, that are trained together.
pub struct Trainer<'a, B: Backend> {
    spec: Vec<TrainSpec>,
    train: DeviceImages<'a, B>,
    test: DeviceImages<'a, B>,
    batches: Vec<Minibatches>,
    noise: Option<Injection>,
    net: Mlp<B>,
    optimizer: StackOptimizer<B>,
    iteration: u64,
}

impl<'a, B: Backend> Trainer<'a, B> {
    /// Creates the initial networks. The specifications may differ in seed, α, friction or
    /// momentum, knee and noise.
    pub fn new(
        data: &'a DataSet,
        spec: &[TrainSpec],
        device: &B::Device,
    ) -> Result<Self, TrainError> {
        let first = &spec[0];
        let shape = first.network(data.train.features(), data.classes);
        let seeds: Vec<u64> = spec.iter().map(|run| run.seed).collect();
        let batches =
            seeds.iter().map(|&seed| Minibatches::new(data.train.len(), first.batch, seed));
        let noises: Option<Vec<_>> =
            spec.iter().map(|run| run.inject_noise.map(|noise| (noise, run.seed))).collect();
        Ok(Self {
            spec: spec.to_vec(),
            train: DeviceImages::new(&data.train, data, device),
            test: DeviceImages::new(&data.test, data, device),
            batches: batches.collect::<Result<_, _>>()?,
            noise: noises
                .map(|noises| Injection::new(noises.into_iter(), first.depth))
                .transpose()?,
            net: Mlp::new(shape, &seeds, device),
            optimizer: StackOptimizer::new(spec)?,
            iteration: 0,
        })
    }

    /// Returns the number of steps taken.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Returns the networks.
    pub fn net(&self) -> &Mlp<B> {
        &self.net
    }

    /// Returns the largest |v| of any weight of each run, v = −√lr b, which can be compared with
    /// the knee κ. `None` before the first step and for rules without momentum.
    pub fn largest_v(&self) -> Option<Vec<f64>> {
        self.optimizer.largest_v()
    }

    /// Returns whether the loss of a step can be read without waiting for a device.
    pub(super) fn on_host(&self) -> bool {
        self.train.on_host()
    }

    /// Returns the loss of each run and its gradients at a minibatch, with the noise of an
    /// iteration.
    fn gradients(
        &self,
        batches: &mut [Minibatches],
        minibatch: u64,
        (purpose, iteration): (Purpose, u64),
    ) -> (Tensor<B, 1>, Vec<Tensor<B, 3>>) {
        let mut indices = Vec::with_capacity(batches.len() * self.spec[0].batch);
        batches.iter_mut().for_each(|batches| indices.extend_from_slice(batches.at(minibatch)));
        let (losses, gradients) = self.net.gradients(self.train.pick(&indices, batches.len()));
        match &self.noise {
            Some(noise) => (losses, noise.added(gradients, purpose, iteration)),
            None => (losses, gradients),
        }
    }

    /// Takes a step, and returns the loss of each run's minibatch before it.
    pub fn step(&mut self) -> Tensor<B, 1> {
        let mut batches = std::mem::take(&mut self.batches);
        let (losses, gradients) =
            self.gradients(&mut batches, self.iteration, (Purpose::Noise, self.iteration));
        self.batches = batches;
        self.optimizer.step(&mut self.net, gradients);
        self.iteration += 1;
        losses
    }

    /// Returns loss and accuracy of each run, on all training images if `thorough`, else on the
    /// first 10,000.
    pub fn measure(&self, thorough: bool) -> Vec<Measurement> {
        let train_images =
            if thorough { self.train.len() } else { self.train.len().min(QUICK_IMAGES) };
        let train = score(&self.net, &self.train, train_images);
        let test = score(&self.net, &self.test, self.test.len());
        let measurement =
            |((train_loss, train_accuracy), (test_loss, test_accuracy))| Measurement {
                iteration: self.iteration,
                train_images,
                train_loss,
                train_accuracy,
                test_loss,
                test_accuracy,
            };
        train.into_iter().zip(test).map(measurement).collect()
    }

    /// Returns the tail index of each layer's gradient noise, for each run, at the current weights.
    pub fn tails(&self) -> Result<Vec<Vec<tails::LayerTail>>, TrainError> {
        let count = self.batches.len();
        let seeds: Vec<u64> = self.spec.iter().map(|run| run.seed).collect();
        let images = self.train.len();
        let mut batches = tails::batches(images, self.spec[0].batch, &seeds, self.iteration)?;
        let mut noises = vec![tails::GradientSamples::default(); count];
        for k in 0..tails::MINIBATCHES {
            let noise = (Purpose::MeasuredNoise, self.iteration * tails::MINIBATCHES + k);
            let (_, gradients) = self.gradients(&mut batches, k, noise);
            for gradient in gradients {
                let gradient = gradient.into_data();
                let numbers: Vec<f32> = gradient.iter::<f32>().collect();
                for (noises, part) in
                    noises.iter_mut().zip(numbers.chunks_exact(numbers.len() / count))
                {
                    noises.push(part);
                }
            }
        }
        Ok(noises
            .iter()
            .map(|noises| noises.tails(self.iteration, self.net.layers.len()))
            .collect())
    }

    /// Returns weights and optimizer state as tensors of a checkpoint.
    pub(super) fn save(&self) -> TensorFile {
        let mut file = TensorFile::default();
        for (layer, weights) in self.net.layers.iter().enumerate() {
            file.insert(format!("weights.{layer}"), weights);
        }
        self.optimizer.save(&mut file);
        file
    }

    /// Continues from the tensors of a checkpoint.
    pub(super) fn restore(
        &mut self,
        iteration: u64,
        mut file: TensorFile,
    ) -> Result<(), TensorError> {
        for (n, layer) in self.net.layers.iter_mut().enumerate() {
            *layer = file.take(&format!("weights.{n}"), layer.dims(), &layer.device())?;
        }
        self.optimizer.restore(&mut file, &self.net, iteration)?;
        self.iteration = iteration;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Device, GuardRequest, InjectedNoise, Optimizer, TrainRequest};
    use burn::backend::Flex;

    fn weights(trainer: &Trainer<'_, Flex>) -> Vec<Vec<f32>> {
        trainer.net.layers.iter().map(|layer| layer.to_data().iter::<f32>().collect()).collect()
    }

    /// A stack with a guard continues from its tensors to the same bits, and the guard changes the
    /// steps.
    #[test]
    fn a_guarded_stack_continues_with_the_same_bits() {
        let data = DataSet::load("digits", std::path::Path::new("")).unwrap();
        for optimizer in [Optimizer::Sgdm, Optimizer::Fuld, Optimizer::ClipValue, Optimizer::Adam] {
            let specs = |guard| {
                let spec = |seed| TrainRequest {
                    width: Some(8),
                    depth: Some(2),
                    seed: Some(seed),
                    optimizer: Some(optimizer),
                    inject_noise: Some(InjectedNoise { alpha: 1.2, scale: 0.01 }),
                    guard,
                    ..TrainRequest::default()
                };
                [0, 1].map(|seed| spec(seed).spec(&data.description(), Device::Cpu).unwrap())
            };
            let new =
                |guard| Trainer::<Flex>::new(&data, &specs(guard), &Default::default()).unwrap();
            let guard = Some(GuardRequest::Given(0.5));
            let [mut whole, mut first, mut second, mut plain] =
                [guard, guard, guard, None].map(new);
            (0..10).for_each(|_| drop(whole.step()));
            (0..10).for_each(|_| drop(plain.step()));
            (0..6).for_each(|_| drop(first.step()));
            second.restore(6, first.save()).unwrap();
            (6..10).for_each(|_| drop(second.step()));
            assert!(weights(&whole) == weights(&second), "{optimizer}");
            assert!(weights(&whole) != weights(&plain), "{optimizer}");
        }
    }
}

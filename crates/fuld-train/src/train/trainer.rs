//! The networks of a stack of runs and their training steps.

use super::measurement::Measurement;
use super::{TrainError, tails};
use crate::data::DataSet;
use crate::engine::{Engine, EngineError, ImageSet, Score, engine};
use crate::network::Network;
use crate::spec::TrainSpec;
use crate::tensor_file::TensorFile;
use fuld::random::Purpose;

/// Training images of a measurement that appears only in curves, not in the reported means.
const QUICK_IMAGES: usize = 10_000;

/// Networks of one shape, each with its own seed and settings, that are trained together.
pub struct Trainer<'a> {
    data: &'a DataSet,
    specs: Vec<TrainSpec>,
    engine: Box<dyn Engine + 'a>,
    iteration: u64,
}

impl<'a> Trainer<'a> {
    /// Creates the initial networks on the device of the specifications, which may differ in seed,
    /// step, α, knee and noise.
    pub fn new(data: &'a DataSet, specs: &[TrainSpec]) -> Result<Self, TrainError> {
        Ok(Self { data, specs: specs.to_vec(), engine: engine(data, specs)?, iteration: 0 })
    }

    /// Returns the number of steps taken.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Returns the network of each run.
    pub fn networks(&mut self) -> Result<Vec<Network>, TrainError> {
        Ok(self.engine.networks()?)
    }

    /// Returns the largest |v| of any weight of each run, v = −√lr b, which can be compared with
    /// the knee κ. `None` for rules without momentum.
    pub fn largest_v(&mut self) -> Result<Option<Vec<f64>>, TrainError> {
        Ok(self.engine.largest_v()?)
    }

    /// Takes a step.
    pub fn step(&mut self) -> Result<(), TrainError> {
        self.engine.step(self.iteration)?;
        self.iteration += 1;
        Ok(())
    }

    /// Returns the loss of each run's minibatch before the last step. On a GPU, this waits for the
    /// device.
    pub fn losses(&mut self) -> Result<Vec<f64>, TrainError> {
        Ok(self.engine.losses()?)
    }

    /// Returns whether [`Trainer::losses`] waits for a device.
    pub(super) fn losses_wait(&self) -> bool {
        self.engine.losses_wait()
    }

    /// Returns loss and accuracy of each run, on all training images if `thorough`, else on the
    /// first 10,000.
    pub fn measure(&mut self, thorough: bool) -> Result<Vec<Measurement>, TrainError> {
        let images = self.data.train.len();
        let train_images = if thorough { images } else { images.min(QUICK_IMAGES) };
        let train = self.engine.score(ImageSet::Training, train_images)?;
        let test = self.engine.score(ImageSet::Test, self.data.test.len())?;
        let measurement = |(train, test): (Score, Score)| Measurement {
            iteration: self.iteration,
            train_images,
            train_loss: train.loss,
            train_accuracy: train.accuracy,
            test_loss: test.loss,
            test_accuracy: test.accuracy,
        };
        Ok(train.into_iter().zip(test).map(measurement).collect())
    }

    /// Returns the tail index of each layer's gradient noise, for each run, at the current weights.
    pub fn tails(&mut self) -> Result<Vec<Vec<tails::LayerTail>>, TrainError> {
        let seeds: Vec<u64> = self.specs.iter().map(|run| run.seed).collect();
        let first = &self.specs[0];
        let mut batches =
            tails::batches(self.data.train.len(), first.batch, &seeds, self.iteration)
                .map_err(EngineError::from)?;
        let mut noises = vec![tails::GradientSamples::default(); seeds.len()];
        let mut indices = Vec::with_capacity(seeds.len() * first.batch);
        for k in 0..tails::MINIBATCHES {
            let noise = (Purpose::MeasuredNoise, self.iteration * tails::MINIBATCHES + k);
            indices.clear();
            batches.iter_mut().for_each(|batches| indices.extend_from_slice(batches.at(k)));
            let gradients = self.engine.gradients(&indices, noise)?;
            for (noises, layers) in noises.iter_mut().zip(&gradients) {
                layers.iter().for_each(|gradient| noises.push(gradient));
            }
        }
        Ok(noises.iter().map(|noises| noises.tails(self.iteration, first.depth)).collect())
    }

    /// Returns weights and optimizer state as tensors of a checkpoint.
    pub(super) fn save(&mut self) -> Result<TensorFile, TrainError> {
        Ok(self.engine.save()?)
    }

    /// Continues from the tensors of a checkpoint.
    pub(super) fn restore(&mut self, iteration: u64, file: TensorFile) -> Result<(), TrainError> {
        self.engine.restore(file, iteration)?;
        self.iteration = iteration;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Device, GuardRequest, InjectedNoise, Optimizer, TrainRequest};

    fn steps(trainer: &mut Trainer<'_>, count: u64) {
        (0..count).for_each(|_| trainer.step().unwrap());
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
            let new = |guard| Trainer::new(&data, &specs(guard)).unwrap();
            let guard = Some(GuardRequest::Given(0.5));
            let [mut whole, mut first, mut second, mut plain] =
                [guard, guard, guard, None].map(new);
            steps(&mut whole, 10);
            steps(&mut plain, 10);
            steps(&mut first, 6);
            second.restore(6, first.save().unwrap()).unwrap();
            steps(&mut second, 4);
            let weights = |trainer: &mut Trainer<'_>| trainer.networks().unwrap();
            assert!(weights(&mut whole) == weights(&mut second), "{optimizer}");
            assert!(weights(&mut whole) != weights(&mut plain), "{optimizer}");
        }
    }
}

//! A stack of runs in training.

use super::calibration::LayerCalibration;
use super::feed::Feed;
use super::measurement::{Measurement, score};
use super::noise::Injection;
use super::stepper::Stepper;
use super::{TrainError, tails};
use crate::data::{Batches, DataSet};
use crate::mlp::{Mlp, Shape};
use crate::settings::Settings;
use burn::record::{BinBytesRecorder, FullPrecisionSettings, Recorder};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use fuld::optimizer::Estimates;
use fuld::random::Purpose;

/// Training images looked at in a measurement that is not reported, only drawn.
const GLANCE: usize = 10_000;

/// Networks of one shape, each with its own seed and settings, trained side by side.
pub struct Trainer<'a, B: Backend> {
    settings: Vec<Settings>,
    train: Feed<'a, B>,
    test: Feed<'a, B>,
    batches: Vec<Batches>,
    noise: Option<Injection>,
    net: Mlp<B>,
    stepper: Stepper<B>,
    iteration: u64,
    device: B::Device,
}

impl<'a, B: Backend> Trainer<'a, B> {
    /// Networks at their start. The settings may differ in seed, α, friction or momentum, scale and noise.
    pub fn new(data: &'a DataSet, settings: &[Settings], device: &B::Device) -> Result<Self, TrainError> {
        let first = &settings[0];
        let Settings { width, depth, .. } = *first;
        let shape = Shape { inputs: data.train.features(), width, depth, classes: data.classes };
        let seeds: Vec<u64> = settings.iter().map(|run| run.seed).collect();
        let batches = seeds.iter().map(|&seed| Batches::new(data.train.len(), first.batch, seed));
        let noises: Option<Vec<_>> =
            settings.iter().map(|run| run.inject_noise.map(|noise| (noise, run.seed))).collect();
        Ok(Self {
            settings: settings.to_vec(),
            train: Feed::new(&data.train, data, device),
            test: Feed::new(&data.test, data, device),
            batches: batches.collect::<Result<_, _>>()?,
            noise: noises.map(|noises| Injection::new(noises.into_iter(), depth)).transpose()?,
            net: Mlp::new(shape, &seeds, device),
            stepper: Stepper::new(settings)?,
            iteration: 0,
            device: device.clone(),
        })
    }

    /// Steps taken.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// The weights.
    pub fn net(&self) -> &Mlp<B> {
        &self.net
    }

    /// The largest |v| of any weight of each run, v = −√lr b: the field bends where it is about κ. None before the first step, and for
    /// rules without momentum.
    pub fn largest_v(&self) -> Option<Vec<f64>> {
        self.stepper.largest_v()
    }

    /// Whether the loss of every step can be looked at without waiting for a device.
    pub(super) fn on_host(&self) -> bool {
        self.train.on_host()
    }

    /// The loss of each run and its gradients at the minibatches given, with the noise of an iteration.
    fn gradients(
        &self,
        batches: &mut [Batches],
        minibatch: u64,
        (purpose, iteration): (Purpose, u64),
    ) -> (Tensor<B, 1>, Vec<Tensor<B, 3>>) {
        let mut indices = Vec::with_capacity(batches.len() * self.settings[0].batch);
        batches.iter_mut().for_each(|batches| indices.extend_from_slice(batches.at(minibatch)));
        let (losses, gradients) = self.net.gradients(self.train.pick(&indices, batches.len()));
        match &self.noise {
            Some(noise) => (losses, noise.added(gradients, purpose, iteration)),
            None => (losses, gradients),
        }
    }

    /// Takes a step and gives the loss of each run's minibatch before it.
    pub fn step(&mut self) -> Tensor<B, 1> {
        let mut batches = std::mem::take(&mut self.batches);
        let (losses, gradients) =
            self.gradients(&mut batches, self.iteration, (Purpose::Noise, self.iteration));
        self.batches = batches;
        self.stepper.step(&mut self.net, gradients);
        self.iteration += 1;
        losses
    }

    /// Loss and accuracy of each run: on all images if `thorough`, else on a part of the training set.
    pub fn measure(&self, thorough: bool) -> Vec<Measurement> {
        let train_images = if thorough { self.train.len() } else { self.train.len().min(GLANCE) };
        let train = score(&self.net, &self.train, train_images);
        let test = score(&self.net, &self.test, self.test.len());
        let measurement = |((train_loss, train_accuracy), (test_loss, test_accuracy))| Measurement {
            iteration: self.iteration,
            train_images,
            train_loss,
            train_accuracy,
            test_loss,
            test_accuracy,
        };
        train.into_iter().zip(test).map(measurement).collect()
    }

    /// What was found from the gradients, layer by layer, for each run that is not told everything.
    pub fn found(&self) -> Vec<Vec<LayerCalibration>> {
        let layers = self.stepper.estimates();
        let of = |(run, settings): (usize, &Settings)| {
            let auto = settings.config().is_estimated();
            let layer = |(layer, runs): (usize, &Vec<Estimates>)| {
                LayerCalibration::of(self.iteration, layer + 1, settings.step(), &runs[run])
            };
            layers.iter().enumerate().filter(|_| auto).map(layer).collect()
        };
        self.settings.iter().enumerate().map(of).collect()
    }

    /// The tail index of each layer's gradient noise, for each run, at the weights as they are.
    pub fn tails(&self) -> Result<Vec<Vec<tails::LayerTail>>, TrainError> {
        let count = self.batches.len();
        let seeds: Vec<u64> = self.settings.iter().map(|run| run.seed).collect();
        let images = self.train.len();
        let mut batches = tails::batches(images, self.settings[0].batch, &seeds, self.iteration)?;
        let mut noises = vec![tails::Noises::default(); count];
        for k in 0..tails::MINIBATCHES {
            let noise = (Purpose::MeasuredNoise, self.iteration * tails::MINIBATCHES + k);
            let (_, gradients) = self.gradients(&mut batches, k, noise);
            for gradient in gradients {
                let gradient = gradient.into_data();
                let numbers: Vec<f32> = gradient.iter::<f32>().collect();
                for (noises, part) in noises.iter_mut().zip(numbers.chunks_exact(numbers.len() / count)) {
                    noises.push(part);
                }
            }
        }
        Ok(noises.iter().map(|noises| noises.tails(self.iteration, self.net.layers.len())).collect())
    }

    /// Weights and what the optimizer remembers.
    pub(super) fn state(&self) -> Result<[Vec<u8>; 2], TrainError> {
        let recorder = BinBytesRecorder::<FullPrecisionSettings>::default();
        Ok([recorder.record(self.net.layers.clone(), ())?, self.stepper.to_bytes()?])
    }

    /// Goes on from a state.
    pub(super) fn restore(&mut self, iteration: u64, state: [Vec<u8>; 2]) -> Result<(), TrainError> {
        let [weights, remembered] = state;
        let recorder = BinBytesRecorder::<FullPrecisionSettings>::default();
        self.net.layers = recorder.load(weights, &self.device)?;
        self.stepper.load(remembered, &self.device)?;
        self.iteration = iteration;
        Ok(())
    }
}

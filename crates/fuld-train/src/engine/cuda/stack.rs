//! The engine, for any device.

use super::super::rules::UpdateRule;
use super::super::{Engine, ImageSet, Score};
use super::device::{Array, Device, Kernel, Lane, Plan, blocks};
use super::images::{DeviceImages, Orders};
use super::noise::StackNoise;
use super::passes::{BLOCKS, Passes, SCORED};
use super::updates::Updates;
use crate::data::DataSet;
use crate::engine::CudaError;
use crate::engine::EngineError;
use crate::network::{Layer, Network};
use crate::spec::TrainSpec;
use crate::tensor_file::{TensorError, TensorFile};
use fuld::guard::GuardState;
use fuld::random::Purpose;

/// A stack of runs on a device.
pub(super) struct Stack<'a, D: Device> {
    train: DeviceImages<'a>,
    test: DeviceImages<'a>,
    orders: Orders,
    passes: Passes,
    noise: Option<StackNoise>,
    updates: Updates,
    arrays: Arrays,
    /// The work of an even and of an odd iteration.
    graphs: Option<[D::Graph; 2]>,
    /// The iteration whose minibatches were gathered, if there is one.
    gathered: Option<u64>,
    /// Last: graphs must not outlive it.
    device: D,
}

/// Arrays of the engine itself.
#[derive(Debug)]
struct Arrays {
    seeds: Array<u64>,
    /// The iteration of training.
    iteration: Array<u64>,
    /// The iteration of noise in a measurement.
    measured: Array<u64>,
    /// Indices of minibatches that are not those of training.
    indices: Array<u32>,
}

impl<'a, D: Device> Stack<'a, D> {
    /// Creates the initial networks on a device that `open` opens.
    pub(super) fn new(
        data: &'a DataSet,
        specs: &[TrainSpec],
        open: impl FnOnce(&Plan) -> Result<D, CudaError>,
    ) -> Result<Self, EngineError> {
        let (first, runs) = (&specs[0], specs.len());
        let seeds: Vec<u64> = specs.iter().map(|spec| spec.seed).collect();
        let layers: Vec<(usize, usize)> =
            first.network(data.train.features(), data.classes).layers().collect();
        let sizes: Vec<usize> = layers.iter().map(|(inputs, outputs)| inputs * outputs).collect();
        let noises: Vec<_> = specs.iter().map(|spec| (spec.inject_noise, spec.seed)).collect();
        let mut plan = Plan::default();
        let orders = Orders::plan(&mut plan, data.train.len(), first.batch, &seeds)?;
        let noise = StackNoise::plan(&mut plan, &noises, layers.len())?;
        let updates = Updates::plan(&mut plan, &UpdateRule::of(specs)?, sizes.clone())?;
        let train = DeviceImages::plan(&mut plan, &data.train);
        let test = DeviceImages::plan(&mut plan, &data.test);
        let arrays = Arrays {
            seeds: plan.array(runs),
            iteration: plan.array(1),
            measured: plan.array(1),
            indices: plan.array(runs * first.batch),
        };
        let passes = Passes::plan(&mut plan, runs, first.batch, layers);
        let device = open(&plan)?;
        let (graphs, gathered) = (None, None);
        let mut stack =
            Self { train, test, orders, passes, noise, updates, arrays, graphs, gathered, device };
        stack.upload(&seeds)?;
        Ok(stack)
    }

    #[cfg(test)]
    pub(super) fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Uploads images and rules, and initialises the weights.
    fn upload(&mut self, seeds: &[u64]) -> Result<(), CudaError> {
        let device = &mut self.device;
        self.train.upload(device)?;
        self.test.upload(device)?;
        self.updates.upload(device)?;
        if let Some(noise) = &self.noise {
            noise.upload(device)?;
        }
        device.upload(self.arrays.seeds, seeds)?;
        for (layer, &(inputs, outputs)) in self.passes.layers.iter().enumerate() {
            let (size, runs) = (inputs * outputs, self.passes.runs as u32);
            let bound = 1.0 / (inputs as f64).sqrt();
            let arguments = [
                self.passes.weights[layer].into(),
                self.arrays.seeds.into(),
                bound.into(),
                (size as u32).into(),
                (layer as u32).into(),
            ];
            let grid = [blocks(size.div_ceil(2), BLOCKS / runs), runs];
            device.launch(Lane::Main, Kernel::InitialWeights, grid, &arguments)?;
        }
        Ok(())
    }

    /// Gathers the minibatches of an iteration, if this was not done in advance.
    fn gather(&mut self, iteration: u64) -> Result<(), CudaError> {
        if self.gathered == Some(iteration) {
            return Ok(());
        }
        let device = &mut self.device;
        self.orders.provide(device, iteration)?;
        device.upload(self.arrays.iteration, &[iteration])?;
        let batch = self.passes.batches[(iteration % 2) as usize];
        let now = (self.arrays.iteration, 0);
        self.orders.gather(device, Lane::Main, &self.train, now, batch)?;
        self.gathered = Some(iteration);
        Ok(())
    }

    /// Captures the work of an iteration.
    fn capture(&mut self, parity: usize) -> Result<D::Graph, CudaError> {
        let Self { train, orders, passes, noise, updates, arrays, device, .. } = self;
        device.begin_capture()?;
        let begun = device.signal(Lane::Main)?;
        device.wait(Lane::Updates, &begun)?;
        let next = passes.batches[1 - parity];
        orders.gather(device, Lane::Updates, train, (arrays.iteration, 1), next)?;
        passes.train(device, passes.batches[parity], |device, layer| {
            let (inputs, outputs) = passes.layers[layer];
            let gradient = passes.gradients[layer];
            if let Some(noise) = noise {
                let noise_of = (Purpose::Noise, arrays.iteration);
                noise.add(device, noise_of, layer, gradient, inputs * outputs)?;
            }
            updates.layer(device, layer, passes.weights[layer], gradient, arrays.iteration)
        })?;
        updates.finish(device, &passes.weights, &passes.gradients, arrays.iteration)?;
        passes.join(device)?;
        device.launch(Lane::Main, Kernel::NextIteration, [1, 1], &[arrays.iteration.into()])?;
        device.end_capture()
    }

    /// Computes the gradients of a minibatch with the noise that `noise` describes.
    fn pass(
        &mut self,
        parity: usize,
        noise_of: Option<(Purpose, Array<u64>)>,
    ) -> Result<(), CudaError> {
        let Self { passes, noise, device, .. } = self;
        passes.train(device, passes.batches[parity], |device, layer| {
            let (Some(noise), Some(noise_of)) = (&*noise, noise_of) else { return Ok(()) };
            let (inputs, outputs) = passes.layers[layer];
            noise.add(device, noise_of, layer, passes.gradients[layer], inputs * outputs)
        })?;
        passes.join(device)
    }

    /// Returns an array of each run.
    fn by_run(&mut self, array: Array<f32>) -> Result<Vec<Vec<f32>>, CudaError> {
        let numbers = self.device.download(array)?;
        let size = (numbers.len() / self.passes.runs).max(1);
        Ok(numbers.chunks_exact(size).map(<[f32]>::to_vec).collect())
    }

    /// Returns the tensors of a checkpoint: name, shape per run, array, and whether it holds states
    /// of a guard.
    fn tensors(&self) -> Vec<(String, Vec<usize>, Array<f32>, bool)> {
        let mut tensors = Vec::new();
        for (layer, &(inputs, outputs)) in self.passes.layers.iter().enumerate() {
            let shape = vec![inputs, outputs];
            let weights = self.passes.weights[layer];
            tensors.push((format!("weights.{layer}"), shape.clone(), weights, false));
            for state in self.updates.state(layer) {
                let shape = if state.guard { vec![GuardState::LEN] } else { shape.clone() };
                tensors.push((state.name, shape, state.array, state.guard));
            }
        }
        tensors
    }
}

impl<D: Device> Engine for Stack<'_, D> {
    fn step(&mut self, iteration: u64) -> Result<(), EngineError> {
        self.gather(iteration)?;
        if self.graphs.is_none() {
            // The libraries prepare their work at its first use, which cannot be captured.
            self.pass((iteration % 2) as usize, None)?;
            self.graphs = Some([self.capture(0)?, self.capture(1)?]);
        }
        self.orders.provide(&mut self.device, iteration + 1)?;
        if let Some(graphs) = &self.graphs {
            self.device.replay(&graphs[(iteration % 2) as usize])?;
        }
        self.gathered = Some(iteration + 1);
        Ok(())
    }

    fn losses(&mut self) -> Result<Vec<f64>, EngineError> {
        Ok(self.device.download(self.passes.losses)?)
    }

    fn losses_wait(&self) -> bool {
        true
    }

    fn score(&mut self, set: ImageSet, count: usize) -> Result<Vec<Score>, EngineError> {
        let images = match set {
            ImageSet::Training => &self.train,
            ImageSet::Test => &self.test,
        };
        let Self { passes, device, .. } = self;
        device.upload(passes.scores, &vec![0.0; 2 * passes.runs])?;
        for first in (0..count).step_by(SCORED) {
            let part = SCORED.min(count - first);
            passes.score(device, part, |device, batch| {
                images.gather_range(device, first, part, batch)
            })?;
        }
        let sums = device.download(passes.scores)?;
        let score = |&[loss, correct]: &[f64; 2]| Score {
            loss: loss / count as f64,
            accuracy: correct / count as f64,
        };
        Ok(sums.as_chunks().0.iter().map(score).collect())
    }

    fn gradients(
        &mut self,
        indices: &[u32],
        (purpose, iteration): (Purpose, u64),
    ) -> Result<Vec<Vec<Vec<f32>>>, EngineError> {
        // The minibatches that were gathered in advance stay where they are.
        let parity = self.gathered.map_or(0, |iteration| (iteration + 1) % 2) as usize;
        let Self { train, passes, arrays, device, .. } = self;
        device.upload(arrays.indices, indices)?;
        device.upload(arrays.measured, &[iteration])?;
        train.gather(device, arrays.indices, indices.len(), passes.batches[parity])?;
        self.pass(parity, Some((purpose, self.arrays.measured)))?;
        let mut runs = vec![Vec::with_capacity(self.passes.layers.len()); self.passes.runs];
        for layer in 0..self.passes.layers.len() {
            let parts = self.by_run(self.passes.gradients[layer])?;
            runs.iter_mut().zip(parts).for_each(|(run, part)| run.push(part));
        }
        Ok(runs)
    }

    fn largest_v(&mut self) -> Result<Option<Vec<f64>>, EngineError> {
        Ok(self.updates.largest_v(&mut self.device)?)
    }

    fn networks(&mut self) -> Result<Vec<Network>, EngineError> {
        let mut networks = vec![Network { layers: Vec::new() }; self.passes.runs];
        for layer in 0..self.passes.layers.len() {
            let (inputs, outputs) = self.passes.layers[layer];
            let parts = self.by_run(self.passes.weights[layer])?;
            for (network, weights) in networks.iter_mut().zip(parts) {
                network.layers.push(Layer { inputs, outputs, weights });
            }
        }
        Ok(networks)
    }

    fn save(&mut self) -> Result<TensorFile, EngineError> {
        let mut file = TensorFile::default();
        for (name, shape, array, _) in self.tensors() {
            for part in self.by_run(array)? {
                file.push(name.clone(), &shape, &part);
            }
        }
        Ok(file)
    }

    fn restore(&mut self, file: TensorFile, _iteration: u64) -> Result<(), EngineError> {
        let runs = self.passes.runs;
        for (name, shape, array, is_guard) in self.tensors() {
            let mut numbers = vec![0f32; array.len()];
            for (run, part) in numbers.chunks_exact_mut(array.len() / runs).enumerate() {
                file.of_run(run, runs).read(&name, &shape, part)?;
                if is_guard {
                    GuardState::from_numbers(part)
                        .map_err(|source| TensorError::Guard { name: name.clone(), source })?;
                }
            }
            self.device.upload(array, &numbers)?;
        }
        // The next step sets the device's iteration.
        self.gathered = None;
        Ok(())
    }
}

//! Forward and backward pass of a stack, as work of a device.
//!
//! Each gradient with respect to weights is computed beside the backward pass through the layers
//! before it, and used as soon as it is there.

use super::device::{Array, Device, Kernel, Lane, Matrix, Plan, Product, blocks};
use crate::engine::CudaError;

/// Blocks of a kernel over all runs: enough to fill the largest GPUs several times.
pub(super) const BLOCKS: u32 = 2048;
/// Images of a forward pass for measurements.
pub(super) const SCORED: usize = 1000;

/// A minibatch of each run.
pub(super) type Batch = (Array<f32>, Array<u8>);

/// The arrays of the passes: all are ordered by run.
#[derive(Debug)]
pub(super) struct Passes {
    pub(super) runs: usize,
    batch: usize,
    /// Inputs and outputs of each layer.
    pub(super) layers: Vec<(usize, usize)>,
    pub(super) weights: Vec<Array<f32>>,
    pub(super) gradients: Vec<Array<f32>>,
    /// The minibatches of even and of odd iterations.
    pub(super) batches: [Batch; 2],
    /// The outputs of each layer, after ReLU for all but the last.
    outputs: Vec<Array<f32>>,
    /// Gradients with respect to the outputs of all layers but the last.
    deltas: Vec<Array<f32>>,
    pub(super) losses: Array<f64>,
    /// Images of a measurement, which all runs share, and the outputs of two successive layers.
    scored: Batch,
    scored_outputs: [Array<f32>; 2],
    /// Sums of the losses and of correct classifications.
    pub(super) scores: Array<f64>,
}

impl Passes {
    pub(super) fn plan(
        plan: &mut Plan,
        runs: usize,
        batch: usize,
        layers: Vec<(usize, usize)>,
    ) -> Self {
        let weights = |plan: &mut Plan| -> Vec<_> {
            layers.iter().map(|(inputs, outputs)| plan.array(runs * inputs * outputs)).collect()
        };
        let inputs = layers.first().map_or(0, |layer| layer.0);
        let widest = layers.iter().map(|layer| layer.1).max().unwrap_or(0);
        let hidden = layers.len().saturating_sub(1);
        Self {
            weights: weights(plan),
            gradients: weights(plan),
            batches: [0, 1].map(|_| (plan.array(runs * batch * inputs), plan.array(runs * batch))),
            outputs: layers.iter().map(|layer| plan.array(runs * batch * layer.1)).collect(),
            deltas: layers[..hidden].iter().map(|l| plan.array(runs * batch * l.1)).collect(),
            losses: plan.array(runs),
            scored: (plan.array(SCORED * inputs), plan.array(SCORED)),
            scored_outputs: [0, 1].map(|_| plan.array(runs * SCORED * widest)),
            scores: plan.array(2 * runs),
            runs,
            batch,
            layers,
        }
    }

    /// Returns the weights of a layer as matrices.
    fn weights_of(&self, layer: usize) -> Matrix {
        let (inputs, outputs) = self.layers[layer];
        let numbers = self.weights[layer];
        Matrix { numbers, columns: outputs, stride: inputs * outputs, transposed: false }
    }

    /// Computes the outputs of a layer for `images` images of each run.
    fn layer<D: Device>(
        &self,
        device: &mut D,
        layer: usize,
        images: usize,
        left: Matrix,
        out: Array<f32>,
    ) -> Result<(), CudaError> {
        let (inner, columns) = self.layers[layer];
        let (runs, right) = (self.runs, self.weights_of(layer));
        let product = Product { runs, rows: images, inner, columns, left, right, out };
        device.multiply(Lane::Main, &product)?;
        if layer + 1 == self.layers.len() {
            return Ok(());
        }
        let size = runs * images * columns;
        let arguments = [out.into(), (size as u64).into()];
        device.launch(Lane::Main, Kernel::Relu, [blocks(size / 4, BLOCKS), 1], &arguments)
    }

    /// Computes the outputs of all layers for a minibatch, the losses, and the gradients with
    /// respect to the weights. Calls `use_gradient` for each layer, from the last to the first, in
    /// the lane of updates when its gradient is there and its weights may change.
    pub(super) fn train<D: Device>(
        &self,
        device: &mut D,
        (images, labels): Batch,
        mut use_gradient: impl FnMut(&mut D, usize) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        let (runs, batch) = (self.runs, self.batch);
        let matrix = |numbers: Array<f32>, columns: usize| Matrix {
            numbers,
            columns,
            stride: batch * columns,
            transposed: false,
        };
        let input = |layer: usize| {
            let numbers = if layer == 0 { images } else { self.outputs[layer - 1] };
            matrix(numbers, self.layers[layer].0)
        };
        for layer in 0..self.layers.len() {
            self.layer(device, layer, batch, input(layer), self.outputs[layer])?;
        }
        let Some(last) = self.layers.len().checked_sub(1) else { return Ok(()) };
        let classes = self.layers[last].1 as u32;
        let logits = self.outputs[last];
        let arguments = [
            logits.into(),
            labels.into(),
            self.losses.into(),
            (batch as u32).into(),
            classes.into(),
        ];
        device.launch(Lane::Main, Kernel::LossAndGradient, [runs as u32, 1], &arguments)?;
        for layer in (0..=last).rev() {
            let (inputs, outputs) = self.layers[layer];
            let delta = matrix(if layer == last { logits } else { self.deltas[layer] }, outputs);
            let delta_known = device.signal(Lane::Main)?;
            device.wait(Lane::Gradients, &delta_known)?;
            let product = Product {
                runs,
                rows: inputs,
                inner: batch,
                columns: outputs,
                left: input(layer).transposed(),
                right: delta,
                out: self.gradients[layer],
            };
            device.multiply(Lane::Gradients, &product)?;
            let gradient_known = device.signal(Lane::Gradients)?;
            device.wait(Lane::Updates, &gradient_known)?;
            if layer > 0 {
                let out = self.deltas[layer - 1];
                let product = Product {
                    runs,
                    rows: batch,
                    inner: outputs,
                    columns: inputs,
                    left: delta,
                    right: self.weights_of(layer).transposed(),
                    out,
                };
                device.multiply(Lane::Main, &product)?;
                let weights_used = device.signal(Lane::Main)?;
                device.wait(Lane::Updates, &weights_used)?;
                let size = runs * batch * inputs;
                let arguments = [out.into(), self.outputs[layer - 1].into(), (size as u64).into()];
                let grid = [blocks(size / 4, BLOCKS), 1];
                device.launch(Lane::Main, Kernel::ReluBackward, grid, &arguments)?;
            }
            use_gradient(device, layer)?;
        }
        Ok(())
    }

    /// Makes further work of the main lane wait for the other lanes.
    pub(super) fn join<D: Device>(&self, device: &mut D) -> Result<(), CudaError> {
        for lane in [Lane::Gradients, Lane::Updates] {
            let done = device.signal(lane)?;
            device.wait(Lane::Main, &done)?;
        }
        Ok(())
    }

    /// Adds the losses and correct classifications of `count` images, at most [`SCORED`], which
    /// `gather` writes, to the scores.
    pub(super) fn score<D: Device>(
        &self,
        device: &mut D,
        count: usize,
        gather: impl FnOnce(&mut D, Batch) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        gather(device, self.scored)?;
        let (numbers, columns) = (self.scored.0, self.layers.first().map_or(0, |layer| layer.0));
        let mut input = Matrix { numbers, columns, stride: 0, transposed: false };
        for (layer, &(_, columns)) in self.layers.iter().enumerate() {
            let out = self.scored_outputs[layer % 2];
            self.layer(device, layer, count, input, out)?;
            input = Matrix { numbers: out, columns, stride: count * columns, transposed: false };
        }
        let arguments = [
            input.numbers.into(),
            self.scored.1.into(),
            self.scores.into(),
            (count as u32).into(),
            (input.columns as u32).into(),
        ];
        device.launch(Lane::Main, Kernel::AddScores, [self.runs as u32, 1], &arguments)
    }
}

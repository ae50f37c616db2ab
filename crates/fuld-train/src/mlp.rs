//! Stacks of fully connected ReLU networks with cross entropy: forward pass, and backward pass by
//! hand.
//!
//! The first axis of every tensor counts independent runs, so that one matrix product serves all of
//! them; a single run is a stack of one. There are no biases, as in the networks of the paper.

use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData, TensorPrimitive};
use fuld::random::{Purpose, Stream};

/// The shape of a network: `depth` linear layers with `width` units between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetworkShape {
    /// Pixels per image, over all channels.
    pub inputs: usize,
    /// Units of each hidden layer.
    pub width: usize,
    /// Linear layers.
    pub depth: usize,
    /// Classes.
    pub classes: usize,
}

impl NetworkShape {
    /// Returns inputs and outputs of each layer.
    pub fn layers(self) -> impl Iterator<Item = (usize, usize)> {
        let size = move |layer| match layer {
            0 => self.inputs,
            layer if layer == self.depth => self.classes,
            _ => self.width,
        };
        (0..self.depth).map(move |layer| (size(layer), size(layer + 1)))
    }

    /// Returns the number of weights of all layers, at most `usize::MAX`.
    pub fn weights(self) -> usize {
        let Self { inputs, width, depth, classes } = self;
        match depth {
            0 => 0,
            1 => inputs.saturating_mul(classes),
            _ => {
                let hidden = width.saturating_mul(width).saturating_mul(depth - 2);
                inputs.saturating_add(classes).saturating_mul(width).saturating_add(hidden)
            }
        }
    }
}

/// Weights of a stack of runs: for each layer [runs, inputs, outputs].
#[derive(Clone, Debug)]
pub struct Mlp<B: Backend> {
    /// The layers, from the inputs on.
    pub layers: Vec<Tensor<B, 3>>,
}

/// Images and their classes, for a stack of runs.
#[derive(Clone, Debug)]
pub struct ImageBatch<B: Backend> {
    /// [runs, images, inputs]
    pub images: Tensor<B, 3>,
    /// [runs, images, classes]: 1 for the class of the image, 0 for the others.
    pub targets: Tensor<B, 3>,
}

impl<B: Backend> Mlp<B> {
    /// Creates networks with PyTorch's default weights, uniform on ±1/√inputs. The weights of a run
    /// depend on its seed alone.
    pub fn new(shape: NetworkShape, seeds: &[u64], device: &B::Device) -> Self {
        let layer = |(layer, (inputs, outputs)): (usize, (usize, usize))| {
            let bound = 1.0 / (inputs as f64).sqrt();
            let uniform = |word: u64| ((word >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * bound;
            let weights: Vec<f32> = seeds
                .iter()
                .flat_map(|&seed| {
                    let stream = Stream::new(seed, layer as u64, Purpose::Start);
                    (0..(inputs * outputs) as u64).map(move |n| uniform(stream.word(n)) as f32)
                })
                .collect();
            Tensor::from_data(TensorData::new(weights, [seeds.len(), inputs, outputs]), device)
        };
        Self { layers: shape.layers().enumerate().map(layer).collect() }
    }

    /// Returns the outputs of the last layer: [runs, images, classes].
    pub fn logits(&self, images: Tensor<B, 3>) -> Tensor<B, 3> {
        let last = self.layers.len() - 1;
        self.layers.iter().enumerate().fold(images, |x, (layer, weights)| {
            let z = x.matmul(weights.clone());
            if layer < last { relu(z) } else { z }
        })
    }

    /// Returns the mean cross entropy of each run and its gradient with respect to each layer.
    pub fn gradients(&self, batch: ImageBatch<B>) -> (Tensor<B, 1>, Vec<Tensor<B, 3>>) {
        let count = batch.images.dims()[1] as f64;
        let last = self.layers.len() - 1;
        // The inputs of each layer.
        let mut inputs = Vec::with_capacity(self.layers.len());
        let mut x = batch.images;
        for (layer, weights) in self.layers.iter().enumerate() {
            let z = x.clone().matmul(weights.clone());
            inputs.push(x);
            x = if layer < last { relu(z) } else { z };
        }
        let log_p = log_softmax(x, 2);
        let loss = (batch.targets.clone() * log_p.clone()).sum_dim(2).sum_dim(1).div_scalar(-count);
        // The gradient with respect to the logits, then to the outputs of each layer.
        let mut delta = (log_p.exp() - batch.targets).div_scalar(count);
        let mut gradients = Vec::with_capacity(self.layers.len());
        for (layer, (x, weights)) in inputs.into_iter().zip(&self.layers).enumerate().rev() {
            gradients.push(x.clone().swap_dims(1, 2).matmul(delta.clone()));
            if layer > 0 {
                delta = relu_backward(x, delta.matmul(weights.clone().swap_dims(1, 2)));
            }
        }
        gradients.reverse();
        (loss.flatten(0, 2), gradients)
    }
}

/// Returns the gradient where the unit was active, 0 elsewhere, in one pass.
fn relu_backward<B: Backend>(output: Tensor<B, 3>, gradient: Tensor<B, 3>) -> Tensor<B, 3> {
    let primitive = |tensor: Tensor<B, 3>| tensor.into_primitive().tensor();
    Tensor::from_primitive(TensorPrimitive::Float(B::relu_backward(
        primitive(output),
        primitive(gradient),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::{Autodiff, Flex};

    const SHAPE: NetworkShape = NetworkShape { inputs: 12, width: 9, depth: 4, classes: 3 };

    fn batch<B: Backend>(runs: usize, device: &B::Device) -> ImageBatch<B> {
        let wave = |n: usize| (n as f32 * 1.3).sin();
        let images: Vec<f32> = (0..runs * 5 * 12).map(wave).collect();
        let targets: Vec<f32> =
            (0..runs * 5 * 3).map(|n| (n % 3 == n / 3 % 3) as u8 as f32).collect();
        ImageBatch {
            images: Tensor::from_data(TensorData::new(images, [runs, 5, 12]), device),
            targets: Tensor::from_data(TensorData::new(targets, [runs, 5, 3]), device),
        }
    }

    #[test]
    fn gradients_match_automatic_differentiation() {
        let device = Default::default();
        let ours = Mlp::<Flex>::new(SHAPE, &[1, 2], &device);
        let (losses, gradients) = ours.gradients(batch(2, &device));
        let mut theirs = Mlp::<Autodiff<Flex>>::new(SHAPE, &[1, 2], &device);
        theirs.layers = theirs.layers.into_iter().map(Tensor::require_grad).collect();
        let ImageBatch { images, targets } = batch(2, &device);
        let loss = -(log_softmax(theirs.logits(images), 2) * targets).sum() / 5.0;
        let total: f32 = losses.into_data().iter::<f32>().sum();
        assert!((total - loss.clone().into_data().iter::<f32>().sum::<f32>()).abs() < 1e-6);
        let automatic = loss.backward();
        for (ours, weights) in gradients.into_iter().zip(&theirs.layers) {
            let theirs = weights.grad(&automatic).unwrap();
            let far = (ours - theirs.clone()).abs().max().into_scalar()
                / theirs.abs().max().into_scalar();
            assert!(far < 1e-6, "{far}");
        }
    }

    #[test]
    fn the_number_of_weights_is_the_sum_over_layers() {
        for depth in 1..5 {
            let shape = NetworkShape { depth, ..SHAPE };
            assert_eq!(
                shape.weights(),
                shape.layers().map(|(inputs, outputs)| inputs * outputs).sum::<usize>()
            );
        }
        assert_eq!(NetworkShape { width: usize::MAX, ..SHAPE }.weights(), usize::MAX);
    }

    #[test]
    fn initial_weights_do_not_depend_on_the_other_runs() {
        let device = Default::default();
        let weights = |mlp: &Mlp<Flex>, run: usize| -> Vec<f32> {
            mlp.layers[1].clone().narrow(0, run, 1).into_data().to_vec().unwrap()
        };
        let (pair, alone) = (Mlp::new(SHAPE, &[7, 8], &device), Mlp::new(SHAPE, &[8], &device));
        assert!(weights(&pair, 1) == weights(&alone, 0) && weights(&pair, 0) != weights(&pair, 1));
        assert!(weights(&pair, 0).iter().all(|w| w.abs() <= 1.0 / 3.0));
    }
}

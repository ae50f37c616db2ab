//! Forward and backward pass of a network over a minibatch.

use super::cross_entropy::loss_and_gradient;
use super::product::{Matrix, product};
use crate::network::{Layer, Network};

/// Buffers of the passes, which are allocated at the first minibatch.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// The outputs of each layer, after ReLU for all but the last.
    outputs: Vec<Vec<f32>>,
    /// Gradients with respect to the outputs of two successive hidden layers.
    deltas: [Vec<f32>; 2],
    /// The gradient with respect to the weights of a layer.
    gradient: Vec<f32>,
}

impl Network {
    /// Returns the outputs of the last layer, one row of classes for each image.
    pub fn logits(&self, images: &[f32]) -> Vec<f32> {
        let mut outputs = Vec::new();
        forward(&self.layers, images, &mut outputs);
        outputs.pop().unwrap_or_default()
    }
}

/// Computes the outputs of each layer.
pub(super) fn forward(layers: &[Layer], images: &[f32], outputs: &mut Vec<Vec<f32>>) {
    outputs.resize_with(layers.len(), Vec::new);
    let count = layers.first().map_or(0, |first| images.len() / first.inputs);
    for (n, layer) in layers.iter().enumerate() {
        let (before, after) = outputs.split_at_mut(n);
        let (x, z) = (before.last().map_or(images, Vec::as_slice), &mut after[0]);
        z.resize(count * layer.outputs, 0.0);
        product(Matrix::new(x, layer.inputs), Matrix::new(&layer.weights, layer.outputs), z);
        if n + 1 < layers.len() {
            relu(z);
        }
    }
}

impl Passes {
    /// Calls `use_gradient` with each layer's number, weights and gradient of the mean cross
    /// entropy, from the last layer to the first, and returns that mean. `use_gradient` may change
    /// weights and gradient.
    pub(super) fn backward(
        &mut self,
        layers: &mut [Layer],
        images: &[f32],
        labels: &[u8],
        mut use_gradient: impl FnMut(usize, &mut [f32], &mut [f32]),
    ) -> f64 {
        forward(layers, images, &mut self.outputs);
        let Self { outputs, deltas, gradient } = self;
        let Some((logits, hidden)) = outputs.split_last_mut() else { return f64::NAN };
        let loss = loss_and_gradient(logits, labels);
        let largest = layers.iter().map(|layer| layer.weights.len()).max().unwrap_or(0);
        gradient.resize(largest, 0.0);
        let widest = hidden.iter().map(Vec::len).max().unwrap_or(0);
        deltas.iter_mut().for_each(|delta| delta.resize(widest, 0.0));
        let [first, second] = deltas;
        // The gradient with respect to the outputs of the layer, and the buffer for that of the
        // layer before it.
        let (mut delta, mut before, mut unused) =
            (&mut logits[..], &mut first[..], Some(&mut second[..]));
        for (n, layer) in layers.iter_mut().enumerate().rev() {
            let x = if n > 0 { &hidden[n - 1] } else { images };
            let of_outputs = Matrix::new(delta, layer.outputs);
            if n > 0 {
                let weights = Matrix::new(&layer.weights, layer.outputs);
                product(of_outputs, weights.transposed(), before);
                relu_backward(x, before);
            }
            let gradient = &mut gradient[..layer.weights.len()];
            product(Matrix::new(x, layer.inputs).transposed(), of_outputs, gradient);
            use_gradient(n, &mut layer.weights, gradient);
            let done = std::mem::replace(&mut delta, before);
            // The buffer of the logits is used once.
            before = unused.take().unwrap_or(done);
        }
        loss
    }
}

levy_stable::dispatched! {
    /// Replaces negative numbers by 0. NaN stays NaN.
    fn relu(outputs: &mut [f32]) {
        for z in outputs {
            *z = if *z < 0.0 { 0.0 } else { *z };
        }
    }
}

levy_stable::dispatched! {
    /// Replaces the gradient by 0 where the output of the unit is 0.
    fn relu_backward(outputs: &[f32], gradient: &mut [f32]) {
        for (g, &z) in gradient.iter_mut().zip(outputs) {
            *g = if z > 0.0 { *g } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkShape;

    const SHAPE: NetworkShape = NetworkShape { inputs: 12, width: 9, depth: 4, classes: 3 };

    fn wave(count: usize) -> Vec<f32> {
        (0..count).map(|n| (n as f32 * 1.3).sin()).collect()
    }

    /// Central differences in single precision: the tolerance is 1e-3 of the largest gradient of a
    /// layer. A missing ReLU in the backward pass gives differences of order 1.
    #[test]
    fn gradients_match_differences_of_the_loss() {
        let mut network = Network::new(SHAPE, 1);
        let (images, labels) = (wave(5 * 12), [0, 1, 2, 0, 1]);
        let mut passes = Passes::default();
        let mut gradients = vec![Vec::new(); SHAPE.depth];
        let keep = |n: usize, _: &mut [f32], g: &mut [f32]| gradients[n] = g.to_vec();
        passes.backward(&mut network.layers, &images, &labels, keep);
        for (n, gradient) in gradients.iter().enumerate() {
            let largest = gradient.iter().fold(0f32, |a, g| a.max(g.abs()));
            for i in (0..gradient.len()).step_by(7) {
                let mut at = |step: f32| {
                    let mut moved = network.clone();
                    moved.layers[n].weights[i] += step;
                    passes.backward(&mut moved.layers, &images, &labels, |_, _, _| {})
                };
                let slope = (at(2e-3) - at(-2e-3)) / 4e-3;
                let far = (slope - f64::from(gradient[i])).abs() / f64::from(largest);
                assert!(far < 1e-3, "layer {n}, weight {i}: {slope} {}", gradient[i]);
            }
        }
    }
}

//! Fully connected ReLU networks without biases, as in the paper: shape and initial weights.

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

/// A linear layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The number of inputs.
    pub inputs: usize,
    /// The number of outputs.
    pub outputs: usize,
    /// The weights, one row of outputs for each input.
    pub weights: Vec<f32>,
}

/// A network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The layers, from the inputs on.
    pub layers: Vec<Layer>,
}

impl Network {
    /// Creates a network with PyTorch's default weights, uniform on ±1/√inputs.
    pub fn new(shape: NetworkShape, seed: u64) -> Self {
        let layer = |(layer, (inputs, outputs)): (usize, (usize, usize))| {
            let bound = 1.0 / (inputs as f64).sqrt();
            let uniform = |word: u64| ((word >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * bound;
            let stream = Stream::new(seed, layer as u64, Purpose::Start);
            let weights = stream.words().take(inputs * outputs).map(|word| uniform(word) as f32);
            Layer { inputs, outputs, weights: weights.collect() }
        };
        Self { layers: shape.layers().enumerate().map(layer).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: NetworkShape = NetworkShape { inputs: 12, width: 9, depth: 4, classes: 3 };

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
    fn initial_weights_depend_on_the_seed_and_stay_within_their_bound() {
        let (one, other) = (Network::new(SHAPE, 7), Network::new(SHAPE, 8));
        assert!(one != other && one == Network::new(SHAPE, 7));
        assert!(one.layers[1].weights.iter().all(|w| w.abs() <= 1.0 / 3.0));
        assert!(one.layers[1].weights.iter().any(|w| w.abs() > 0.3));
    }
}

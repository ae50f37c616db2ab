//! A small language model: word embeddings, one block of causal attention, one hidden layer, and one logit per word.
//!
//! Gradients come from burn's automatic differentiation. Vectors are normalised to length √d before the attention, the hidden layer
//! and the logits (RMS normalisation without weights).

use super::language::Text;
use burn::backend::{Autodiff, Flex};
use burn::tensor::activation::{log_softmax, relu, softmax};
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor, TensorData};
use fuld::random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// The sizes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformerShape {
    /// Words in the language.
    pub words: usize,
    /// Words of context.
    pub context: usize,
    /// Dimension of an embedding.
    pub width: usize,
    /// Units in the hidden layer.
    pub hidden: usize,
}

impl TransformerShape {
    /// Returns name, rows and columns of every tensor.
    pub fn tensors(self) -> [(&'static str, usize, usize); 10] {
        let Self { words, context, width, hidden } = self;
        [
            ("words", words, width),
            ("places", context, width),
            ("queries", width, width),
            ("keys", width, width),
            ("values", width, width),
            ("heads", width, width),
            ("into hidden", width, hidden),
            ("out of hidden", hidden, width),
            ("scores", width, words),
            ("biases", 1, words),
        ]
    }

    /// Returns the number of parameters.
    pub fn parameters(self) -> usize {
        self.tensors().iter().map(|(_, rows, columns)| rows * columns).sum()
    }
}

/// A model: the tensors of its shape, in the order of [`TransformerShape::tensors`].
#[derive(Clone, Debug)]
pub struct Transformer<B: Backend> {
    shape: TransformerShape,
    /// The tensors.
    pub tensors: Vec<Tensor<B, 2>>,
}

/// Sentences as input of a model.
struct Batch<B: Backend> {
    sentences: usize,
    /// All words except the last of each sentence, sentence after sentence.
    before: Tensor<B, 1, Int>,
    /// The word that follows each of them.
    next: Tensor<B, 2, Int>,
}

impl<B: Backend> Batch<B> {
    fn new(text: &Text, device: &B::Device) -> Self {
        let (mut before, mut next) = (Vec::new(), Vec::new());
        for sentence in text.sentences() {
            before.extend(sentence[..sentence.len() - 1].iter().map(|&word| word as i32));
            next.extend(sentence[1..].iter().map(|&word| word as i32));
        }
        let count = next.len();
        Self {
            sentences: text.words.len() / text.length,
            before: Tensor::from_data(TensorData::new(before, [count]), device),
            next: Tensor::from_data(TensorData::new(next, [count, 1]), device),
        }
    }
}

impl<B: Backend> Transformer<B> {
    /// Initialises a model from a seed: uniform on ±1/√width, or ±1/√hidden after the hidden layer; biases are 0.
    pub fn new(shape: TransformerShape, seed: u64, device: &B::Device) -> Self {
        let tensor = |(n, (name, rows, columns)): (usize, (&str, usize, usize))| {
            let bound = match name {
                "biases" => 0.0,
                "out of hidden" => 1.0 / (shape.hidden as f64).sqrt(),
                _ => 1.0 / (shape.width as f64).sqrt(),
            };
            let stream = Stream::new(seed, n as u64, Purpose::Start);
            let uniform = |word: u64| ((word >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * bound;
            let numbers: Vec<f32> =
                (0..(rows * columns) as u64).map(|n| uniform(stream.word(n)) as f32).collect();
            Tensor::from_data(TensorData::new(numbers, [rows, columns]), device)
        };
        Self { shape, tensors: shape.tensors().into_iter().enumerate().map(tensor).collect() }
    }

    /// Returns the loss in nats of every word of a text except the first of each sentence. Sentences are one word longer than the context.
    pub fn losses(&self, text: &Text, device: &B::Device) -> Tensor<B, 1> {
        let Batch { sentences, before, next } = Batch::new(text, device);
        let TransformerShape { context, width, .. } = self.shape;
        let [words, places, queries, keys, values, heads, into, out, scores, biases] =
            std::array::from_fn(|n| self.tensors[n].clone());
        let rows = sentences * context;
        let split = |x: Tensor<B, 2>| x.reshape([sentences, context, width]);
        let places = places.unsqueeze_dim::<3>(0).expand([sentences, context, width]).reshape([rows, width]);
        let x = words.select(0, before) + places;
        let y = normal(x.clone());
        let (q, k, v) = (y.clone().matmul(queries), y.clone().matmul(keys), y.matmul(values));
        let alike = split(q).matmul(split(k).swap_dims(1, 2)).div_scalar((width as f64).sqrt());
        let mixed = softmax(alike + future(context, device), 2).matmul(split(v));
        let x = x + mixed.reshape([rows, width]).matmul(heads);
        let x = x.clone() + relu(normal(x).matmul(into)).matmul(out);
        let log_p = log_softmax(normal(x).matmul(scores) + biases, 1);
        -log_p.gather(1, next).squeeze_dim(1)
    }
}

impl Transformer<Flex> {
    /// Returns the mean loss over a text and its gradient with respect to each tensor.
    pub fn gradients(&self, text: &Text) -> (f64, Vec<Tensor<Flex, 2>>) {
        let device = Default::default();
        let tensors = self.tensors.iter().map(|x| Tensor::from_inner(x.clone()).require_grad()).collect();
        let model = Transformer::<Autodiff<Flex>> { shape: self.shape, tensors };
        let loss = model.losses(text, &device).mean();
        let mut all = loss.backward();
        let gradient = |x: &Tensor<Autodiff<Flex>, 2>| {
            x.grad_remove(&mut all).unwrap_or_else(|| Tensor::zeros(x.dims(), &device))
        };
        let gradients = model.tensors.iter().map(gradient).collect();
        (f64::from(loss.into_scalar()), gradients)
    }
}

/// Scales each row to length √width.
fn normal<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    let square = x.clone().square().mean_dim(1).add_scalar(1e-6);
    x / square.sqrt()
}

/// Returns the causal mask: 0 where a position may attend to another (itself or an earlier one), −1e9 elsewhere.
fn future<B: Backend>(context: usize, device: &B::Device) -> Tensor<B, 3> {
    let cells = (0..context * context).map(|n| if n % context > n / context { -1e9 } else { 0.0 });
    Tensor::from_data(TensorData::new(cells.collect::<Vec<f32>>(), [1, context, context]), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::language::Language;

    const SHAPE: TransformerShape = TransformerShape { words: 30, context: 5, width: 8, hidden: 12 };

    fn model_and_text() -> (Transformer<Flex>, Text) {
        let language = Language::new(SHAPE.words, 4, 0.9, 0.9);
        let mut model = Transformer::new(SHAPE, 3, &Default::default());
        // Biases that are all 0 would hide a mistake in them.
        model.tensors[9] = model.tensors[8].clone().narrow(0, 0, 1);
        (model, language.text(0, 6, SHAPE.context + 1, 1, Purpose::Gradient))
    }

    fn losses(model: &Transformer<Flex>, text: &Text) -> Vec<f64> {
        model.losses(text, &Default::default()).into_data().iter::<f64>().collect()
    }

    /// For every tensor, central differences along the gradient give its norm.
    #[test]
    fn gradients_match_central_differences() {
        let (model, text) = model_and_text();
        let (loss, gradients) = model.gradients(&text);
        let mean = |model: &Transformer<Flex>| losses(model, &text).iter().sum::<f64>() / 30.0;
        assert!((loss - mean(&model)).abs() < 1e-6);
        for (n, gradient) in gradients.into_iter().enumerate() {
            let norm = f64::from(gradient.clone().square().sum().sqrt().into_scalar());
            // Small enough that no unit of the hidden layer switches on or off on the way.
            let step = 0.001;
            let moved = |length: f64| {
                let mut model = model.clone();
                model.tensors[n] = model.tensors[n].clone() + gradient.clone().mul_scalar(length / norm);
                mean(&model)
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            assert!((slope / norm - 1.0).abs() < 0.002, "{}: {slope} {norm}", SHAPE.tensors()[n].0);
        }
    }

    /// The loss of a word depends only on the words before it. The probabilities of all words at one position sum to 1, which they
    /// would not if the model received the word itself as input.
    #[test]
    fn predictions_depend_only_on_earlier_words() {
        let (model, text) = model_and_text();
        let before = losses(&model, &text);
        let mut total = 0.0;
        for word in 0..30 {
            let mut other = text.clone();
            other.words[3] = word;
            let after = losses(&model, &other);
            total += (-after[2]).exp();
            assert_eq!((&before[..2], &before[5..]), (&after[..2], &after[5..]), "sentences are independent");
            assert!(text.words[3] == word || (2..5).all(|place| before[place] != after[place]));
        }
        assert!((total - 1.0).abs() < 1e-5, "{total}");
    }

    #[test]
    fn initial_weights_depend_only_on_the_seed() {
        let numbers = |seed: u64| {
            let model = Transformer::<Flex>::new(SHAPE, seed, &Default::default());
            model
                .tensors
                .into_iter()
                .flat_map(|x| x.into_data().iter::<f32>().collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        let one = numbers(1);
        assert!(one.len() == SHAPE.parameters() && one == numbers(1) && one != numbers(2));
        assert!(one.iter().all(|x| x.abs() <= 1.0 / 8f32.sqrt()));
    }
}

//! Evaluation of a model: its loss on a text above the lowest loss that any model can reach.

use super::language::{Language, Text};
use super::spec::{EvaluationText, TextTask};
use super::transformer::Transformer;
use burn::backend::Flex;

/// Sentences per forward pass.
const CHUNK: usize = 64;

/// A text with the lowest achievable loss of each of its words.
pub struct Evaluation {
    chunks: Vec<Text>,
    /// The lowest achievable loss of each word except the first of a sentence, in nats.
    lowest: Vec<f64>,
    /// These words.
    words: Vec<u32>,
}

impl Evaluation {
    /// Draws the text and computes its lowest losses.
    pub fn new(task: &TextTask, language: &Language, text: EvaluationText) -> Self {
        let first = match text {
            EvaluationText::Validation => 0,
            EvaluationText::Test => task.sentences,
        };
        let chunk =
            |done: usize| task.evaluation_text(language, first + done, CHUNK.min(task.sentences - done));
        let chunks: Vec<Text> = (0..task.sentences).step_by(CHUNK).map(chunk).collect();
        let lowest = chunks.iter().flat_map(|text| language.lowest_losses(text)).collect();
        let words = chunks.iter().flat_map(Text::sentences).flat_map(|sentence| &sentence[1..]).copied();
        let words = words.collect();
        Self { chunks, lowest, words }
    }

    /// Returns the mean of the lowest achievable losses, in nats per word.
    pub fn lowest_loss(&self) -> f64 {
        mean(self.lowest.iter().copied())
    }

    /// Returns the excess loss of a model for each word, in nats. The excess of a single word can be negative.
    pub(super) fn excess(&self, model: &Transformer<Flex>) -> Vec<f64> {
        let losses = self.chunks.iter().flat_map(|text| {
            let losses = model.losses(text, &Default::default()).into_data();
            losses.iter::<f64>().collect::<Vec<_>>()
        });
        losses.zip(&self.lowest).map(|(loss, lowest)| loss - lowest).collect()
    }

    /// Returns the mean excess over the words of each range of ranks; `ends` are exclusive.
    pub(super) fn by_rank<const N: usize>(&self, excess: &[f64], ends: [u32; N]) -> [f64; N] {
        let mut from = 0;
        ends.map(|end| {
            let range = std::mem::replace(&mut from, end)..end;
            let in_range = self.words.iter().zip(excess).filter(|(word, _)| range.contains(*word));
            mean(in_range.map(|(_, excess)| *excess))
        })
    }
}

/// Returns the mean, NaN for no numbers.
pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0usize), |(sum, count), x| (sum + x, count + 1));
    sum / count as f64
}

//! A text on which models are measured, against the least loss that there is.

use super::plan::Plan;
use burn::backend::Flex;
use fuld_train::language::{Language, Text};
use fuld_train::transformer::Transformer;

/// Sentences that a model sees at a time.
const PORTION: usize = 64;

/// A text and what the best possible model loses on it.
pub(super) struct Exam {
    portions: Vec<Text>,
    /// Of each word but the first of a sentence.
    least: Vec<f64>,
    /// Those words.
    words: Vec<u32>,
}

impl Exam {
    /// The text that tuning looks at.
    pub(super) fn validation(plan: &Plan, language: &Language) -> Self {
        Self::new(plan, language, 0)
    }

    /// The text that results are from.
    pub(super) fn test(plan: &Plan, language: &Language) -> Self {
        Self::new(plan, language, plan.sentences)
    }

    fn new(plan: &Plan, language: &Language, first: usize) -> Self {
        let portion = |done: usize| plan.measured(language, first + done, PORTION.min(plan.sentences - done));
        let portions: Vec<Text> = (0..plan.sentences).step_by(PORTION).map(portion).collect();
        let least = portions.iter().flat_map(|text| language.least_losses(text)).collect();
        let words = portions.iter().flat_map(Text::sentences).flat_map(|sentence| &sentence[1..]).copied();
        let words = words.collect();
        Self { portions, least, words }
    }

    /// The mean of the least losses.
    pub(super) fn least(&self) -> f64 {
        mean(self.least.iter().copied())
    }

    /// The loss of a model above the least, of each word, in nats. Of a single word it may well be below 0.
    pub(super) fn excess(&self, model: &Transformer<Flex>) -> Vec<f64> {
        let losses = self.portions.iter().flat_map(|text| {
            let losses = model.losses(text, &Default::default()).into_data();
            losses.iter::<f64>().collect::<Vec<_>>()
        });
        losses.zip(&self.least).map(|(loss, least)| loss - least).collect()
    }

    /// The mean of an excess over the words of each range of ranks.
    pub(super) fn by_rank<const N: usize>(&self, excess: &[f64], ends: [u32; N]) -> [f64; N] {
        let mut from = 0;
        ends.map(|end| {
            let of = self.words.iter().zip(excess).filter(|(word, _)| (from..end).contains(*word));
            let found = mean(of.map(|(_, excess)| *excess));
            from = end;
            found
        })
    }
}

/// NaN of nothing.
pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0usize), |(sum, count), x| (sum + x, count + 1));
    sum / count as f64
}

//! What is learnt, by which model, for how long.

use fuld::random::Purpose;
use fuld_train::language::{Language, Text};
use fuld_train::transformer::TransformerShape;

/// Everything but the optimizer.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Topics of the language.
    pub(super) topics: usize,
    /// The chance that a word is of its place's topic for a reason.
    pub(super) loyalty: f64,
    /// The chance that a topic stays.
    pub(super) stay: f64,
    /// The model.
    pub(super) shape: TransformerShape,
    /// Sentences of a minibatch.
    pub(super) batch: usize,
    /// Steps of a run.
    pub(super) steps: u64,
    /// How often a run is measured on its way.
    pub(super) measurements: u64,
    /// Sentences of each text on which models are measured.
    pub(super) sentences: usize,
    /// The seed of tuning, and of the texts for measurements; the runs that count have the seeds that follow.
    pub(super) seed: u64,
    /// How many of these there are.
    pub(super) seeds: u64,
}

impl Plan {
    /// What the report shows.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            topics: 32,
            loyalty: 0.9,
            stay: 0.98,
            shape: TransformerShape { words: 1000, context: 8, width: 32, hidden: 64 },
            batch: 32,
            steps: 500,
            measurements: 10,
            sentences: 512,
            seed,
            seeds: 5,
        }
    }

    pub(super) fn language(&self) -> Language {
        Language::new(self.shape.words, self.topics, self.loyalty, self.stay)
    }

    /// Seeds of the runs that count.
    pub(super) fn test_seeds(&self) -> std::ops::Range<u64> {
        self.seed + 1..self.seed + 1 + self.seeds
    }

    /// The minibatch of a step: text that never comes again.
    pub(super) fn minibatch(&self, language: &Language, seed: u64, step: u64) -> Text {
        self.text(language, step * self.batch as u64, self.batch, seed, Purpose::Gradient)
    }

    /// Text for measurements, of which sentences before `first` are for another.
    pub(super) fn measured(&self, language: &Language, first: usize, sentences: usize) -> Text {
        self.text(language, first as u64, sentences, self.seed, Purpose::Measurement)
    }

    fn text(&self, language: &Language, first: u64, sentences: usize, seed: u64, purpose: Purpose) -> Text {
        language.text(first, sentences, self.shape.context + 1, seed, purpose)
    }
}

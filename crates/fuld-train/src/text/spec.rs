//! The specification of a training run on text.

use super::language::{Language, Text};
use super::transformer::TransformerShape;
use fuld::durable::fingerprint;
use fuld::random::Purpose;
use serde::{Deserialize, Serialize};

/// Version of the rules that make a result from a specification. Increase it whenever the numbers would change.
pub const TEXT_VERSION: u32 = 1;

/// Momentum of every optimizer except Adam.
pub const MOMENTUM: f64 = 0.9;

/// The language, the model and the length of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextTask {
    /// Topics of the language.
    pub topics: usize,
    /// Probability that a word is drawn from the words of its topic.
    pub loyalty: f64,
    /// Probability that the topic stays the same from one word to the next.
    pub stay: f64,
    /// Sentences per minibatch.
    pub batch: usize,
    /// Optimizer steps.
    pub steps: u64,
    /// Sentences in each evaluation text.
    pub sentences: usize,
    /// Seed of the evaluation texts.
    #[serde(with = "seed_as_text")]
    pub evaluation_seed: u64,
    /// The sizes of the model.
    pub shape: TransformerShape,
}

impl TextTask {
    /// Returns the language.
    pub fn language(&self) -> Language {
        Language::new(self.shape.words, self.topics, self.loyalty, self.stay)
    }

    /// Returns the minibatch of a step. No sentence is used twice.
    pub(super) fn minibatch(&self, language: &Language, seed: u64, step: u64) -> Text {
        self.text(language, step * self.batch as u64, self.batch, seed, Purpose::Gradient)
    }

    /// Returns sentences for evaluation, from number `first` on.
    pub(super) fn evaluation_text(&self, language: &Language, first: usize, sentences: usize) -> Text {
        self.text(language, first as u64, sentences, self.evaluation_seed, Purpose::Measurement)
    }

    fn text(&self, language: &Language, first: u64, sentences: usize, seed: u64, purpose: Purpose) -> Text {
        language.text(first, sentences, self.shape.context + 1, seed, purpose)
    }
}

/// An optimizer. All except Adam are SGD with momentum [`MOMENTUM`] or extend it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextOptimizer {
    /// SGD with momentum.
    Sgdm,
    /// SGD with momentum on gradients scaled to at most this joint norm.
    ClipNorm(f64),
    /// SGD with momentum on gradients whose components are clipped at this value.
    ClipValue(f64),
    /// Adam with its usual constants.
    Adam,
    /// FULD in the matched form with automatic α and noise scale.
    Auto,
}

/// The text on which a run is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationText {
    /// The text that hyperparameters are chosen on.
    Validation,
    /// The text that results are reported on.
    Test,
}

/// Everything the result of a run depends on, except [`TEXT_VERSION`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextSpec {
    /// The learning rate.
    pub lr: f64,
    /// Seed of weights and minibatches.
    #[serde(with = "seed_as_text")]
    pub seed: u64,
    /// The text on which the run is evaluated.
    pub evaluation: EvaluationText,
    /// Evaluations, evenly spaced, the last one at the end.
    pub measurements: u64,
    /// Whether to estimate the tails of the gradient noise at the final weights.
    pub gradient_noise: bool,
    /// The optimizer.
    pub optimizer: TextOptimizer,
    /// Language, model and length of training.
    pub task: TextTask,
}

impl TextSpec {
    /// Returns a file name for people. The specification in the file, not the name, identifies the run.
    pub fn name(&self) -> String {
        let optimizer = match self.optimizer {
            TextOptimizer::Sgdm => "sgdm".into(),
            TextOptimizer::ClipNorm(limit) => format!("clip_norm_{limit}"),
            TextOptimizer::ClipValue(limit) => format!("clip_value_{limit}"),
            TextOptimizer::Adam => "adam".into(),
            TextOptimizer::Auto => "auto".to_owned(),
        };
        let text = toml::to_string(self).unwrap_or_default();
        let (rate, seed, hash) = (self.lr, self.seed, fingerprint(text.as_bytes()));
        format!("{optimizer}-lr{rate}-seed{seed}-{hash:016x}")
    }
}

/// Seeds as text: TOML has no integers above 2⁶³ − 1.
mod seed_as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(seed)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

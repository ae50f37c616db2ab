//! Training of a small language model on synthetic text with a power-law vocabulary.
//!
//! A [`TextSpec`] is everything the numbers of one run depend on: the language, the model, the optimizer and the seed. [`TextRun`]
//! trains it to a [`TextResult`], which [`run_stored`](crate::run_all::run_stored) keeps by specification and [`TEXT_VERSION`].

mod evaluation;
mod gradient_noise;
pub mod language;
mod optimizer;
mod run;
mod spec;
pub mod transformer;

pub use evaluation::Evaluation;
pub use gradient_noise::TensorNoise;
pub use run::{RANK_ENDS, TensorCalibration, TextMeasurement, TextResult, TextRun};
pub use spec::{EvaluationText, MOMENTUM, TEXT_VERSION, TextOptimizer, TextSpec, TextTask};

//! Training of one model from its first step to its last.

use super::evaluation::{Evaluation, mean};
use super::gradient_noise::{TensorNoise, gradient_noise};
use super::optimizer::ModelOptimizer;
use super::spec::{TEXT_VERSION, TextSpec};
use super::transformer::Transformer;
use crate::run_all::StoredRun;
use fuld::Control;
use fuld::optimizer::{Estimates, RuleError};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::Path;

/// Exclusive ends of the ranges of word ranks: words 1 to 10, 11 to 100, all others. Each is about a third of a text.
pub const RANK_ENDS: [u32; 3] = [10, 100, u32::MAX];

/// An evaluation during training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextMeasurement {
    /// Steps taken.
    pub step: u64,
    /// Mean loss above the lowest achievable, in nats per word.
    pub excess: f64,
}

/// The estimates and settings of an automatic calibration for one tensor at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorCalibration {
    /// Name of the tensor.
    pub tensor: String,
    /// Estimated tail index of the gradient noise.
    pub noise_alpha: f64,
    /// Estimated scale of the gradient noise.
    pub noise_scale: f64,
    /// Tail index in use.
    pub alpha: f64,
    /// κ in units of v = −√lr b; infinite at α = 2.
    pub kappa: f64,
    /// Largest gradient component let through.
    pub limit: f64,
    /// Share of the weights beyond the knee.
    pub beyond_knee: f64,
}

impl TensorCalibration {
    fn new(tensor: &str, lr: f64, estimates: &Estimates) -> Self {
        let Estimates { noise_alpha, noise_scale, alpha, momentum_knee, limit, beyond_knee } = *estimates;
        let kappa = if alpha == 2.0 { f64::INFINITY } else { lr.sqrt() * momentum_knee };
        Self { tensor: tensor.into(), noise_alpha, noise_scale, alpha, kappa, limit, beyond_knee }
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextResult {
    /// Final loss above the lowest achievable, in nats per word; infinite if the run diverged.
    pub excess: f64,
    /// The same for each range of word ranks, see [`RANK_ENDS`].
    pub excess_by_rank: [f64; 3],
    /// The excess loss during training; ends early if the run diverged.
    #[serde(default)]
    pub measurements: Vec<TextMeasurement>,
    /// The automatic calibration of each tensor; empty for other optimizers.
    #[serde(default)]
    pub calibration: Vec<TensorCalibration>,
    /// The tails of the gradient noise of each tensor, if the specification asks for them.
    #[serde(default)]
    pub noise: Vec<TensorNoise>,
}

/// A run whose result is stored. It takes about a second, so it has no checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct TextRun {
    /// The specification.
    pub spec: TextSpec,
    /// The expected time in seconds.
    pub seconds: f64,
}

impl StoredRun for TextRun {
    type Spec = TextSpec;
    type Outcome = TextResult;

    const VERSION: u32 = TEXT_VERSION;

    fn spec(&self) -> TextSpec {
        self.spec
    }

    fn name(&self) -> String {
        self.spec.name()
    }

    fn work(&self) -> f64 {
        self.seconds
    }

    fn run(
        &self,
        _checkpoint: &Path,
        watch: &mut dyn FnMut(f64) -> Control,
    ) -> Result<Option<TextResult>, Box<dyn Error + Send + Sync>> {
        Ok(train(&self.spec, watch)?)
    }
}

/// Trains a model. `watch` receives the completed share before every step. Returns `None` if it returns [`Control::Stop`].
fn train(spec: &TextSpec, watch: &mut dyn FnMut(f64) -> Control) -> Result<Option<TextResult>, RuleError> {
    let TextSpec { task, optimizer, lr, seed, .. } = *spec;
    let language = task.language();
    let evaluation = Evaluation::new(&task, &language, spec.evaluation);
    let mut model = Transformer::new(task.shape, seed, &Default::default());
    let mut optimizer = ModelOptimizer::new(optimizer, lr)?;
    let (mut measurements, mut last) = (Vec::new(), Vec::new());
    for step in 0..task.steps {
        if watch(step as f64 / task.steps as f64) == Control::Stop {
            return Ok(None);
        }
        let (loss, gradients) = model.gradients(&task.minibatch(&language, seed, step));
        if !loss.is_finite() {
            last.clear();
            break;
        }
        optimizer.step(&mut model, gradients)?;
        let measured_before = |step: u64| step * spec.measurements / task.steps;
        if measured_before(step + 1) > measured_before(step) {
            last = evaluation.excess(&model);
            measurements.push(TextMeasurement { step: step + 1, excess: mean(last.iter().copied()) });
        }
    }
    let excess = mean(last.iter().copied());
    let converged = excess.is_finite();
    let tensors = task.shape.tensors();
    let estimates = optimizer.estimates();
    let calibration =
        tensors.iter().zip(&estimates).map(|((name, ..), r)| TensorCalibration::new(name, lr, r));
    Ok(Some(TextResult {
        excess: if converged { excess } else { f64::INFINITY },
        excess_by_rank: if converged { evaluation.by_rank(&last, RANK_ENDS) } else { [f64::INFINITY; 3] },
        measurements,
        calibration: calibration.collect(),
        noise: if spec.gradient_noise { gradient_noise(spec, &language, &model) } else { Vec::new() },
    }))
}

#[cfg(test)]
mod tests;

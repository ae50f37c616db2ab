//! The records of a run while it is trained, and its result.

use super::measurement::{FinalMeans, Measurement};
use super::tails::LayerTail;
use crate::spec::TrainSpec;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum RunStatus {
    /// The run took all its steps.
    Finished,
    /// The loss was not finite.
    Diverged {
        /// Steps taken by then. On a GPU losses are read with the measurements, so that this is the
        /// next multiple of `measure_every`.
        iteration: u64,
        /// The loss.
        loss: f64,
    },
}

/// Everything recorded about a run so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunRecord {
    #[serde(flatten)]
    pub(super) status: RunStatus,
    pub(super) measurements: Vec<Measurement>,
    #[serde(default)]
    pub(super) tails: Vec<LayerTail>,
}

impl RunRecord {
    /// Returns whether the loss has been finite so far.
    pub(super) fn is_live(&self) -> bool {
        self.status == RunStatus::Finished
    }
}

/// The result of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// How the run ended.
    #[serde(flatten)]
    pub status: RunStatus,
    /// Wall-clock time, including that before interruptions; in a stack, that of the whole stack.
    pub seconds: f64,
    /// Runs that were trained together.
    pub stack: usize,
    /// The specification of the run.
    pub spec: TrainSpec,
    /// Means of the last two measurements; `None` for a run that diverged before the first.
    pub summary: Option<FinalMeans>,
    /// All measurements.
    pub measurements: Vec<Measurement>,
    /// Tail indices, if they were requested.
    #[serde(default)]
    pub tails: Vec<LayerTail>,
}

impl RunResult {
    /// Returns the number of steps taken.
    pub fn iterations(&self) -> u64 {
        match self.status {
            RunStatus::Finished => self.spec.iterations,
            RunStatus::Diverged { iteration, .. } => iteration,
        }
    }
}

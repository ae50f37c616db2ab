//! A run as a [`StoredRun`], for the exhibits of the report.

use super::checkpoint::stale_version;
use super::run::{TrainOutcome, TrainProgress, train};
use super::run_result::RunResult;
use crate::data::DataSet;
use crate::run_stored::StoredRun;
use crate::spec::{Device, TRAINING_VERSION, TrainSpec};
use fuld::Control;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

/// A run of a network on a data set.
#[derive(Clone, Debug)]
pub struct NetworkRun<'a> {
    /// The specification.
    pub spec: TrainSpec,
    /// The data set of the specification.
    pub data: &'a DataSet,
    /// The expected time in seconds.
    pub seconds: f64,
}

impl NetworkRun<'_> {
    /// Returns whether runs are trained together: on a GPU, if their specifications allow it.
    pub fn share_a_stack(one: &TrainSpec, other: &TrainSpec) -> bool {
        one.device != Device::Cpu && one.stacks_with(other)
    }
}

impl StoredRun for NetworkRun<'_> {
    type Spec = TrainSpec;
    type Outcome = RunResult;

    const VERSION: u32 = TRAINING_VERSION;

    fn spec(&self) -> TrainSpec {
        self.spec.clone()
    }

    fn name(&self) -> String {
        self.spec.name()
    }

    fn work(&self) -> f64 {
        self.seconds
    }

    fn stale_checkpoint(&self, checkpoint: &Path) -> Option<u32> {
        stale_version(checkpoint, &self.spec)
    }

    fn stacks_with(&self, other: &Self) -> bool {
        Self::share_a_stack(&self.spec, &other.spec)
    }

    fn run(
        stack: &[&Self],
        checkpoint: &Path,
        watch: &mut dyn FnMut(f64) -> Control,
    ) -> Result<Option<Vec<RunResult>>, Box<dyn Error + Send + Sync>> {
        let Some(first) = stack.first() else { return Ok(Some(Vec::new())) };
        let total = first.spec.iterations as f64;
        let mut watch = |progress: TrainProgress<'_>| watch(progress.iteration as f64 / total);
        let specs: Vec<TrainSpec> = stack.iter().map(|run| run.spec.clone()).collect();
        match train(first.data, &specs, checkpoint, CHECKPOINT_EVERY, &mut watch)? {
            TrainOutcome::Finished(results, _) => Ok(Some(results)),
            TrainOutcome::Stopped(_) => Ok(None),
        }
    }
}

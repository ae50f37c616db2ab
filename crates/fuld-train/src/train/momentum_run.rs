//! The largest momentum of any weight in the first steps of a run.

use super::TrainError;
use super::trainer::Trainer;
use crate::data::DataSet;
use crate::run_stored::StoredRun;
use crate::spec::{TRAINING_VERSION, TrainSpec};
use fuld::Control;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::Path;

/// A run that is followed for some steps to record its largest momentum.
#[derive(Clone, Debug)]
pub struct MomentumRun<'a> {
    /// The specification.
    pub spec: TrainSpec,
    /// The data set of the specification.
    pub data: &'a DataSet,
    /// Steps to follow.
    pub steps: u64,
    /// The expected time in seconds.
    pub seconds: f64,
}

/// The specification of a [`MomentumRun`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MomentumSpec {
    /// Steps to follow.
    pub steps: u64,
    /// The run.
    pub run: TrainSpec,
}

/// The largest momentum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargestMomentum {
    /// The largest |v| of any weight at any step, v = −√lr b; infinite if one was not finite.
    pub largest_v: f64,
}

impl StoredRun for MomentumRun<'_> {
    type Spec = MomentumSpec;
    type Outcome = LargestMomentum;

    const VERSION: u32 = TRAINING_VERSION;

    fn spec(&self) -> MomentumSpec {
        MomentumSpec { steps: self.steps, run: self.spec.clone() }
    }

    fn name(&self) -> String {
        format!("momentum-{}-{}", self.steps, self.spec.name())
    }

    fn work(&self) -> f64 {
        self.seconds
    }

    fn run(
        stack: &[&Self],
        _checkpoint: &Path,
        watch: &mut dyn FnMut(f64) -> Control,
    ) -> Result<Option<Vec<LargestMomentum>>, Box<dyn Error + Send + Sync>> {
        let followed = stack.iter().map(|run| run.follow(watch));
        Ok(followed.collect::<Result<_, TrainError>>()?)
    }
}

impl MomentumRun<'_> {
    fn follow(
        &self,
        watch: &mut dyn FnMut(f64) -> Control,
    ) -> Result<Option<LargestMomentum>, TrainError> {
        let mut trainer = Trainer::new(self.data, std::slice::from_ref(&self.spec))?;
        let mut largest_v = 0.0f64;
        for step in 0..self.steps {
            if watch(step as f64 / self.steps as f64) == Control::Stop {
                return Ok(None);
            }
            trainer.step()?;
            for v in trainer.largest_v()?.into_iter().flatten() {
                largest_v = largest_v.max(if v.is_nan() { f64::INFINITY } else { v });
            }
        }
        Ok(Some(LargestMomentum { largest_v }))
    }
}

//! The state of a run after its warm-up, from which parts of the run continue elsewhere.
//!
//! The chains of exact sampling adapt together, so that the warm-up is one task. The draws of a
//! chain then depend on the adapted numbers and on its own state alone: each part of the chains can
//! be run by another process, with the draws of the whole run.

use super::checkpoint::{Checkpoint, CheckpointError};
use super::error::RunError;
use super::execution::{Execution, Pace};
use super::outcome::{Control, Outcome, Progress};
use super::run::Run;
use super::sink::{Callback, Layout, Sink};
use super::spec::RunSpec;
use crate::exact::Levels;
use crate::{Potential, Tuning};
use std::path::Path;
use std::time::Instant;

/// Where the state comes from, in errors.
const SOURCE: &str = "after the warm-up";

/// All chains of a run after its warm-up, and the numbers that exact sampling adapted.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmState(Checkpoint);

impl WarmState {
    /// Returns the state as bytes, with a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    /// Reads a state from [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        Checkpoint::from_bytes(bytes, Path::new(SOURCE)).map(Self)
    }

    /// Returns step, paths and scales, if they were adapted.
    pub fn tuning(&self) -> Option<Tuning> {
        let spec: RunSpec = serde_json::from_str(&self.0.spec).ok()?;
        let sizes = [spec.temper.unwrap_or(1), spec.chains, spec.dim];
        let levels = Levels::from_numbers(&self.0.adaptation, spec.warmup, sizes)?;
        Some(levels.adaptations[0].tuning.clone())
    }

    /// Returns the state of the chains of a part of the run.
    fn part(&self, run: &Run, layout: &Layout) -> Result<Checkpoint, RunError> {
        if run.temper > 1 {
            return Err(RunError::TemperedPart(run.temper));
        }
        let path = Path::new(SOURCE);
        let (part, whole) = (&*layout.spec, &self.0);
        let stored: Option<RunSpec> = serde_json::from_str(&whole.spec).ok();
        let (first, chains) = stored.map_or((0, 0), |stored| (stored.first_chain, stored.chains));
        let expected = RunSpec { first_chain: first, chains, ..part.clone() };
        if let Some(difference) = expected.difference(&whole.spec) {
            return Err(CheckpointError::OtherRun { path: path.into(), difference }.into());
        }
        if whole.step != part.warmup {
            let (expected, given) = (part.warmup as usize, whole.step as usize);
            return Err(CheckpointError::Shape {
                path: path.into(),
                what: "steps",
                expected,
                given,
            }
            .into());
        }
        let start =
            part.first_chain.checked_sub(first).filter(|start| start + part.chains <= chains);
        let Some(start) =
            start.filter(|_| whole.x.len() == chains * part.dim && whole.v.len() == whole.x.len())
        else {
            let (expected, given) = ((part.first_chain + part.chains) * part.dim, whole.x.len());
            return Err(CheckpointError::Shape {
                path: path.into(),
                what: "positions",
                expected,
                given,
            }
            .into());
        };
        let coordinates = start * part.dim..(start + part.chains) * part.dim;
        // Widening by the factor 1 of the only temperature changes nothing.
        let levels = self.tuning().map(|tuning| Levels::new(&tuning, part.warmup, part.chains, 1));
        Ok(Checkpoint {
            spec: part.to_json(),
            step: whole.step,
            weight: 0.0,
            x: whole.x[coordinates.clone()].to_vec(),
            v: whole.v[coordinates].to_vec(),
            sums: vec![0.0; part.chains * run.functions.len()],
            begun: Vec::new(),
            divergences: Vec::new(),
            adaptation: levels.as_ref().map(Levels::to_numbers).unwrap_or_default(),
        })
    }
}

impl Run {
    /// Runs the warm-up alone and returns the state after it, or None if `progress` stopped it. The
    /// checkpoint is neither read nor written.
    pub fn warm_up(
        &self,
        potential: &dyn Potential,
        progress: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Option<WarmState>, RunError> {
        self.check(potential.dim())?;
        let run = Self { checkpoint: None, ..self.clone() };
        let mut execution =
            Execution::begin(&run, None, potential, &mut Callback(|_, _: &[f64]| Ok(())))?;
        let (began, mut pace) = (Instant::now(), Pace::default());
        while execution.step < run.warmup {
            let steps = execution.step..run.warmup.min(execution.step.saturating_add(pace.steps));
            let advanced = pace.time(|| execution.advance_for_interval(steps));
            if progress(&execution.progress(began.elapsed())) == Control::Stop {
                return Ok(None);
            }
            advanced?;
        }
        Ok(Some(WarmState(execution.checkpoint())))
    }

    /// Runs the chains of this part of a run from the state of the whole run after its warm-up. The
    /// checkpoint is neither read nor written.
    pub fn continue_from(
        &self,
        state: &WarmState,
        potential: &dyn Potential,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Outcome, RunError> {
        self.check(potential.dim())?;
        let run = Self { checkpoint: None, ..self.clone() };
        let part = state.part(&run, &run.layout(potential)?)?;
        Execution::begin(&run, Some(part), potential, sink)?.finish(sink, progress)
    }
}

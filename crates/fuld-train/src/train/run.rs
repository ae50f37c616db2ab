//! Training from the start or from a checkpoint to the end: steps, measurements, divergence and
//! stops.

use super::checkpoint::{
    CheckpointHeader, StoredCheckpoint, TrainCheckpoint, TrainCheckpointError,
};
use super::error::TrainError;
use super::measurement::{FinalMeans, Measurement};
use super::run_result::{RunRecord, RunResult, RunStatus};
use super::trainer::Trainer;
use crate::data::DataSet;
use crate::engine::EngineError;
use crate::network::Network;
use crate::spec::TrainSpec;
use fuld::Control;
use std::path::Path;
use std::time::{Duration, Instant};

/// Times as long as a checkpoint takes to write that training goes on before the next one, so that
/// checkpoints of large stacks take at most 5 % of the time.
const SAVES_APART: u32 = 20;

/// The longest time between two calls of `watch`, so that training stops soon after it is asked to.
const RESPONSE: Duration = Duration::from_millis(50);

/// The progress of training.
#[derive(Clone, Copy, Debug)]
pub struct TrainProgress<'a> {
    /// Steps taken.
    pub iteration: u64,
    /// The step at which this call of [`train()`] began.
    pub began: u64,
    /// The version of the training rule that made the checkpoint, if the checkpoint was not used
    /// because of it.
    pub stale_checkpoint: Option<u32>,
    /// The last measurement of each run.
    pub measured: &'a [Option<Measurement>],
}

/// How a call of [`train()`] ended.
pub enum TrainOutcome {
    /// All runs are done. Each has its result and its network.
    Finished(Vec<RunResult>, Vec<Network>),
    /// Training was stopped after this many steps, and a checkpoint was written.
    Stopped(u64),
}

/// Trains a stack of runs to the end, or until `watch` returns [`Control::Stop`]. Continues from
/// the checkpoint if it belongs to these runs and this version of the rule, and writes a checkpoint
/// every `checkpoint_every`, or less often if that takes long.
///
/// The specifications may differ as [`TrainSpec::stacks_with`] says. The result depends only on
/// specifications, data and the kind of processor, not on threads or interruptions. The caller
/// deletes the checkpoint after storing the result.
pub fn train(
    data: &DataSet,
    specs: &[TrainSpec],
    checkpoint: &Path,
    checkpoint_every: Duration,
    watch: &mut dyn FnMut(TrainProgress<'_>) -> Control,
) -> Result<TrainOutcome, TrainError> {
    let mut run = Training::new(data, specs, checkpoint)?;
    let began = run.trainer.iteration();
    let total = specs[0].iterations;
    while run.trainer.iteration() < total && run.is_live() {
        let measured: Vec<_> =
            run.records.iter().map(|record| record.measurements.last().copied()).collect();
        let (iteration, stale_checkpoint) = (run.trainer.iteration(), run.stale_checkpoint);
        let progress = TrainProgress { iteration, began, stale_checkpoint, measured: &measured };
        if watch(progress) == Control::Stop {
            run.save()?;
            return Ok(TrainOutcome::Stopped(run.trainer.iteration()));
        }
        run.advance()?;
        // At 0, a checkpoint is written at every opportunity.
        let least = if checkpoint_every.is_zero() { 0 } else { SAVES_APART };
        if run.saved.elapsed() >= checkpoint_every.max(least * run.save_took) {
            run.save()?;
        }
    }
    // Storing the result, which the caller does next, may fail, for example on a full disk.
    run.save()?;
    run.finished()
}

struct Training<'a> {
    trainer: Trainer<'a>,
    specs: &'a [TrainSpec],
    path: &'a Path,
    records: Vec<RunRecord>,
    stale_checkpoint: Option<u32>,
    /// Seconds before the last interruption.
    earlier_seconds: f64,
    start: Instant,
    /// When the last checkpoint was complete, and the time that it took.
    saved: Instant,
    save_took: Duration,
}

impl<'a> Training<'a> {
    fn new(data: &'a DataSet, specs: &'a [TrainSpec], path: &'a Path) -> Result<Self, TrainError> {
        let fresh =
            RunRecord { status: RunStatus::Finished, measurements: Vec::new(), tails: Vec::new() };
        let now = Instant::now();
        let mut training = Self {
            trainer: Trainer::new(data, specs)?,
            specs,
            path,
            records: vec![fresh; specs.len()],
            stale_checkpoint: None,
            earlier_seconds: 0.0,
            start: now,
            saved: now,
            save_took: Duration::ZERO,
        };
        match TrainCheckpoint::read(path, specs)? {
            StoredCheckpoint::Current(checkpoint) => training.restore(*checkpoint)?,
            StoredCheckpoint::Missing => training.measure()?,
            StoredCheckpoint::OtherVersion(version) => {
                training.stale_checkpoint = Some(version);
                training.measure()?;
            }
        }
        Ok(training)
    }

    fn restore(
        &mut self,
        TrainCheckpoint { header, tensors }: TrainCheckpoint,
    ) -> Result<(), TrainError> {
        self.trainer.restore(header.iteration, tensors).map_err(|error| match error {
            TrainError::Engine(EngineError::Tensor(source)) => {
                TrainCheckpointError::Tensors { path: self.path.into(), source }.into()
            }
            error => error,
        })?;
        (self.records, self.earlier_seconds) = (header.records, header.seconds);
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.earlier_seconds + self.start.elapsed().as_secs_f64()
    }

    fn is_live(&self) -> bool {
        self.records.iter().any(RunRecord::is_live)
    }

    fn measurement_due(&self) -> bool {
        let TrainSpec { iterations, measure_every, .. } = self.specs[0];
        let iteration = self.trainer.iteration();
        iteration.is_multiple_of(measure_every) || iteration == iterations
    }

    fn tails_due(&self) -> bool {
        self.specs[0].tail_index.is_some_and(|every| self.trainer.iteration().is_multiple_of(every))
    }

    /// Takes steps up to the next measurement, or for as long as [`RESPONSE`].
    fn advance(&mut self) -> Result<(), TrainError> {
        let begun = Instant::now();
        loop {
            self.trainer.step()?;
            let due = self.measurement_due() || self.tails_due();
            // On a GPU, reading a loss waits for the device, so it is done only with the
            // measurements.
            if due || !self.trainer.losses_wait() {
                let losses = self.trainer.losses()?;
                self.note_divergence(&losses);
            }
            if !self.is_live() {
                return Ok(());
            }
            if due {
                return self.measure();
            }
            if begun.elapsed() > RESPONSE {
                return Ok(());
            }
        }
    }

    fn note_divergence(&mut self, losses: &[f64]) {
        for (record, &loss) in self.records.iter_mut().zip(losses) {
            if !loss.is_finite() && record.is_live() {
                record.status = RunStatus::Diverged { iteration: self.trainer.iteration(), loss };
            }
        }
    }

    /// Makes the measurements that are due.
    fn measure(&mut self) -> Result<(), TrainError> {
        let TrainSpec { iterations, measure_every, .. } = self.specs[0];
        let iteration = self.trainer.iteration();
        if self.measurement_due() {
            // The means of the last two measurements are reported, so these use all training
            // images.
            let last_before = (iterations - 1) / measure_every * measure_every;
            let measured = self.trainer.measure(iteration >= last_before)?;
            // A divergence in the last step shows only in this measurement.
            self.note_divergence(
                &measured.iter().map(|measured| measured.train_loss).collect::<Vec<_>>(),
            );
            for (record, measured) in self.records.iter_mut().zip(measured) {
                if record.is_live() {
                    record.measurements.push(measured);
                }
            }
        }
        if self.tails_due() {
            let tails = self.trainer.tails()?;
            for (record, tails) in
                self.records.iter_mut().zip(tails).filter(|(record, _)| record.is_live())
            {
                record.tails.extend(tails);
            }
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), TrainError> {
        let began = Instant::now();
        let (iteration, records) = (self.trainer.iteration(), self.records.clone());
        let header = CheckpointHeader::new(iteration, self.seconds(), records, self.specs);
        TrainCheckpoint { header, tensors: self.trainer.save()? }.write(self.path)?;
        self.saved = Instant::now();
        self.save_took = began.elapsed();
        Ok(())
    }

    fn finished(mut self) -> Result<TrainOutcome, TrainError> {
        let (seconds, stack) = (self.seconds(), self.specs.len());
        let result = |(record, spec): (RunRecord, &TrainSpec)| RunResult {
            status: record.status,
            seconds,
            stack,
            spec: spec.clone(),
            summary: FinalMeans::of(&record.measurements),
            measurements: record.measurements,
            tails: record.tails,
        };
        let results = self.records.into_iter().zip(self.specs).map(result).collect();
        Ok(TrainOutcome::Finished(results, self.trainer.networks()?))
    }
}

//! Training from start, or from a checkpoint, to the end: steps, measurements, divergence, stops.

use super::calibration::LayerCalibration;
use super::checkpoint::{Checkpoint, CheckpointError, Header};
use super::measurement::{Measurement, Summary};
use super::tails::LayerTail;
use super::trainer::Trainer;
use crate::data::{BatchError, DataSet};
use crate::mlp::Mlp;
use crate::settings::Settings;
use burn::record::RecorderError;
use burn::tensor::backend::Backend;
use fuld::Control;
use fuld_burn::StackError;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Why training could not go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// Settings that the rule refuses.
    #[error(transparent)]
    Rule(#[from] StackError),
    /// Noise that is no stable law.
    #[error(transparent)]
    Noise(#[from] levy_stable::ParameterError),
    /// Minibatches that the data set cannot give.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The checkpoint cannot be read, written or used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The optimizer's state cannot be put into bytes or read from them.
    #[error("the state of the optimizer: {0}")]
    State(#[from] RecorderError),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum Status {
    /// It took all its steps.
    Finished,
    /// Its loss was not a finite number.
    Diverged {
        /// After so many steps.
        iteration: u64,
        /// What the loss was.
        loss: f64,
    },
}

/// What is known of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(flatten)]
    status: Status,
    measurements: Vec<Measurement>,
    #[serde(default)]
    tails: Vec<LayerTail>,
    #[serde(default)]
    found: Vec<LayerCalibration>,
}

impl Record {
    /// Whether its loss is a finite number so far.
    fn live(&self) -> bool {
        self.status == Status::Finished
    }
}

/// All that a run left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// How it ended.
    #[serde(flatten)]
    pub status: Status,
    /// Wall-clock time of all its sittings; in a stack, that of the whole stack.
    pub seconds: f64,
    /// Runs that were trained together.
    pub stack: usize,
    /// What determined it.
    pub settings: Settings,
    /// Means of the last two measurements; none for a run that diverged before the first.
    pub summary: Option<Summary>,
    /// All measurements.
    pub measurements: Vec<Measurement>,
    /// Tail indices, if they were asked for.
    #[serde(default)]
    pub tails: Vec<LayerTail>,
    /// What was found from the gradients at each measurement, where α or scale was auto.
    #[serde(default)]
    pub found: Vec<LayerCalibration>,
}

impl RunResult {
    /// Steps that it took.
    pub fn reached(&self) -> u64 {
        match self.status {
            Status::Finished => self.settings.iterations,
            Status::Diverged { iteration, .. } => iteration,
        }
    }
}

/// Where training is, for whoever watches.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Steps taken.
    pub iteration: u64,
    /// The step this sitting began at.
    pub began: u64,
    /// The last measurement of each run.
    pub measured: &'a [Option<Measurement>],
}

/// How a sitting ended.
pub enum Ended<B: Backend> {
    /// All runs are done.
    Finished(Vec<RunResult>, Mlp<B>),
    /// It was stopped and a checkpoint written, after so many steps.
    Stopped(u64),
}

/// Trains the runs to the end, or until `watch` says stop. Goes on from the checkpoint if there is one, and writes it as often as
/// `checkpoint_every` says.
///
/// The settings of a stack may differ in seed, α, friction or momentum, scale and noise. The result depends on settings and data
/// alone: not on threads, stops or kills. The checkpoint stays until the caller has put the result away.
pub fn train<B: Backend>(
    data: &DataSet,
    settings: &[Settings],
    device: &B::Device,
    checkpoint: &Path,
    checkpoint_every: Duration,
    watch: &mut dyn FnMut(Progress<'_>) -> Control,
) -> Result<Ended<B>, TrainError> {
    let mut run = Training::<B>::new(data, settings, device, checkpoint)?;
    let began = run.trainer.iteration();
    let total = settings[0].iterations;
    while run.trainer.iteration() < total && run.alive() {
        let measured: Vec<_> = run.records.iter().map(|record| record.measurements.last().copied()).collect();
        let progress = Progress { iteration: run.trainer.iteration(), began, measured: &measured };
        if watch(progress) == Control::Stop {
            run.save()?;
            return Ok(Ended::Stopped(run.trainer.iteration()));
        }
        run.advance()?;
        if run.saved.elapsed() >= checkpoint_every {
            run.save()?;
        }
    }
    // What follows is the caller's, and may fail: a full disk, say.
    run.save()?;
    Ok(run.finished())
}

struct Training<'a, B: Backend> {
    trainer: Trainer<'a, B>,
    settings: &'a [Settings],
    path: &'a Path,
    records: Vec<Record>,
    /// Seconds of earlier sittings.
    before: f64,
    start: Instant,
    saved: Instant,
}

impl<'a, B: Backend> Training<'a, B> {
    fn new(
        data: &'a DataSet,
        settings: &'a [Settings],
        device: &B::Device,
        path: &'a Path,
    ) -> Result<Self, TrainError> {
        let fresh = Record {
            status: Status::Finished,
            measurements: Vec::new(),
            tails: Vec::new(),
            found: Vec::new(),
        };
        let now = Instant::now();
        let mut this = Self {
            trainer: Trainer::new(data, settings, device)?,
            settings,
            path,
            records: vec![fresh; settings.len()],
            before: 0.0,
            start: now,
            saved: now,
        };
        match Checkpoint::read(path)? {
            Some(checkpoint) => this.restore(checkpoint)?,
            None => this.measure()?,
        }
        Ok(this)
    }

    fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), TrainError> {
        let Checkpoint { header, state } = checkpoint.of(self.path, &self.identities())?;
        self.trainer.restore(header.iteration, state)?;
        (self.records, self.before) = (header.records, header.seconds);
        Ok(())
    }

    fn identities(&self) -> Vec<String> {
        self.settings.iter().map(Settings::identity).collect()
    }

    fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    fn alive(&self) -> bool {
        self.records.iter().any(Record::live)
    }

    fn measurement_due(&self) -> bool {
        let Settings { iterations, measure_every, .. } = self.settings[0];
        let iteration = self.trainer.iteration();
        iteration.is_multiple_of(measure_every) || iteration == iterations
    }

    fn tails_due(&self) -> bool {
        self.settings[0].tail_index.is_some_and(|every| self.trainer.iteration().is_multiple_of(every))
    }

    /// Steps up to the next measurement, or a few where each takes long, so that stops come soon.
    fn advance(&mut self) -> Result<(), TrainError> {
        let begun = Instant::now();
        loop {
            let losses = self.trainer.step();
            let due = self.measurement_due() || self.tails_due();
            // On a device, looking at a loss means waiting for it.
            if due || self.trainer.on_host() {
                self.look_at(&losses.into_data().iter::<f64>().collect::<Vec<_>>());
            }
            if !self.alive() {
                return Ok(());
            }
            if due {
                return self.measure();
            }
            if begun.elapsed() > Duration::from_millis(50) {
                return Ok(());
            }
        }
    }

    fn look_at(&mut self, losses: &[f64]) {
        for (record, &loss) in self.records.iter_mut().zip(losses) {
            if !loss.is_finite() && record.live() {
                record.status = Status::Diverged { iteration: self.trainer.iteration(), loss };
            }
        }
    }

    /// Whatever measurements are due.
    fn measure(&mut self) -> Result<(), TrainError> {
        let Settings { iterations, measure_every, .. } = self.settings[0];
        let iteration = self.trainer.iteration();
        if self.measurement_due() {
            // The last two are what is reported.
            let last_before = (iterations - 1) / measure_every * measure_every;
            let measured = self.trainer.measure(iteration >= last_before);
            // What the last step did no later step will notice.
            self.look_at(&measured.iter().map(|measured| measured.train_loss).collect::<Vec<_>>());
            let found = self.trainer.found();
            for (record, (measured, found)) in self
                .records
                .iter_mut()
                .zip(measured.into_iter().zip(found))
                .filter(|(record, _)| record.live())
            {
                record.measurements.push(measured);
                record.found.extend(found);
            }
        }
        if self.tails_due() {
            let tails = self.trainer.tails()?;
            for (record, tails) in self.records.iter_mut().zip(tails).filter(|(record, _)| record.live()) {
                record.tails.extend(tails);
            }
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), TrainError> {
        let header = Header {
            iteration: self.trainer.iteration(),
            seconds: self.seconds(),
            identities: self.identities(),
            records: self.records.clone(),
        };
        Checkpoint { header, state: self.trainer.state()? }.write(self.path)?;
        self.saved = Instant::now();
        Ok(())
    }

    fn finished(self) -> Ended<B> {
        let (seconds, stack) = (self.seconds(), self.settings.len());
        let result = |(record, settings): (Record, &Settings)| RunResult {
            status: record.status,
            seconds,
            stack,
            settings: settings.clone(),
            summary: Summary::of(&record.measurements),
            measurements: record.measurements,
            tails: record.tails,
            found: record.found,
        };
        let results = self.records.into_iter().zip(self.settings).map(result).collect();
        Ended::Finished(results, self.trainer.net().clone())
    }
}

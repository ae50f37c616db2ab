//! Execution of a sweep: worker threads train one stack of runs after the other.

use super::failures;
use super::runs::SweepRun;
use crate::checksum;
use crate::data::DataSet;
use crate::run_all::{Workers, run_all};
use crate::run_folder::{DataLocation, RunFolder, RunFolderError};
use crate::spec::TrainSpec;
use crate::stored::Stored;
use crate::train::{Measurement, RunResult, TrainOutcome, TrainProgress, train};
use fuld::Control;
use fuld::folder::FolderError;
use serde::Serialize;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// An event of a sweep.
#[derive(Debug)]
pub enum SweepEvent<'a> {
    /// A thread started a stack of runs.
    Began {
        /// The thread.
        worker: usize,
        /// The runs.
        runs: &'a [SweepRun],
    },
    /// A stack of runs made progress.
    Progress {
        /// The thread.
        worker: usize,
        /// The runs.
        runs: &'a [SweepRun],
        /// Steps taken.
        iteration: u64,
        /// The last measurement of the first run.
        measured: Option<Measurement>,
    },
    /// A run finished, diverged or failed.
    Ended {
        /// The thread.
        worker: usize,
        /// The run.
        run: &'a SweepRun,
        /// The result, or the error.
        result: Result<&'a RunResult, &'a str>,
    },
    /// A run already had a result, or another process is training it.
    Skipped {
        /// The run.
        run: &'a SweepRun,
        /// Whether another process is training it.
        elsewhere: bool,
    },
    /// A run has a result or checkpoint of another version of the training rule, and is trained
    /// again.
    Stale {
        /// The run.
        run: &'a SweepRun,
        /// The version that made it.
        version: u32,
    },
}

/// The numbers of finished, skipped and failed runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SweepCounts {
    /// Runs that finished or diverged in this sweep.
    pub done: usize,
    /// Runs that already had a result.
    pub before: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Runs that another process is training.
    pub elsewhere: usize,
    /// Whether the sweep was stopped before its end.
    pub stopped: bool,
}

/// Trains stacks of runs. Each worker trains one stack after another and writes a checkpoint every
/// `checkpoint_every`.
///
/// `watch` receives every event. If it returns [`Control::Stop`], checkpoints are written and the
/// sweep ends. A run that fails or panics is recorded, and the sweep continues. `data` contains the
/// data sets and their locations by fingerprint.
pub fn sweep(
    stacks: &[Vec<SweepRun>],
    data: &HashMap<String, (DataSet, DataLocation)>,
    out: &Path,
    workers: Workers,
    checkpoint_every: Duration,
    watch: &(dyn Fn(SweepEvent<'_>) -> Control + Sync),
) -> io::Result<SweepCounts> {
    let sweep = Sweep { data, out, checkpoint_every, watch, counts: Mutex::default() };
    run_all(stacks, workers, &|worker, stack| sweep.train_missing(worker, stack))?;
    Ok(sweep.counts.into_inner().unwrap_or_else(PoisonError::into_inner))
}

struct Sweep<'a> {
    data: &'a HashMap<String, (DataSet, DataLocation)>,
    out: &'a Path,
    checkpoint_every: Duration,
    watch: &'a (dyn Fn(SweepEvent<'_>) -> Control + Sync),
    counts: Mutex<SweepCounts>,
}

impl Sweep<'_> {
    fn count(&self, change: impl FnOnce(&mut SweepCounts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn control(&self) -> Control {
        let mut stopped = false;
        self.count(|counts| stopped = counts.stopped);
        if stopped { Control::Stop } else { Control::Continue }
    }

    /// Passes an event on, and records a request to stop.
    fn report(&self, event: SweepEvent<'_>) -> Control {
        if (self.watch)(event) == Control::Stop {
            self.count(|counts| counts.stopped = true);
        }
        self.control()
    }

    /// Trains the runs of a stack that have no result yet. Returns an error only if a failure
    /// cannot be recorded; it ends the sweep.
    fn train_missing(&self, worker: usize, stack: &[SweepRun]) -> io::Result<Control> {
        let mut open = HashMap::new();
        for run in stack {
            match self.open(run) {
                Ok(Some(folder)) => drop(open.insert(run.folder.clone(), folder)),
                Ok(None) => {}
                Err(error) => self.fail(worker, run, &error.to_string())?,
            }
        }
        if open.is_empty() {
            return Ok(self.control());
        }
        // An unfinished stack continues as a whole, even if some of its runs have a result by now:
        // its checkpoint fits no other stack.
        let begun = stack.len() > 1 && self.stack_checkpoint(stack).exists();
        let runs: Vec<SweepRun> =
            stack.iter().filter(|run| begun || open.contains_key(&run.folder)).cloned().collect();
        self.report(SweepEvent::Began { worker, runs: &runs });
        let trained = self.train(worker, &runs, &open);
        if let Err(error) = trained {
            for run in runs.iter().filter(|run| open.contains_key(&run.folder)) {
                self.fail(worker, run, &error)?;
            }
        }
        Ok(self.control())
    }

    /// Returns the path of the checkpoint of a stack.
    fn stack_checkpoint(&self, runs: &[SweepRun]) -> PathBuf {
        let specs: String = runs.iter().map(|run| run.spec.to_toml()).collect();
        let hash = &checksum::of_bytes(specs.as_bytes())[..16];
        self.out.join(format!("stack-{hash}.bin"))
    }

    /// Opens the folder of a run. Returns `None` if the run has a result or another process is
    /// training it.
    fn open(&self, run: &SweepRun) -> Result<Option<RunFolder>, RunFolderError> {
        let folder = match RunFolder::open_in_sweep(&run.folder) {
            Ok(folder) => folder,
            Err(RunFolderError::Folder(FolderError::InUse(_))) => {
                self.count(|counts| counts.elsewhere += 1);
                self.report(SweepEvent::Skipped { run, elsewhere: true });
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match folder.result(&run.spec)? {
            Stored::Current(_) => {
                self.count(|counts| counts.before += 1);
                self.report(SweepEvent::Skipped { run, elsewhere: false });
                return Ok(None);
            }
            Stored::OtherVersion(version) => {
                self.report(SweepEvent::Stale { run, version });
                folder.clear()?;
            }
            Stored::Missing | Stored::OtherSpec(_) => {}
        }
        if let Some((_, location)) = self.data.get(&run.spec.data_fingerprint) {
            folder.start(&run.spec, location)?;
        }
        Ok(Some(folder))
    }

    fn fail(&self, worker: usize, run: &SweepRun, error: &str) -> io::Result<()> {
        self.count(|counts| counts.failed += 1);
        self.report(SweepEvent::Ended { worker, run, result: Err(error) });
        failures::record(self.out, &run.spec, error)
    }

    /// Trains runs together, and stores the results of those whose folders are open.
    fn train(
        &self,
        worker: usize,
        runs: &[SweepRun],
        open: &HashMap<PathBuf, RunFolder>,
    ) -> Result<(), String> {
        let specs: Vec<TrainSpec> = runs.iter().map(|run| run.spec.clone()).collect();
        let (data, _) = self
            .data
            .get(&specs[0].data_fingerprint)
            .ok_or_else(|| format!("{} was not loaded", specs[0].data))?;
        let checkpoint = match runs {
            [run] => open[&run.folder].checkpoint(),
            _ => self.stack_checkpoint(runs),
        };
        let mut reported = false;
        let mut watch = |progress: TrainProgress<'_>| {
            if let (Some(version), false) = (progress.stale_checkpoint, reported) {
                reported = true;
                self.report(SweepEvent::Stale { run: &runs[0], version });
            }
            let measured = progress.measured.first().copied().flatten();
            self.report(SweepEvent::Progress {
                worker,
                runs,
                iteration: progress.iteration,
                measured,
            })
        };
        let outcome = train(data, &specs, &checkpoint, self.checkpoint_every, &mut watch)
            .map_err(|error| error.to_string())?;
        let TrainOutcome::Finished(results, networks) = outcome else { return Ok(()) };
        for ((run, result), network) in runs.iter().zip(&results).zip(&networks) {
            let Some(folder) = open.get(&run.folder) else { continue };
            folder.store(result, network).map_err(|error| error.to_string())?;
            failures::forget(self.out, &run.spec);
            self.count(|counts| counts.done += 1);
            self.report(SweepEvent::Ended { worker, run, result: Ok(result) });
        }
        // The checkpoint of a stack. `RunFolder::store` has deleted that of a single run.
        let _ = std::fs::remove_file(checkpoint);
        Ok(())
    }
}

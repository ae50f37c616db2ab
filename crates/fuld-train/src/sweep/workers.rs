//! Workers that take jobs, or stacks of them, off a queue until there are none.

use super::failures;
use super::job::Job;
use crate::data::DataSet;
use crate::run_folder::{FolderError, RunFolder, Weights};
use crate::settings::Settings;
use crate::train::{Ended, Measurement, Progress, RunResult, train};
use burn::tensor::backend::Backend;
use fuld::Control;
use fuld::durable::fingerprint;
use serde::Serialize;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What happens while a sweep runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// A worker began a stack of jobs.
    Began {
        /// Which worker.
        worker: usize,
        /// The jobs.
        jobs: &'a [Job],
    },
    /// It is so far.
    Progress {
        /// Which worker.
        worker: usize,
        /// The jobs.
        jobs: &'a [Job],
        /// Steps taken.
        iteration: u64,
        /// The last measurement of the first of them.
        measured: Option<Measurement>,
    },
    /// A job ended.
    Ended {
        /// Which worker.
        worker: usize,
        /// The job.
        job: &'a Job,
        /// What it left, or what went wrong.
        result: Result<&'a RunResult, &'a str>,
    },
    /// A job had ended before, or another process is at it.
    Skipped {
        /// The job.
        job: &'a Job,
        /// Whether another process is at it.
        elsewhere: bool,
    },
}

/// What became of the jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Ended in this sweep, diverged ones included.
    pub done: usize,
    /// Ended before.
    pub before: usize,
    /// Failed.
    pub failed: usize,
    /// Another process is at them.
    pub elsewhere: usize,
    /// Whether the sweep was stopped before its end.
    pub stopped: bool,
}

/// Does the jobs with so many workers, each of which computes on one thread and writes a checkpoint as often as said.
///
/// `watch` hears of everything, and stops the sweep by its answer; checkpoints are written first. A job that fails, or panics, is noted
/// and the sweep goes on.
pub fn sweep<B: Backend>(
    stacks: &[Vec<Job>],
    data: &HashMap<String, DataSet>,
    out: &Path,
    workers: usize,
    checkpoint_every: Duration,
    watch: &(dyn Fn(Event<'_>) -> Control + Sync),
) -> std::io::Result<Tally> {
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    let sweep =
        Sweep::<B> { data, out, checkpoint_every, watch, tally: &tally, backend: std::marker::PhantomData };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers.min(stacks.len()).max(1))
            .map(|worker| {
                let (next, sweep) = (&next, &sweep);
                scope.spawn(move || -> std::io::Result<()> {
                    // Measurements go over the threads of the pool they run in: of this one.
                    let pool = rayon::ThreadPoolBuilder::new()
                        .num_threads(1)
                        .build()
                        .map_err(std::io::Error::other)?;
                    while let Some(stack) = stacks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if sweep.stopped() {
                            break;
                        }
                        pool.install(|| sweep.take(worker, stack))?;
                    }
                    Ok(())
                })
            })
            .collect();
        handles.into_iter().try_for_each(|handle| {
            handle.join().unwrap_or_else(|_| Err(std::io::Error::other("a worker of the sweep panicked")))
        })
    })?;
    Ok(tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

struct Sweep<'a, B> {
    data: &'a HashMap<String, DataSet>,
    out: &'a Path,
    checkpoint_every: Duration,
    watch: &'a (dyn Fn(Event<'_>) -> Control + Sync),
    tally: &'a Mutex<Tally>,
    backend: std::marker::PhantomData<fn() -> B>,
}

impl<B: Backend> Sweep<'_, B> {
    fn count(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    fn stopped(&self) -> bool {
        let mut stopped = false;
        self.count(|tally| stopped = tally.stopped);
        stopped
    }

    /// Tells the watcher, and takes note if it wants to stop.
    fn tell(&self, event: Event<'_>) -> Control {
        let control = (self.watch)(event);
        if control == Control::Stop {
            self.count(|tally| tally.stopped = true);
        }
        if self.stopped() { Control::Stop } else { Control::Continue }
    }

    /// Trains what of a stack is not done yet. An error is one of the disk, after which going on makes no sense.
    fn take(&self, worker: usize, stack: &[Job]) -> std::io::Result<()> {
        let mut open = HashMap::new();
        for job in stack {
            match self.open(job) {
                Ok(Some(folder)) => drop(open.insert(job.folder.clone(), folder)),
                Ok(None) => {}
                Err(error) => self.failed(worker, job, &error.to_string())?,
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        // A stack that was under way goes on whole, whatever of it is done by now: its checkpoint fits no other.
        let begun = stack.len() > 1 && self.stack_checkpoint(stack).exists();
        let jobs: Vec<Job> =
            stack.iter().filter(|job| begun || open.contains_key(&job.folder)).cloned().collect();
        self.tell(Event::Began { worker, jobs: &jobs });
        let trained = catch_unwind(AssertUnwindSafe(|| self.train(worker, &jobs, &open)));
        let trained = trained.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("for an unknown reason");
            Err(format!("panicked: {text}"))
        });
        match trained {
            Ok(()) => Ok(()),
            Err(error) => jobs
                .iter()
                .filter(|job| open.contains_key(&job.folder))
                .try_for_each(|job| self.failed(worker, job, &error)),
        }
    }

    /// Where a stack of jobs is saved.
    fn stack_checkpoint(&self, jobs: &[Job]) -> PathBuf {
        let identity: String = jobs.iter().map(|job| job.settings.identity()).collect();
        self.out.join(format!("stack-{:016x}.bin", fingerprint(identity.as_bytes())))
    }

    /// The folder of a job that is still to do.
    fn open(&self, job: &Job) -> Result<Option<RunFolder>, FolderError> {
        let folder = match RunFolder::open(&job.folder) {
            Ok(folder) => folder,
            Err(FolderError::Folder(fuld::folder::FolderError::InUse(_))) => {
                self.count(|tally| tally.elsewhere += 1);
                self.tell(Event::Skipped { job, elsewhere: true });
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if folder.result(&job.settings)?.is_some() {
            self.count(|tally| tally.before += 1);
            self.tell(Event::Skipped { job, elsewhere: false });
            return Ok(None);
        }
        Ok(Some(folder))
    }

    fn failed(&self, worker: usize, job: &Job, error: &str) -> std::io::Result<()> {
        self.count(|tally| tally.failed += 1);
        self.tell(Event::Ended { worker, job, result: Err(error) });
        failures::note(self.out, &job.settings, error)
    }

    /// Trains jobs together, and puts away the results of those whose folders are open.
    fn train(&self, worker: usize, jobs: &[Job], open: &HashMap<PathBuf, RunFolder>) -> Result<(), String> {
        let settings: Vec<Settings> = jobs.iter().map(|job| job.settings.clone()).collect();
        let data = self
            .data
            .get(&settings[0].data_fingerprint)
            .ok_or_else(|| format!("{} was not loaded", settings[0].data))?;
        let checkpoint = match jobs {
            [job] => open[&job.folder].checkpoint(),
            _ => self.stack_checkpoint(jobs),
        };
        let mut watch = |progress: Progress<'_>| {
            let measured = progress.measured.first().copied().flatten();
            self.tell(Event::Progress { worker, jobs, iteration: progress.iteration, measured })
        };
        let device = B::Device::default();
        let ended = train::<B>(data, &settings, &device, &checkpoint, self.checkpoint_every, &mut watch)
            .map_err(|error| error.to_string())?;
        let Ended::Finished(results, net) = ended else { return Ok(()) };
        for (run, (job, result)) in jobs.iter().zip(&results).enumerate() {
            let Some(folder) = open.get(&job.folder) else { continue };
            folder.keep(result, &Weights::of(&net, run)).map_err(|error| error.to_string())?;
            failures::forget(self.out, &job.settings);
            self.count(|tally| tally.done += 1);
            self.tell(Event::Ended { worker, job, result: Ok(result) });
        }
        // Of a stack; that of a single run is gone already.
        let _ = std::fs::remove_file(checkpoint);
        Ok(())
    }
}

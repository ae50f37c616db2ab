//! A run in a background thread.
//!
//! [`Background::start`] starts the thread. Other threads read its progress, pause or stop it, and
//! ask for the draws made so far. Both sides share a [`Status`] behind a mutex: the run reads the
//! requests there each time it reports progress.

use crate::callable::Raised;
use fuld::chains::{Layout, Outcome, Progress, RunError, Sink, WarmState};
use fuld::{Control, MemorySink, Run, ZarrSink};
use fuld_sample::Target;
use pyo3::PyErr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

/// The requests of other threads, and the reports of the run.
#[derive(Default)]
struct Status {
    paused: bool,
    stop: bool,
    /// Whether the draws made so far are requested.
    draws_requested: bool,
    /// Number of times the run has flushed its draws to the sink.
    deliveries: u64,
    progress: Option<Progress>,
    /// Steps at the first report: approximately those made before the run was resumed.
    first_steps: Option<u64>,
    outcome: Option<Result<Outcome, RunError>>,
    finished: bool,
}

/// What a thread does.
pub(crate) enum Task {
    /// The whole run.
    Whole,
    /// The warm-up of all chains.
    WarmUp,
    /// Some chains, from the state after the warm-up.
    Part(WarmState),
}

/// A run that has been started.
pub(crate) struct Background {
    status: Mutex<Status>,
    changed: Condvar,
    /// The draws of a run in memory.
    samples: Mutex<MemorySink>,
    /// The state after the warm-up, if that is the task.
    warm_state: Mutex<Option<WarmState>>,
    store: Option<PathBuf>,
    /// The exception of a potential that is a Python function.
    raised: Option<Arc<Raised>>,
    /// The thread of the run.
    thread: OnceLock<ThreadId>,
}

/// Locks a mutex, also after a panic: all values behind these mutexes are valid between any two
/// statements.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Background {
    /// Starts a run that keeps its draws in memory, or writes them to a store. Its thread calls
    /// `around` with the work, which `around` must call.
    pub(crate) fn start(
        run: Run,
        task: Task,
        target: Arc<Target>,
        raised: Option<Arc<Raised>>,
        store: Option<PathBuf>,
        around: impl FnOnce(&mut (dyn FnMut() + Send)) + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let this = Arc::new(Self {
            status: Mutex::default(),
            changed: Condvar::new(),
            samples: Mutex::default(),
            warm_state: Mutex::default(),
            store,
            raised,
            thread: OnceLock::new(),
        });
        let watched = Arc::clone(&this);
        let work = move || {
            // Sets `finished` after a panic too, so that no thread waits for ever.
            let _finish = Finish(&watched);
            let _ = watched.thread.set(std::thread::current().id());
            around(&mut || {
                let store = |path: &PathBuf| ZarrSink::new(path).with_names(target.names());
                let mut sink =
                    CountingSink { run: &watched, store: watched.store.as_ref().map(store) };
                let (potential, report) =
                    (target.potential(), &mut |progress: &_| watched.report(progress));
                let outcome = match &task {
                    Task::Whole => run.stream(potential, &mut sink, report),
                    Task::Part(state) => run.continue_from(state, potential, &mut sink, report),
                    Task::WarmUp => run.warm_up(potential, report).map(|state| {
                        let stopped = state.is_none();
                        *locked(&watched.warm_state) = state;
                        Outcome { stopped, ..Outcome::default() }
                    }),
                };
                locked(&watched.status).outcome = Some(outcome);
            });
        };
        std::thread::Builder::new().name("fuld".into()).spawn(work)?;
        Ok(this)
    }

    /// Returns whether the caller is the thread of the run, inside its potential: that thread must
    /// not wait for the end of the run.
    pub(crate) fn is_inside(&self) -> bool {
        self.thread.get() == Some(&std::thread::current().id())
    }

    /// Stores a progress report of the run and returns how it continues. Blocks while the run is
    /// paused.
    fn report(&self, progress: &Progress) -> Control {
        let mut status = locked(&self.status);
        status.progress = Some(*progress);
        status.first_steps.get_or_insert(progress.steps);
        while status.paused && !status.stop && !status.draws_requested && !self.has_failed() {
            status = self.changed.wait(status).unwrap_or_else(PoisonError::into_inner);
        }
        if status.stop {
            Control::Stop
        } else if std::mem::take(&mut status.draws_requested) {
            Control::Deliver
        } else {
            Control::Continue
        }
    }

    fn change(&self, change: impl FnOnce(&mut Status)) {
        change(&mut locked(&self.status));
        self.changed.notify_all();
    }

    /// Pauses or resumes the run.
    pub(crate) fn pause(&self, paused: bool) {
        self.change(|status| status.paused = paused);
    }

    /// Asks the run to stop.
    pub(crate) fn stop(&self) {
        self.change(|status| status.stop = true);
        // After the status: a call of the function that is refused because of this must find the
        // reason there.
        if let Some(raised) = &self.raised {
            raised.stop();
        }
    }

    fn has_failed(&self) -> bool {
        self.raised.as_ref().is_some_and(|raised| raised.has_failed())
    }

    /// Takes the exception that the function raised, if any.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.as_ref()?.take()
    }

    /// Requests the draws made so far, and returns the number of deliveries before the request.
    pub(crate) fn request_draws(&self) -> u64 {
        let mut before = 0;
        self.change(|status| {
            status.draws_requested = true;
            before = status.deliveries;
        });
        before
    }

    /// Waits for the end of the run, or for more than `deliveries` deliveries, at most for
    /// `longest`. Returns whether one of them has happened.
    pub(crate) fn wait(&self, deliveries: Option<u64>, longest: Duration) -> bool {
        let done = |status: &Status| {
            status.finished || deliveries.is_some_and(|before| status.deliveries > before)
        };
        let waited =
            self.changed.wait_timeout_while(locked(&self.status), longest, |status| !done(status));
        done(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Returns the last report, and the steps of the first one.
    pub(crate) fn progress(&self) -> Option<(Progress, u64)> {
        let status = locked(&self.status);
        status.progress.zip(status.first_steps)
    }

    /// Returns whether the run is paused.
    pub(crate) fn is_paused(&self) -> bool {
        locked(&self.status).paused
    }

    /// Returns whether the thread of the run has ended.
    pub(crate) fn is_finished(&self) -> bool {
        locked(&self.status).finished
    }

    /// Takes the outcome of the run; None if the run has not ended, if it panicked, or if the
    /// outcome was taken before.
    pub(crate) fn take_outcome(&self) -> Option<Result<Outcome, RunError>> {
        locked(&self.status).outcome.take()
    }

    /// Returns the draws of a run in memory.
    pub(crate) fn samples(&self) -> MutexGuard<'_, MemorySink> {
        locked(&self.samples)
    }

    /// Takes the state after the warm-up, if that was the task.
    pub(crate) fn take_warm_state(&self) -> Option<WarmState> {
        locked(&self.warm_state).take()
    }

    /// Returns the store of a run that writes one.
    pub(crate) fn store(&self) -> Option<&Path> {
        self.store.as_deref()
    }
}

/// Sets `finished` when the thread ends.
struct Finish<'a>(&'a Background);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.change(|status| status.finished = true);
    }
}

/// A sink in memory or in a store that counts deliveries.
struct CountingSink<'a> {
    run: &'a Background,
    store: Option<ZarrSink>,
}

impl CountingSink<'_> {
    fn with_sink<T>(&mut self, act: impl FnOnce(&mut dyn Sink) -> T) -> T {
        match &mut self.store {
            Some(store) => act(store),
            None => act(&mut *self.run.samples()),
        }
    }
}

impl Sink for CountingSink<'_> {
    fn vacant(&self) -> io::Result<()> {
        self.store.as_ref().map_or(Ok(()), Sink::vacant)
    }

    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        self.with_sink(|sink| sink.begin(layout, done))
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        self.with_sink(|sink| sink.segment(first, values))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with_sink(|sink| sink.flush())?;
        self.run.change(|status| status.deliveries += 1);
        Ok(())
    }
}

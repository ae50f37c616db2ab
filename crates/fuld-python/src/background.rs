//! A run in a thread of its own, watched and steered from another.

use crate::callable::Raised;
use fuld::chains::{Layout, Outcome, Progress, RunError, Sink};
use fuld::{Control, MemorySink, Run, ZarrSink};
use fuld_sample::Target;
use pyo3::PyErr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

/// What the watcher wants, and what the run says.
#[derive(Default)]
struct Board {
    paused: bool,
    stop: bool,
    /// Draws are wanted on the way.
    wanted: bool,
    /// How often draws were handed over.
    deliveries: u64,
    progress: Option<Progress>,
    /// Steps at the first report: about those that were there when the run was resumed.
    first: Option<u64>,
    end: Option<Result<Outcome, RunError>>,
    finished: bool,
}

/// A run that was begun.
pub(crate) struct Background {
    board: Mutex<Board>,
    changed: Condvar,
    /// The draws of a run in memory.
    samples: Mutex<MemorySink>,
    store: Option<PathBuf>,
    /// Of a potential that is a function.
    raised: Option<Arc<Raised>>,
    /// Its thread.
    thread: OnceLock<ThreadId>,
}

/// A thread that panicked while it held the lock leaves flags and counts, which are whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Background {
    /// Begins a run, into memory or into a store. Its thread calls `around`, which must call what it is handed.
    pub(crate) fn start(
        run: Run,
        target: Arc<Target>,
        raised: Option<Arc<Raised>>,
        store: Option<PathBuf>,
        around: impl FnOnce(&mut (dyn FnMut() + Send)) + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let (board, samples) = (Mutex::default(), Mutex::default());
        let thread = OnceLock::new();
        let this = Arc::new(Self { board, changed: Condvar::new(), samples, store, raised, thread });
        let watched = Arc::clone(&this);
        let work = move || {
            // Also if it panics, so that nobody waits for ever.
            let _finish = Finish(&watched);
            let _ = watched.thread.set(std::thread::current().id());
            around(&mut || {
                let mut sink = Watched { run: &watched, store: watched.store.as_ref().map(ZarrSink::new) };
                let end = run.stream(target.potential(), &mut sink, &mut |progress| watched.heard(progress));
                locked(&watched.board).end = Some(end);
            });
        };
        std::thread::Builder::new().name("fuld".into()).spawn(work)?;
        Ok(this)
    }

    /// Whether the caller is the run itself, by way of its potential: it must not wait for its own end.
    pub(crate) fn is_inside(&self) -> bool {
        self.thread.get() == Some(&std::thread::current().id())
    }

    /// Called by the run between two breaths.
    fn heard(&self, progress: &Progress) -> Control {
        let mut board = locked(&self.board);
        board.progress = Some(*progress);
        board.first.get_or_insert(progress.steps);
        while board.paused && !board.stop && !board.wanted && !self.has_failed() {
            board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        if board.stop {
            Control::Stop
        } else if std::mem::take(&mut board.wanted) {
            Control::Deliver
        } else {
            Control::Continue
        }
    }

    fn change(&self, change: impl FnOnce(&mut Board)) {
        change(&mut locked(&self.board));
        self.changed.notify_all();
    }

    pub(crate) fn pause(&self, paused: bool) {
        self.change(|board| board.paused = paused);
    }

    pub(crate) fn stop(&self) {
        self.change(|board| board.stop = true);
        // After the board: who refuses a call because of this must find the reason there.
        if let Some(raised) = &self.raised {
            raised.stop();
        }
    }

    fn has_failed(&self) -> bool {
        self.raised.as_ref().is_some_and(|raised| raised.has_failed())
    }

    /// What the function raised, once.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.as_ref()?.take()
    }

    /// Asks for the draws made so far, and says how often any were handed over before.
    pub(crate) fn ask(&self) -> u64 {
        let mut before = 0;
        self.change(|board| {
            board.wanted = true;
            before = board.deliveries;
        });
        before
    }

    /// Waits until draws were handed over more often than this, or for the end, but no longer than that; says whether it came.
    pub(crate) fn wait(&self, deliveries: Option<u64>, longest: Duration) -> bool {
        let come =
            |board: &Board| board.finished || deliveries.is_some_and(|before| board.deliveries > before);
        let waited = self.changed.wait_timeout_while(locked(&self.board), longest, |board| !come(board));
        come(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// The last report, and the steps of the first.
    pub(crate) fn progress(&self) -> Option<(Progress, u64)> {
        let board = locked(&self.board);
        board.progress.zip(board.first)
    }

    pub(crate) fn is_paused(&self) -> bool {
        locked(&self.board).paused
    }

    pub(crate) fn is_finished(&self) -> bool {
        locked(&self.board).finished
    }

    /// What the run came to; None if it has not ended, was asked before, or panicked.
    pub(crate) fn end(&self) -> Option<Result<Outcome, RunError>> {
        locked(&self.board).end.take()
    }

    /// The draws of a run in memory.
    pub(crate) fn samples(&self) -> MutexGuard<'_, MemorySink> {
        locked(&self.samples)
    }

    /// Where the draws of another are.
    pub(crate) fn store(&self) -> Option<&Path> {
        self.store.as_deref()
    }
}

struct Finish<'a>(&'a Background);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.change(|board| board.finished = true);
    }
}

/// The sink of the run, which tells of deliveries.
struct Watched<'a> {
    run: &'a Background,
    store: Option<ZarrSink>,
}

impl Watched<'_> {
    fn place<T>(&mut self, act: impl FnOnce(&mut dyn Sink) -> T) -> T {
        match &mut self.store {
            Some(store) => act(store),
            None => act(&mut *self.run.samples()),
        }
    }
}

impl Sink for Watched<'_> {
    fn vacant(&self) -> io::Result<()> {
        self.store.as_ref().map_or(Ok(()), Sink::vacant)
    }

    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        self.place(|sink| sink.begin(layout, done))
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        self.place(|sink| sink.segment(first, values))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.place(|sink| sink.flush())?;
        self.run.change(|board| board.deliveries += 1);
        Ok(())
    }
}

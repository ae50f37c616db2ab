//! The runs whose threads may call Python, which they must not once the interpreter ends.

use crate::background::Background;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Touched only by threads that hold the interpreter's lock, so that a fork never finds it locked.
static RUNNING: Mutex<Vec<(u64, Arc<Background>)>> = Mutex::new(Vec::new());

fn running<'py>(_: Python<'py>) -> MutexGuard<'py, Vec<(u64, Arc<Background>)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name that a run will have here.
pub(crate) fn name() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Notes a run.
pub(crate) fn enter(py: Python<'_>, name: u64, run: Arc<Background>) {
    running(py).push((name, run));
}

/// Does the work of a run's thread. The thread keeps its place with the interpreter, which is cheaper than a new one for
/// every call; when the run is no longer noted here, the thread is done with Python.
pub(crate) fn within(name: u64, work: &mut (dyn FnMut() + Send)) {
    struct Leave<'py>(Python<'py>, u64);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            running(self.0).retain(|(name, _)| *name != self.1);
        }
    }
    Python::attach(|py| {
        let _leave = Leave(py, name);
        py.detach(work);
    });
}

/// Tells all runs to stop, and says whether none is left.
#[pyfunction]
pub(crate) fn end_runs(py: Python<'_>) -> bool {
    let running = running(py);
    running.iter().for_each(|(_, run)| run.stop());
    running.is_empty()
}

/// Forgets all runs: after a fork their threads are in the other process.
#[pyfunction]
pub(crate) fn forget_runs(py: Python<'_>) {
    running(py).clear();
}

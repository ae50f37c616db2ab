//! The list of runs whose threads may call Python.
//!
//! These threads must end before the interpreter does, which stops them with [`end_runs`] and
//! waits.

use crate::background::Background;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Locked only by threads that hold the interpreter's lock, so that it is never locked at a fork.
static RUNNING: Mutex<Vec<(u64, Arc<Background>)>> = Mutex::new(Vec::new());

fn running<'py>(_: Python<'py>) -> MutexGuard<'py, Vec<(u64, Arc<Background>)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a new number that identifies a run in the list.
pub(crate) fn new_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Adds a run to the list.
pub(crate) fn add(py: Python<'_>, id: u64, run: Arc<Background>) {
    running(py).push((id, run));
}

/// Does the work of a run's thread, and then removes the run from the list. The thread stays
/// registered with the interpreter, which is cheaper than registering it for every call. Once the
/// run is not in the list, its thread calls Python no more.
pub(crate) fn run_attached(id: u64, work: &mut (dyn FnMut() + Send)) {
    struct Remove<'py>(Python<'py>, u64);
    impl Drop for Remove<'_> {
        fn drop(&mut self) {
            running(self.0).retain(|(id, _)| *id != self.1);
        }
    }
    Python::attach(|py| {
        let _remove = Remove(py, id);
        // Proposals at which f overflows are rejected and counted, so that NumPy need not warn of
        // them. Its state is that of this thread.
        let ignored = PyDict::new(py);
        let _ = ["over", "invalid", "divide"]
            .iter()
            .try_for_each(|kind| ignored.set_item(kind, "ignore"));
        let _ =
            py.import("numpy").and_then(|numpy| numpy.call_method("seterr", (), Some(&ignored)));
        py.detach(work);
    });
}

/// Asks all runs to stop, and returns whether none is left.
#[pyfunction]
pub(crate) fn end_runs(py: Python<'_>) -> bool {
    let running = running(py);
    running.iter().for_each(|(_, run)| run.stop());
    running.is_empty()
}

/// Clears the list: after a fork the threads are those of the parent process.
#[pyfunction]
pub(crate) fn forget_runs(py: Python<'_>) {
    running(py).clear();
}

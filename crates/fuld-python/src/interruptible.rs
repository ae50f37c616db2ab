//! Long work that Ctrl-C can stop.
//!
//! Python's signal handlers run in its main thread, between two instructions of the interpreter; a native function that does not
//! return holds them back. So the work is done by a thread of its own, without the interpreter's lock, while the calling thread
//! wakes now and then to let the handlers run.

use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A delay that nobody notices after Ctrl-C, and that costs nothing.
const TICK: Duration = Duration::from_millis(50);

/// Does the work with the interpreter's lock released. If a signal handler raises, as Ctrl-C's does, `stop` is set, the work is waited for,
/// and the exception is the result: so work should look at `stop` often, and what it returns then does not matter.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let (stop, done, news) = (AtomicBool::new(false), Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = work(&stop);
            *done.lock().unwrap_or_else(PoisonError::into_inner) = true;
            news.notify_one();
            result
        });
        let wait = || {
            let done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *news.wait_timeout_while(done, TICK, |done| !*done).unwrap_or_else(PoisonError::into_inner).0
        };
        let mut heard = Ok(());
        // A worker that panicked is finished and says nothing.
        while heard.is_ok() && !py.detach(wait) && !worker.is_finished() {
            heard = py.check_signals();
        }
        stop.store(heard.is_err(), Ordering::Relaxed);
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        heard.map(|()| result)
    })
}

//! Long work that Ctrl-C can stop.
//!
//! Python's signal handlers run in its main thread, between two instructions of the interpreter; a native function that does not
//! return holds them back. So the work is done by a thread of its own, without the interpreter's lock, while the calling thread
//! wakes now and then to let the handlers run.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
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
    // Where the work is left if there is no thread to take it.
    let work = Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take();
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().spawn_scoped(scope, || {
            let result = take().map(|work| work(&stop));
            *done.lock().unwrap_or_else(PoisonError::into_inner) = true;
            news.notify_one();
            result
        });
        let no_thread = || PyRuntimeError::new_err("no thread can be had for the work");
        let Ok(worker) = worker else {
            // It is done here, deaf to Ctrl-C.
            return py.detach(|| take().map(|work| work(&stop))).ok_or_else(no_thread);
        };
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
        heard.and_then(|()| result.ok_or_else(no_thread))
    })
}

/// The same for work that is long only if there is much of it: what is short is done here, for to wake a thread costs 50 µs.
pub(crate) fn interruptible_if<T: Send>(
    py: Python<'_>,
    long: bool,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    if long { interruptible(py, work) } else { Ok(py.detach(|| work(&AtomicBool::new(false)))) }
}

/// The same for work that cannot look at `stop`: after Ctrl-C it goes on unheard until it ends. So it must be a matter of seconds, and
/// must not call Python.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut result) = mpsc::channel();
    std::thread::Builder::new().spawn(move || send.send(work()))?;
    loop {
        let result = &mut result;
        match py.detach(move || result.recv_timeout(TICK)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result; please report this"));
            }
        }
    }
}

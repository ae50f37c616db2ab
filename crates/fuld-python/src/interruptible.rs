//! Long computations that Ctrl-C can stop.
//!
//! Python's signal handlers run in its main thread, between two instructions of the interpreter,
//! and not before a native function returns. So another thread does the work, without the
//! interpreter's lock, while the calling thread runs the handlers every 50 milliseconds.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Time between two checks for signals: short for a person, long for the processor.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Does the work with the interpreter's lock released. If a signal handler raises an exception, as
/// that of Ctrl-C does, sets `stop`, waits for the work, and returns the exception. So the work
/// should check `stop` often; its result is then ignored.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let (stop, done, changed) = (AtomicBool::new(false), Mutex::new(false), Condvar::new());
    // Taken by the new thread, or by this one if no thread can be started.
    let work = Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take();
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().spawn_scoped(scope, || {
            let result = take().map(|work| work(&stop));
            *done.lock().unwrap_or_else(PoisonError::into_inner) = true;
            changed.notify_one();
            result
        });
        let no_thread = || PyRuntimeError::new_err("could not start a thread");
        let Ok(worker) = worker else {
            // This thread does the work, and Ctrl-C has to wait.
            return py.detach(|| take().map(|work| work(&stop))).ok_or_else(no_thread);
        };
        let wait = || {
            let done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *changed
                .wait_timeout_while(done, SIGNAL_INTERVAL, |done| !*done)
                .unwrap_or_else(PoisonError::into_inner)
                .0
        };
        let mut signals = Ok(());
        // A worker that panicked is finished without setting `done`.
        while signals.is_ok() && !py.detach(wait) && !worker.is_finished() {
            signals = py.check_signals();
        }
        stop.store(signals.is_err(), Ordering::Relaxed);
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        signals.and_then(|()| result.ok_or_else(no_thread))
    })
}

/// As [`interruptible`] if the work is `long`. Otherwise does the work on this thread, because
/// starting another takes 50 µs.
pub(crate) fn interruptible_if<T: Send>(
    py: Python<'_>,
    long: bool,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    if long { interruptible(py, work) } else { Ok(py.detach(|| work(&AtomicBool::new(false)))) }
}

/// As [`interruptible`] for work that cannot check `stop`: after Ctrl-C it continues in the
/// background, and its result is dropped. So it must take seconds at most, and must not call
/// Python.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut result) = mpsc::channel();
    std::thread::Builder::new().spawn(move || send.send(work()))?;
    loop {
        let result = &mut result;
        match py.detach(move || result.recv_timeout(SIGNAL_INTERVAL)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "internal error: a thread ended without a result; please report this",
                ));
            }
        }
    }
}

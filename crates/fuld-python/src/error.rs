//! Errors of the crates as Python's own.

use fuld::chains::{CheckpointError, RunError};
use pyo3::PyErr;
use pyo3::exceptions::{PyFileExistsError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use std::collections::TryReserveError;
use std::fmt::Display;
use std::io;
use std::path::Path;

/// Returns a `ValueError` with the message of an error.
pub(crate) fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns an `OSError` of the right kind, as `open` would raise it.
pub(crate) fn io_error(error: &io::Error, path: &Path) -> PyErr {
    io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}

/// Returns the exception of a run that could not begin or continue.
pub(crate) fn run_error(error: RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Sink(io) if io.kind() == io::ErrorKind::AlreadyExists => {
            PyFileExistsError::new_err(text)
        }
        RunError::Sink(io) if io.kind() == io::ErrorKind::InvalidData => PyOSError::new_err(
            format!("{io}; the run cannot continue: delete the store, or name another one"),
        ),
        RunError::Sink(io) if is_memory(&io) => memory_error("the draws"),
        RunError::TooMany(_) => PyMemoryError::new_err(text),
        RunError::Sink(io) => io::Error::new(io.kind(), text).into(),
        RunError::Checkpoint(CheckpointError::OtherRun { path, difference }) => {
            let store = path.parent().unwrap_or(&path).display();
            PyValueError::new_err(format!(
                "{store} belongs to another run: {difference}; continue with the settings that it has, or name another store"
            ))
        }
        RunError::Checkpoint(_) => PyOSError::new_err(text),
        RunError::Threads { .. } => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns a `MemoryError`.
pub(crate) fn memory_error(what: &str) -> PyErr {
    PyMemoryError::new_err(format!(
        "{what} do not fit into memory: take fewer chains or draws, or let a store hold them"
    ))
}

fn is_memory(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
        || error.get_ref().is_some_and(|reason| reason.is::<TryReserveError>())
}

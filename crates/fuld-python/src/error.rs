//! Errors of the crates as Python's own.

use fuld::chains::{CheckpointError, RunError};
use pyo3::PyErr;
use pyo3::exceptions::{PyFileExistsError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use std::collections::TryReserveError;
use std::fmt::Display;
use std::io;
use std::path::Path;

/// What a user gave and cannot be.
pub(crate) fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A file that cannot be had: an `OSError` of the right kind, as `open` would raise it.
pub(crate) fn io_error(error: &io::Error, path: &Path) -> PyErr {
    io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}

/// Why a run could not begin or go on.
pub(crate) fn run_error(error: RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Sink(io) if io.kind() == io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
        RunError::Sink(io) if is_memory(&io) => memory_error("the draws"),
        RunError::TooMany(_) => PyMemoryError::new_err(text),
        RunError::Sink(io) => io::Error::new(io.kind(), text).into(),
        RunError::Checkpoint(CheckpointError::OtherRun { path, difference }) => {
            let store = path.parent().unwrap_or(&path).display();
            // Of a potential there is only a hash.
            let difference =
                if difference.contains(" potential: ") { "another potential" } else { &difference };
            PyValueError::new_err(format!(
                "{store} belongs to another run: {difference}; go on with the settings that it has, or name another store"
            ))
        }
        RunError::Checkpoint(_) => PyOSError::new_err(text),
        RunError::Threads { .. } => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Memory that cannot be had for this.
pub(crate) fn memory_error(what: &str) -> PyErr {
    PyMemoryError::new_err(format!(
        "{what} do not fit into memory: take fewer chains or draws, or let a store hold them"
    ))
}

fn is_memory(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
        || error.get_ref().is_some_and(|reason| reason.is::<TryReserveError>())
}

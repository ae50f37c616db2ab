//! The Python class of a run in the background.

use crate::background::Background;
use crate::error::{memory_error, run_error, value_error};
use crate::store::{self, Draws};
use fuld::chains::{Layout, MemoryDraws, Outcome, Progress, RunError, STATISTICS, WarmState};
use fuld_sample::Adapted;
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice};
use std::sync::Arc;
use std::time::Duration;
use toml::{Table, Value};

/// A run in the background.
#[pyclass(frozen, name = "Run", module = "fuld._native")]
pub(crate) struct PyRun {
    background: Arc<Background>,
    /// The process that started the run.
    process: u32,
}

impl PyRun {
    pub(crate) fn new(background: Arc<Background>) -> Self {
        Self { background, process: std::process::id() }
    }

    /// Returns the run, or an error in a forked process: its thread does not exist there, and may
    /// have held a lock at the fork.
    fn here(&self) -> PyResult<&Background> {
        if std::process::id() == self.process {
            return Ok(&self.background);
        }
        Err(PyRuntimeError::new_err(format!(
            "this run goes on in process {}, from which this one was forked: ask there",
            self.process
        )))
    }

    /// Returns the run, or an error if the caller is the thread of the run.
    fn outside(&self) -> PyResult<&Background> {
        let run = self.here()?;
        if run.is_inside() {
            return Err(PyRuntimeError::new_err(
                "a run cannot wait for itself: its potential asked for draws or for the end; to end the run there, raise an exception",
            ));
        }
        Ok(run)
    }
}

/// Stops a run whose handle is dropped, because its draws can no longer be read.
impl Drop for PyRun {
    fn drop(&mut self) {
        if let Ok(run) = self.here() {
            run.stop();
        }
    }
}

/// Whether the run was stopped, the chains that diverged with their steps, and by name the numbers
/// that were adapted.
type Ended = (bool, Vec<(usize, u64)>, Option<Py<PyDict>>);

/// Steps made, steps in all, draws made, chains that diverged, seconds, steps at the first report,
/// acceptance.
type Numbers = (u64, u64, u64, usize, f64, u64, Option<f64>);

#[pymethods]
impl PyRun {
    #[getter]
    fn progress(&self) -> PyResult<Option<Numbers>> {
        Ok(self.here()?.progress().map(|(progress, first)| {
            let Progress { steps, total, draws, diverged, acceptance, elapsed } = progress;
            (steps, total, draws, diverged, elapsed.as_secs_f64(), first, acceptance)
        }))
    }

    #[getter]
    fn finished(&self) -> PyResult<bool> {
        Ok(self.here()?.is_finished())
    }

    #[getter]
    fn paused(&self) -> PyResult<bool> {
        Ok(self.here()?.is_paused())
    }

    fn pause(&self, paused: bool) -> PyResult<()> {
        self.here()?.pause(paused);
        Ok(())
    }

    /// Asks the run to save and stop.
    fn stop(&self) -> PyResult<()> {
        self.here()?.stop();
        Ok(())
    }

    /// Waits for the end, at most this long; returns whether the run has ended.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let run = self.outside()?;
        Ok(py.detach(|| run.wait(None, duration(seconds))))
    }

    /// Requests the draws made so far, and returns the number of deliveries before the request.
    fn ask(&self) -> PyResult<u64> {
        Ok(self.here()?.request_draws())
    }

    /// Waits for another delivery of draws or for the end, at most this long; returns whether one
    /// of them has happened.
    fn wait_for_draws(&self, py: Python<'_>, before: u64, seconds: f64) -> PyResult<bool> {
        let run = self.outside()?;
        Ok(py.detach(|| run.wait(Some(before), duration(seconds))))
    }

    /// Returns whether the run was stopped, the chains that diverged with their steps, and by name
    /// the numbers that were adapted. Raises the error that ended the run.
    fn outcome(&self, py: Python<'_>) -> PyResult<Ended> {
        match self.here()?.take_outcome() {
            Some(Ok(outcome)) => {
                // In the last call before it was stopped.
                if let Some(raised) = self.background.raised() {
                    return Err(raised);
                }
                let diverged = outcome.divergences.iter().map(|d| (d.chain, d.step)).collect();
                let tuning = adapted(py, &outcome)?;
                Ok((outcome.stopped, diverged, tuning))
            }
            Some(Err(error)) => Err(self.error(py, error)),
            None if self.background.is_finished() => {
                Err(PyRuntimeError::new_err("the run ended without a result; please report this"))
            }
            None => Err(PyRuntimeError::new_err("the run has not ended")),
        }
    }

    /// Returns the state after the warm-up as bytes, once, if that was the task of the run.
    fn warm_state<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.here()?.take_warm_state().map(|state| PyBytes::new(py, &state.to_bytes())))
    }

    /// Returns the draws delivered so far. Those of a finished run are moved, not copied.
    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Draws<'py>> {
        match self.here()?.store() {
            Some(path) => store::read(py, path),
            None => {
                let mut sink = self.background.samples();
                let none = || PyValueError::new_err("there are no draws yet");
                let draws = sink.draws().ok_or_else(none)?;
                let (layout, made) = (draws.layout().clone(), draws.draws());
                if self.background.is_finished() {
                    let values =
                        std::mem::take(&mut *sink).into_draws().ok_or_else(none)?.into_values();
                    in_memory(py, &layout, made, layout.draws as usize, values)
                } else {
                    in_memory(py, &layout, made, made, copy(draws)?)
                }
            }
        }
    }
}

impl PyRun {
    /// Returns the exception that the function raised, if any, with a note of the step.
    fn error(&self, py: Python<'_>, error: RunError) -> PyErr {
        match (self.background.raised(), &error) {
            (Some(raised), RunError::Potential(step)) => {
                // Notes came with Python 3.11.
                let _ = raised.value(py).call_method1(
                    "add_note",
                    (format!("fuld: raised by the potential in step {step}"),),
                );
                raised
            }
            (Some(raised), _) => raised,
            (None, _) => run_error(error),
        }
    }
}

/// Converts seconds to a duration; zero if they are negative or not a number.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

/// Returns the numbers that exact sampling adapted, by name, from the state after the warm-up.
#[pyfunction]
pub(crate) fn adapted_numbers(py: Python<'_>, warm_state: &[u8]) -> PyResult<Option<Py<PyDict>>> {
    let state = WarmState::from_bytes(warm_state).map_err(value_error)?;
    adapted(py, &Outcome { tuning: state.tuning(), ..Outcome::default() })
}

/// Returns the numbers that exact sampling adapted, by name; None if there are none.
fn adapted(py: Python<'_>, outcome: &Outcome) -> PyResult<Option<Py<PyDict>>> {
    let Some(adapted) = Adapted::new(outcome) else { return Ok(None) };
    let numbers = PyDict::new(py);
    for (name, value) in adapted.to_table().map_err(value_error)? {
        match value {
            Value::Integer(number) => numbers.set_item(name, number)?,
            Value::Float(number) => numbers.set_item(name, number)?,
            Value::Array(all) => {
                let all: Vec<f64> = all.iter().filter_map(Value::as_float).collect();
                numbers.set_item(name, PyArray1::from_vec(py, all))?;
            }
            _ => {}
        }
    }
    Ok(Some(numbers.unbind()))
}

/// Returns the numbers that exact sampling adapted, from settings by name; None if there are none.
pub(crate) fn adapted_of(settings: &Bound<'_, PyDict>) -> Option<Adapted> {
    let value = |value: Bound<'_, PyAny>| {
        let float = |value: &Bound<'_, PyAny>| value.extract().ok().map(Value::Float);
        let array = |value: Bound<'_, PyAny>| value.extract::<Vec<f64>>().ok().map(Value::from);
        value.extract().ok().map(Value::Integer).or_else(|| float(&value)).or_else(|| array(value))
    };
    let entry =
        |(name, number): (Bound<'_, PyAny>, _)| Some((name.extract().ok()?, value(number)?));
    Adapted::from_table(settings.iter().filter_map(entry).collect::<Table>())
}

/// Returns the draws made so far, without the space reserved for the others.
fn copy(samples: &MemoryDraws) -> PyResult<Vec<f64>> {
    let chains = || (0..samples.chains()).map(|chain| samples.chain(chain));
    let mut values = Vec::new();
    let count = chains().map(<[f64]>::len).sum();
    values.try_reserve_exact(count).map_err(|_| memory_error("the draws made so far"))?;
    chains().for_each(|chain| values.extend_from_slice(chain));
    Ok(values)
}

/// Returns the values without copying them, with space for `draws` draws per chain, and views of
/// the positions and velocities made.
fn in_memory<'py>(
    py: Python<'py>,
    layout: &Layout,
    made: usize,
    room: usize,
    values: Vec<f64>,
) -> PyResult<Draws<'py>> {
    let (dim, width) = (layout.dim, layout.width());
    let shape = [layout.chains, room, width];
    let all: Bound<'_, PyArray3<f64>> = PyArray1::from_vec(py, values).reshape(shape)?;
    let slice = |from: usize, to: usize| PySlice::new(py, from as isize, to as isize, 1);
    let view = |from, to| all.get_item((slice(0, layout.chains), slice(0, made), slice(from, to)));
    let velocities = layout.velocities.then(|| view(dim, 2 * dim)).transpose()?;
    let statistics =
        layout.statistics.then(|| view(width - STATISTICS.len(), width)).transpose()?;
    Ok((view(0, dim)?, velocities, statistics))
}

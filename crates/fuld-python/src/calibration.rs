//! Calibration of one tensor, whose state is an array of numbers that Python keeps.

use crate::error::value_error;
use fuld::optimizer::{
    AutoRule, AutoSettings, Calibration, Coordinates, Estimates, Observation, Options, Sgd, WeightDecay,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(calibration_constants, module)?)?;
    module.add_function(wrap_pyfunction!(calibration_start, module)?)?;
    module.add_function(wrap_pyfunction!(calibration_length, module)?)?;
    module.add_function(wrap_pyfunction!(calibration_positions, module)?)?;
    module.add_function(wrap_pyfunction!(calibration_observe, module)?)
}

/// Tail index and scale of the noise, α in use, momentum knee, limit, share beyond the knee.
type EstimateNumbers = (f64, f64, f64, f64, f64, f64);

fn numbers(estimates: &Estimates) -> EstimateNumbers {
    let Estimates { noise_alpha, noise_scale, alpha, momentum_knee, limit, beyond_knee } = *estimates;
    (noise_alpha, noise_scale, alpha, momentum_knee, limit, beyond_knee)
}

/// Loads the state of a tensor of this length, checking its size, format version and length.
fn calibration<N: AsRef<[f32]>>(state: N, length: usize) -> PyResult<Calibration<N>> {
    Calibration::from_state(state, length).map_err(value_error)
}

/// Returns the constants of the formulas, for their implementation in JAX.
#[pyfunction]
fn calibration_constants(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Calibration::constants().into_py_dict(py)
}

/// Returns the state of a calibration of a tensor of this length before the first gradient.
#[pyfunction]
fn calibration_start(py: Python<'_>, length: usize) -> Bound<'_, PyArray1<f32>> {
    PyArray1::from_slice(py, Calibration::new(length).state())
}

/// Returns the length of the tensor that a state belongs to, checking its format version.
#[pyfunction]
fn calibration_length(state: PyReadonlyArray1<'_, f32>) -> PyResult<usize> {
    Calibration::tensor_length(state.as_slice()?).map_err(value_error)
}

/// Returns the positions that the next update samples.
#[pyfunction]
fn calibration_positions<'py>(
    py: Python<'py>,
    state: PyReadonlyArray1<'py, f32>,
    length: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let calibration = calibration(state.as_slice()?, length)?;
    Ok(PyArray1::from_iter(py, calibration.sampled_rows(length).flatten().map(|index| index as i64)))
}

/// Returns state and estimates after an update with gradient, buffer and parameters at its positions, before the step.
#[pyfunction]
#[pyo3(signature = (state, length, gradient, buffer, parameters, *, momentum, weight_decay=0.0, nesterov=false, maximize=false,
    alpha=None, noise_scale=None))]
#[allow(clippy::too_many_arguments)]
fn calibration_observe<'py>(
    py: Python<'py>,
    state: PyReadonlyArray1<'py, f32>,
    length: usize,
    gradient: PyReadonlyArray1<'py, f32>,
    buffer: PyReadonlyArray1<'py, f32>,
    parameters: PyReadonlyArray1<'py, f32>,
    momentum: f64,
    weight_decay: f64,
    nesterov: bool,
    maximize: bool,
    alpha: Option<f64>,
    noise_scale: Option<f64>,
) -> PyResult<(Bound<'py, PyArray1<f32>>, EstimateNumbers)> {
    let options = Options { weight_decay: WeightDecay::new(weight_decay, false), nesterov, maximize };
    // Not the rule of that alpha, whose table is not needed.
    Coordinates::sgd(Sgd { alpha: alpha.unwrap_or(2.0), learning_rate: 1.0, momentum })
        .map_err(value_error)?;
    let settings = AutoSettings { momentum, options, alpha: None, noise_scale };
    AutoRule::new(settings, 1.0).map_err(value_error)?;
    let settings = AutoSettings { alpha, ..settings };
    let mut calibration = calibration(state.as_slice()?.to_vec(), length)?;
    let (gradient, parameters) = (gradient.as_slice()?, parameters.as_slice()?);
    let buffer = &mut buffer.as_slice()?.to_vec()[..];
    let positions = calibration.sampled_rows(length).flatten().count();
    if [gradient, buffer, parameters].iter().any(|numbers| numbers.len() != positions) {
        return Err(PyValueError::new_err(format!(
            "{positions} gradients, buffers and parameters are required"
        )));
    }
    calibration.observe(Observation { gradient, buffer, parameters }, &settings);
    Ok((PyArray1::from_slice(py, calibration.state()), numbers(&calibration.estimates())))
}

//! The law, on arrays.

use levy_stable::SymmetricStable;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pdf, module)?)
}

/// The density of SαS(σ) at every x.
#[pyfunction]
fn pdf<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, f64>,
    alpha: f64,
    scale: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let law = SymmetricStable::with_scale(alpha, scale)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let x = x.as_slice()?;
    let mut out = vec![0.0; x.len()];
    py.detach(|| law.pdf_into(x, &mut out));
    Ok(PyArray1::from_vec(py, out))
}

//! Names and descriptions of systems and potentials.

use fuld::SystemKind;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the systems: names and one-line descriptions.
#[pyfunction]
pub(crate) fn systems(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    SystemKind::ALL
        .iter()
        .try_for_each(|system| names.set_item(system.name(), system.summary()))?;
    Ok(names)
}

/// Returns the potentials: name, formula, and parameters with their defaults.
#[pyfunction]
pub(crate) fn potentials(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for entry in fuld_sample::potentials() {
        let parameters = PyDict::new(py);
        entry.parameters.iter().try_for_each(|(name, value)| parameters.set_item(name, value))?;
        names.set_item(entry.name, (entry.formula, parameters))?;
    }
    Ok(names)
}

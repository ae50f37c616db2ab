//! The potential of a run: a formula, a named potential or a Python function.

use crate::callable::{Callable, Raised};
use crate::error::value_error;
use fuld_sample::Target;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A potential, and the exception of its function if it is one.
#[pyclass(frozen, name = "Target", module = "fuld._native")]
pub(crate) struct PyTarget {
    pub(crate) target: Arc<Target>,
    pub(crate) raised: Option<Arc<Raised>>,
}

/// Largest number of coordinates: each has a name, and every chain some numbers for each.
const MOST: usize = 1 << 24;

/// Refuses a dimension before anything of that size is made.
pub(crate) fn check_dim(dim: usize) -> PyResult<()> {
    if dim <= MOST {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("dim must be at most {MOST}, got {dim}")))
}

#[pymethods]
impl PyTarget {
    /// Creates the target of a formula or a named potential.
    #[staticmethod]
    fn of_text(text: &str, dim: Option<usize>, params: BTreeMap<String, f64>) -> PyResult<Self> {
        dim.map_or(Ok(()), check_dim)?;
        let params: Vec<(&str, f64)> =
            params.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let target = Target::new(text, dim, &params).map_err(value_error)?;
        Ok(Self { target: Arc::new(target), raised: None })
    }

    /// Creates the target of a function that returns value and gradient.
    #[staticmethod]
    fn of_function(
        function: Py<PyAny>,
        dim: usize,
        vectorized: bool,
        stochastic: bool,
        name: String,
        code: String,
    ) -> Self {
        let callable = Callable::new(function, dim, vectorized, stochastic, name, code);
        let raised = Some(Arc::clone(callable.raised()));
        Self { target: Arc::new(Target::from_potential(Box::new(callable))), raised }
    }

    /// Returns the names of the coordinates.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.target.names().to_vec()
    }
}

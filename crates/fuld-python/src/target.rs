//! What is sampled from, as Python hands it over.

use crate::callable::{Callable, Raised};
use crate::error::value_error;
use fuld_sample::Target;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A potential, and what its function raised if it is one.
#[pyclass(frozen, name = "Target", module = "fuld._native")]
pub(crate) struct PyTarget {
    pub(crate) target: Arc<Target>,
    pub(crate) raised: Option<Arc<Raised>>,
}

/// Coordinates that a potential may have: every one has a name, and every chain some numbers for each.
const MOST: usize = 1 << 24;

/// Refuses a dimension before anything of that size is made.
pub(crate) fn check_dim(dim: usize) -> PyResult<()> {
    if dim <= MOST {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "dim = {dim} is more than a machine can hold: dim must be at most {MOST}"
    )))
}

#[pymethods]
impl PyTarget {
    /// A formula, or a potential with a name.
    #[staticmethod]
    fn of_text(text: &str, dim: Option<usize>, params: BTreeMap<String, f64>) -> PyResult<Self> {
        dim.map_or(Ok(()), check_dim)?;
        let params: Vec<(&str, f64)> = params.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let target = Target::new(text, dim, &params).map_err(value_error)?;
        Ok(Self { target: Arc::new(target), raised: None })
    }

    /// A function that returns value and gradient.
    #[staticmethod]
    fn of_function(
        function: Py<PyAny>,
        dim: usize,
        vectorized: bool,
        stochastic: bool,
        fingerprint: u64,
    ) -> Self {
        let callable = Callable::new(function, dim, vectorized, stochastic, fingerprint);
        let raised = Some(Arc::clone(callable.raised()));
        Self { target: Arc::new(Target::from_potential(Box::new(callable))), raised }
    }

    /// Names of the coordinates.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.target.names().to_vec()
    }
}

//! The tail index of a stream, from running means that Python code keeps.

use levy_stable::tail_index::{QuadrupleEstimate, Quadruples};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(quadruple_estimate, module)?)
}

/// α, its standard error, σ and its standard error; see [`Quadruples`].
#[pyfunction]
fn quadruple_estimate(
    mean_log: f64,
    growth: f64,
    mean_log_variance: f64,
    growth_variance: f64,
    covariance: f64,
) -> (f64, f64, f64, f64) {
    let means = Quadruples { mean_log, growth, mean_log_variance, growth_variance, covariance };
    let QuadrupleEstimate { alpha, alpha_error, scale, scale_error } = means.estimate();
    (alpha, alpha_error, scale, scale_error)
}

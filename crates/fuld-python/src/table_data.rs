//! Tables of ∇G_α as arrays, for devices that evaluate them in their own memory.
//!
//! Python gets what `levy_stable::table::TableData` consists of, and nothing else: see
//! `fuld/_table_data.py`.

use crate::error::value_error;
use crate::threads;
use levy_stable::table::{TableAlpha, TableData, TableError};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Version of the format, ends of the band in log₂((2 − α)/α), lowest, near octaves, octaves,
/// coefficients.
type Arrays<'py> =
    (u32, Option<[f64; 2]>, i32, u32, Bound<'py, PyArray2<i32>>, Bound<'py, PyArray3<f64>>);

/// Returns the table of one α, for single or for double precision.
#[pyfunction]
pub(crate) fn table_data(py: Python<'_>, alpha: f64, single: bool) -> PyResult<Arrays<'_>> {
    let build = || if single { TableData::single(alpha) } else { TableData::double(alpha) };
    arrays(py, &py.detach(build).map_err(value_error)?)
}

/// Returns the tables of all bands of α, from α = 2 down.
#[pyfunction]
pub(crate) fn alpha_bands(py: Python<'_>) -> PyResult<Vec<Arrays<'_>>> {
    let build = || -> Result<Vec<_>, TableError> {
        (0..TableData::BANDS).into_par_iter().map(TableData::band).collect()
    };
    let bands = py.detach(|| threads::install(build)).map_err(value_error)?;
    bands.iter().map(|band| arrays(py, band)).collect()
}

fn arrays<'py>(py: Python<'py>, table: &TableData) -> PyResult<Arrays<'py>> {
    let log_ratio = match table.alpha {
        TableAlpha::Value(_) => None,
        TableAlpha::Band { log_ratio } => Some(log_ratio),
    };
    let octaves = table.octaves.as_flattened().iter().map(|&number| number as i32);
    let shape = [table.pieces(), table.alpha_terms, table.terms];
    Ok((
        table.version,
        log_ratio,
        table.lowest,
        table.near_octaves,
        PyArray1::from_iter(py, octaves).reshape([table.octaves.len(), 2])?,
        PyArray1::from_slice(py, &table.coefficients).reshape(shape)?,
    ))
}

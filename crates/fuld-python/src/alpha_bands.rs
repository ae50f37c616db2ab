//! ∇G_α(v) as arrays in α and v, for devices with memory of their own.

use crate::field_pieces::octaves;
use crate::threads;
use levy_stable::AlphaBand;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

type Band<'py> = (f64, f64, f64, f64, f64, i32, Bound<'py, PyArray2<i32>>, Bound<'py, PyArray3<f64>>);

/// All of [`AlphaBand`]: where r begins, middle, width, shift, switch, lowest, octaves and coefficients of each.
#[pyfunction]
pub(crate) fn alpha_bands(py: Python<'_>) -> PyResult<Vec<Band<'_>>> {
    let all = || (0..AlphaBand::COUNT).into_par_iter().map(AlphaBand::new).collect::<Vec<_>>();
    py.detach(|| threads::install(all)).iter().map(|band| arrays(py, band)).collect()
}

fn arrays<'py>(py: Python<'py>, band: &AlphaBand) -> PyResult<Band<'py>> {
    let coefficients = band.coefficients.as_flattened().as_flattened();
    let shape = [band.coefficients.len(), AlphaBand::ALPHA_TERMS, AlphaBand::TERMS];
    Ok((
        band.ends[0],
        band.middle,
        band.width,
        band.shift,
        band.switch,
        band.lowest,
        octaves(py, &band.octaves)?,
        PyArray1::from_slice(py, coefficients).reshape(shape)?,
    ))
}

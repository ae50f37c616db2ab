//! ∇G_α as arrays, for devices with memory of their own.

use crate::error::value_error;
use levy_stable::FieldPieces;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

type Pieces<'py, T> = (T, T, i32, Bound<'py, PyArray2<i32>>, Bound<'py, PyArray2<T>>);

/// The arrays of [`FieldPieces`]: shift, near, lowest, octaves, coefficients.
#[pyfunction]
pub(crate) fn field_pieces<'py>(py: Python<'py>, alpha: f64, single: bool) -> PyResult<Bound<'py, PyAny>> {
    fn arrays<T: Element + Copy>(py: Python<'_>, pieces: FieldPieces<T>) -> PyResult<Pieces<'_, T>> {
        Ok((
            pieces.shift,
            pieces.near,
            pieces.lowest,
            octaves(py, &pieces.octaves)?,
            PyArray2::from_vec2(py, &pieces.coefficients)?,
        ))
    }
    let any = if single {
        let pieces = py.detach(|| FieldPieces::<f32>::new(alpha)).map_err(value_error)?;
        arrays(py, pieces)?.into_pyobject(py)?
    } else {
        let pieces = py.detach(|| FieldPieces::<f64>::new(alpha)).map_err(value_error)?;
        arrays(py, pieces)?.into_pyobject(py)?
    };
    Ok(any.into_any())
}

/// First piece and split of each octave.
pub(crate) fn octaves<'py>(py: Python<'py>, octaves: &[[u32; 2]]) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let numbers = octaves.as_flattened().iter().map(|&number| number as i32);
    PyArray1::from_iter(py, numbers).reshape([octaves.len(), 2])
}

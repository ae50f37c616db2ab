//! ∇G_α as arrays, for devices with memory of their own.

use crate::error::value_error;
use levy_stable::FieldPieces;
use numpy::{Element, PyArray2};
use pyo3::prelude::*;

type Pieces<'py, T> = (T, T, i32, Bound<'py, PyArray2<i32>>, Bound<'py, PyArray2<T>>);

/// The arrays of [`FieldPieces`]: shift, near, lowest, octaves, coefficients.
#[pyfunction]
pub(crate) fn field_pieces<'py>(py: Python<'py>, alpha: f64, single: bool) -> PyResult<Bound<'py, PyAny>> {
    fn arrays<T: Element + Copy>(py: Python<'_>, pieces: FieldPieces<T>) -> PyResult<Pieces<'_, T>> {
        let octaves: Vec<Vec<i32>> =
            pieces.octaves.iter().map(|octave| octave.map(|number| number as i32).to_vec()).collect();
        Ok((
            pieces.shift,
            pieces.near,
            pieces.lowest,
            PyArray2::from_vec2(py, &octaves)?,
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

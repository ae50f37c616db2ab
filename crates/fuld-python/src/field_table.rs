//! `fuld._native.FieldTable`: ∇G_α of one α, evaluated over NumPy arrays on all cores.

use crate::error::value_error;
use crate::interruptible::interruptible_if;
use crate::threads;
use levy_stable::FieldTable as Table;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FieldTable>()
}

/// Number of values from which on several threads are faster.
const MANY: usize = 1 << 17;
/// Number of values from which on Ctrl-C is checked.
const LONG: usize = 1 << 21;
/// Values per task. A multiple of the sixteen that single precision evaluates together.
const SHARE: usize = 1 << 14;

/// The field of one α.
#[pyclass(frozen, module = "fuld._native")]
struct FieldTable {
    table: Table,
}

#[pymethods]
impl FieldTable {
    #[new]
    fn new(py: Python<'_>, alpha: f64) -> PyResult<Self> {
        let table = py.detach(|| Table::new(alpha)).map_err(value_error)?;
        Ok(Self { table })
    }

    /// Computes `out[i] = ∇G_α(v[i])`; both arrays have the same precision.
    fn eval_into(
        &self,
        py: Python<'_>,
        v: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let table = &self.table;
        if let Ok(v) = v.cast::<PyArray1<f32>>() {
            shared(py, &v.try_readonly()?, out.extract()?, |v, out| table.eval_into_f32(v, out))
        } else {
            shared(py, &v.extract()?, out.extract()?, |v, out| table.eval_into(v, out))
        }
    }
}

fn shared<T: Element + Copy + Send + Sync>(
    py: Python<'_>,
    v: &PyReadonlyArray1<'_, T>,
    mut out: PyReadwriteArray1<'_, T>,
    eval: impl Fn(&[T], &mut [T]) + Sync,
) -> PyResult<()> {
    let (v, out) = (v.as_slice()?, out.as_slice_mut()?);
    if v.len() != out.len() {
        return Err(PyValueError::new_err("v and out must have the same length"));
    }
    interruptible_if(py, out.len() >= LONG, |stop: &AtomicBool| {
        let each = |(out, v): (&mut [T], &[T])| {
            if !stop.load(Ordering::Relaxed) {
                eval(v, out);
            }
        };
        if out.len() < MANY || !threads::many() {
            out.chunks_mut(SHARE).zip(v.chunks(SHARE)).for_each(each);
        } else {
            threads::install(|| out.par_chunks_mut(SHARE).zip(v.par_chunks(SHARE)).for_each(each));
        }
    })
}

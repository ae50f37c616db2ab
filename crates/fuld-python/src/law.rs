//! The law on arrays: any of its functions, for any number of laws at once.

use crate::error::value_error;
use crate::interruptible::interruptible_if;
use crate::threads;
use levy_stable::{Alpha, ParameterError, SymmetricStable};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(kinetic_scale, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate, module)?)
}

/// From this many values on threads are worth waking: below, one is done before another has woken.
const MANY: usize = 1024;
/// From this many values on one may lose patience.
const LONG: usize = 1 << 14;
/// Values that a thread takes at a time.
const SHARE: usize = 128;

/// A number that is stored in one precision and computed with in double.
pub(crate) trait Stored: Element + Copy + Send + Sync {
    fn double(self) -> f64;
    fn rounded(x: f64) -> Self;
}

impl Stored for f64 {
    fn double(self) -> f64 {
        self
    }

    fn rounded(x: f64) -> Self {
        x
    }
}

impl Stored for f32 {
    fn double(self) -> f64 {
        f64::from(self)
    }

    fn rounded(x: f64) -> Self {
        x as f32
    }
}

type Function = fn(&SymmetricStable, f64) -> f64;

/// A function of the law by its name in Python. Those of the law alone ignore x.
fn function(name: &str) -> PyResult<Function> {
    Ok(match name {
        "pdf" => SymmetricStable::pdf,
        "logpdf" => SymmetricStable::ln_pdf,
        "cdf" => SymmetricStable::cdf,
        "logcdf" => SymmetricStable::ln_cdf,
        "sf" => SymmetricStable::sf,
        "logsf" => SymmetricStable::ln_sf,
        "ppf" => SymmetricStable::quantile,
        "isf" => SymmetricStable::isf,
        "score" => SymmetricStable::score,
        "score_derivative" => SymmetricStable::score_derivative,
        "characteristic_function" => SymmetricStable::characteristic_function,
        "absolute_moment" => SymmetricStable::absolute_moment,
        "moment" => |law, order| law.moment(order as u32),
        "mean" => |law, _| law.mean(),
        "median" => |law, _| law.median(),
        "mode" => |law, _| law.mode(),
        "variance" => |law, _| law.variance(),
        "entropy" => |law, _| law.entropy(),
        _ => return Err(PyValueError::new_err(format!("the law has no function {name:?}"))),
    })
}

/// Raises ValueError for the first α or σ that no law has.
#[pyfunction]
fn check_parameters(
    alpha: PyReadonlyArray1<'_, f64>,
    scale: PyReadonlyArray1<'_, f64>,
) -> PyResult<()> {
    for &alpha in alpha.as_slice()? {
        Alpha::new(alpha).map_err(value_error)?;
    }
    for &scale in scale.as_slice()? {
        // The Cauchy law costs least to construct.
        SymmetricStable::new(1.0).and_then(|law| law.with_scale(scale)).map_err(value_error)?;
    }
    Ok(())
}

/// Returns, for every α, the scale of the law whose negative score is ∇G_α.
#[pyfunction]
fn kinetic_scale<'py>(
    py: Python<'py>,
    alpha: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let scales = alpha
        .as_slice()?
        .iter()
        .map(|&alpha| SymmetricStable::kinetic(alpha).map(|law| law.scale()));
    let scales = scales.collect::<Result<Vec<_>, _>>().map_err(value_error)?;
    Ok(PyArray1::from_vec(py, scales))
}

/// `out[i, j]` = the function of the i-th law at `x[i, j]`, in the precision of x.
#[pyfunction]
fn evaluate<'py>(
    py: Python<'py>,
    name: &str,
    x: &Bound<'py, PyAny>,
    alpha: PyReadonlyArray1<'py, f64>,
    scale: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let function = function(name)?;
    let (alpha, scale) = (alpha.as_slice()?, scale.as_slice()?);
    if let Ok(x) = x.cast::<PyArray2<f32>>() {
        rows(py, function, &x.try_readonly()?, alpha, scale)
    } else {
        rows::<f64>(py, function, &x.extract()?, alpha, scale)
    }
}

fn rows<'py, T: Stored>(
    py: Python<'py>,
    function: Function,
    x: &PyReadonlyArray2<'py, T>,
    alpha: &[f64],
    scale: &[f64],
) -> PyResult<Bound<'py, PyAny>> {
    let shape = x.dims();
    if alpha.len() != shape[0] || scale.len() != shape[0] {
        return Err(PyValueError::new_err("there must be as many laws as rows of x"));
    }
    let out = PyArray2::<T>::zeros(py, shape, false);
    {
        let mut out = out.readwrite();
        let (x, out) = (x.as_array(), out.as_slice_mut()?);
        interruptible_if(py, out.len() >= LONG, |stop| fill(function, x, alpha, scale, out, stop))?
            .map_err(value_error)?;
    }
    Ok(out.into_any())
}

thread_local! {
    static LAST: Cell<Option<SymmetricStable>> = const { Cell::new(None) };
}

/// Returns the law, from a cache if it is the one that this thread used last: integrators and
/// solvers evaluate one point at a time, and creating a law costs as much as ten evaluations.
fn law(alpha: f64, scale: f64) -> Result<SymmetricStable, ParameterError> {
    match LAST.get() {
        Some(law) if law.alpha() == alpha && law.scale() == scale => Ok(law),
        _ => {
            let law = SymmetricStable::new(alpha)?.with_scale(scale)?;
            LAST.set(Some(law));
            Ok(law)
        }
    }
}

fn fill<T: Stored>(
    function: Function,
    x: ArrayView2<'_, T>,
    alpha: &[f64],
    scale: &[f64],
    out: &mut [T],
    stop: &AtomicBool,
) -> Result<(), ParameterError> {
    let each = |x: &[T], out: &mut [T], law: &SymmetricStable| {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        for (out, x) in out.iter_mut().zip(x) {
            *out = T::rounded(function(law, x.double()));
        }
    };
    let shared = out.len() >= MANY && threads::many();
    let row = |(i, out): (usize, &mut [T])| {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let law = law(alpha[i], scale[i])?;
        // Contiguous already, unless the caller gave a view with steps.
        let x = x.row(i);
        let x = x.as_standard_layout();
        let x = x.as_slice().unwrap_or_default();
        if shared && out.len() > SHARE {
            out.par_chunks_mut(SHARE)
                .zip(x.par_chunks(SHARE))
                .for_each(|(out, x)| each(x, out, &law));
        } else {
            out.chunks_mut(SHARE).zip(x.chunks(SHARE)).for_each(|(out, x)| each(x, out, &law));
        }
        Ok(())
    };
    match x.ncols() {
        0 => Ok(()),
        columns if shared => {
            threads::install(|| out.par_chunks_mut(columns).enumerate().try_for_each(row))
        }
        columns => out.chunks_mut(columns).enumerate().try_for_each(row),
    }
}

//! Potentials that are Python functions.
//!
//! Each is identified by a name and a hash of its code, which `python/fuld/_function_identity.py`
//! computes.

use fuld::{Potential, Specification};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A function that returns value and gradient, for one point or for the points of all chains.
pub(crate) struct Callable {
    function: Py<PyAny>,
    dim: usize,
    /// Whether it takes points of all chains, shape (chains, dim), or one, shape (dim,).
    vectorized: bool,
    /// Whether it takes words of random bits beside the points.
    stochastic: bool,
    /// Name in stores, and the hash of the function's code.
    name: String,
    code: String,
    raised: Arc<Raised>,
}

/// The exception that a function raised, kept until the run ends, because a step of a dynamics
/// cannot return an error. It also holds a request to stop calling the function.
#[derive(Default)]
pub(crate) struct Raised {
    /// Whether the function raised, or a call was skipped because of a request to stop.
    failed: AtomicBool,
    first: Mutex<Option<PyErr>>,
    stop: AtomicBool,
}

impl Raised {
    fn keep(&self, error: PyErr) {
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert(error);
        }
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Takes the first error; from then on the function is called again.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.failed.store(false, Ordering::Relaxed);
        self.first.lock().ok().and_then(|mut first| first.take())
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// The function is not called any more. It has failed if there are further chains or points,
    /// because one iteration may require many calls.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether to continue with the next call.
    fn goes_on(&self) -> bool {
        let stopped = self.stop.load(Ordering::Relaxed);
        self.failed.fetch_or(stopped, Ordering::Relaxed);
        !stopped
    }
}

impl Callable {
    pub(crate) fn new(
        function: Py<PyAny>,
        dim: usize,
        vectorized: bool,
        stochastic: bool,
        name: String,
        code: String,
    ) -> Self {
        Self { function, dim, vectorized, stochastic, name, code, raised: Arc::default() }
    }

    pub(crate) fn raised(&self) -> &Arc<Raised> {
        &self.raised
    }

    /// Calls the function at points of this shape, and returns value and gradient as it returned
    /// them.
    fn call<'py>(
        &self,
        py: Python<'py>,
        points: &[f64],
        words: &[u64],
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        // A new array each time: the function may keep it.
        let x = PyArray1::from_slice(py, points);
        let function = self.function.bind(py);
        let answer = match (self.vectorized, self.stochastic) {
            (true, false) => function.call1((x.reshape([points.len() / self.dim, self.dim])?,))?,
            (true, true) => function.call1((
                x.reshape([points.len() / self.dim, self.dim])?,
                PyArray1::from_slice(py, words),
            ))?,
            (false, false) => function.call1((x,))?,
            (false, true) => function.call1((x, words[0]))?,
        };
        match answer.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => Ok((pair.get_item(0)?, pair.get_item(1)?)),
            _ => {
                let kind = answer.get_type().name()?.to_string();
                Err(PyTypeError::new_err(format!(
                    "a potential must return a tuple (value, gradient), got {kind}"
                )))
            }
        }
    }

    /// Calls the function once, and writes the gradients and, unless `values` is empty, the values
    /// that it returned.
    fn call_into(
        &self,
        py: Python<'_>,
        points: &[f64],
        words: &[u64],
        values: &mut [f64],
        gradient: &mut [f64],
    ) -> PyResult<()> {
        let (value, answer) = self.call(py, points, words)?;
        if !values.is_empty() {
            let array = float64(&value)?;
            if array.len() != values.len() {
                return Err(PyValueError::new_err(format!(
                    "the potential returned {} values for {} points",
                    array.len(),
                    values.len()
                )));
            }
            values
                .iter_mut()
                .zip(array.readonly().as_array().iter())
                .for_each(|(v, value)| *v = *value);
        }
        let array = float64(&answer)?;
        let wanted = [points.len() / self.dim, self.dim];
        let wanted = if self.vectorized { &wanted[..] } else { &wanted[1..] };
        // With one coordinate, shapes with and without its axis mean the same.
        let same = array.shape() == wanted || (self.dim == 1 && array.len() == gradient.len());
        if !same {
            return Err(PyValueError::new_err(format!(
                "the potential returned a gradient of shape {} for points of shape {}: they must be the same",
                tuple(array.shape()),
                tuple(wanted)
            )));
        }
        let array = array.readonly();
        let view = array.as_array();
        match view.as_slice() {
            Some(values) => gradient.copy_from_slice(values),
            None => gradient.iter_mut().zip(view.iter()).for_each(|(g, value)| *g = *value),
        }
        Ok(())
    }
}

/// Converts an object to an array of doubles, without a copy if it is one.
fn float64<'py>(answer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Ok(array) = answer.cast::<PyArrayDyn<f64>>() {
        return Ok(array.clone());
    }
    let py = answer.py();
    let convert = CONVERT.import(py, "fuld._returned_arrays", "float64")?;
    Ok(convert.call1((answer,))?.cast_into::<PyArrayDyn<f64>>()?)
}

/// Formats a shape as Python does.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

impl Potential for Callable {
    fn dim(&self) -> usize {
        self.dim
    }

    fn value(&self, x: &[f64]) -> f64 {
        if self.has_failed() {
            return f64::NAN;
        }
        Python::attach(|py| {
            let value = self.call(py, x, &[0]).and_then(|(value, _)| float64(&value));
            match value
                .map(|array| array.readonly().as_array().first().copied().unwrap_or(f64::NAN))
            {
                Ok(value) => value,
                Err(error) => {
                    self.raised.keep(error);
                    f64::NAN
                }
            }
        })
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        self.sampled_gradient(x, 0, gradient);
    }

    fn is_stochastic(&self) -> bool {
        self.stochastic
    }

    fn sampled_gradient(&self, x: &[f64], word: u64, gradient: &mut [f64]) {
        self.gradients(x, &[word], gradient);
    }

    fn specification(&self) -> Option<Specification> {
        let specification = Specification::new("python")
            .with("name", self.name.as_str())
            .with("code", self.code.as_str())
            .with("vectorized", self.vectorized)
            .with("stochastic", self.stochastic);
        Some(specification)
    }

    fn takes_all_chains(&self) -> bool {
        true
    }

    fn has_failed(&self) -> bool {
        self.raised.has_failed()
    }

    fn evaluate(&self, points: &[f64], values: &mut [f64], gradients: &mut [f64]) {
        values.fill(f64::NAN);
        self.call_at_all(points, &vec![0; values.len()], values, gradients);
    }

    fn gradients(&self, points: &[f64], words: &[u64], gradients: &mut [f64]) {
        self.call_at_all(points, words, &mut [], gradients);
    }
}

impl Callable {
    /// Calls the function at all points, at once or one after the other. After an error the
    /// gradients are NaN.
    fn call_at_all(
        &self,
        points: &[f64],
        words: &[u64],
        values: &mut [f64],
        gradients: &mut [f64],
    ) {
        if self.has_failed() || !self.raised.goes_on() {
            return gradients.fill(f64::NAN);
        }
        Python::attach(|py| {
            let answer = if self.vectorized {
                self.call_into(py, points, words, values, gradients)
            } else {
                let one = points
                    .chunks_exact(self.dim)
                    .zip(gradients.chunks_exact_mut(self.dim))
                    .zip(words);
                let mut called = one.enumerate().take_while(|_| self.raised.goes_on());
                called.try_for_each(|(i, ((x, gradient), word))| {
                    let value = values.get_mut(i..=i).unwrap_or_default();
                    self.call_into(py, x, std::slice::from_ref(word), value, gradient)
                })
            };
            if let Err(error) = answer {
                self.raised.keep(error);
                gradients.fill(f64::NAN);
            }
        });
    }
}

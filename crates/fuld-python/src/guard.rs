//! The guard over gradients in this process's memory, and its constants for implementations in
//! Python.

use crate::error::value_error;
use crate::tensors::{Share, Tensors, check_aligned, part, share_out};
use fuld::guard::{
    Decision, Guard, GuardState, GuardStateError, LogSum, RUN, SAMPLE, sampled_positions,
};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use std::ops::Range;
use std::sync::OnceLock;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<GuardedTensors>()?;
    module.add_function(wrap_pyfunction!(guard_constants, module)?)?;
    module.add_function(wrap_pyfunction!(guard_positions, module)?)?;
    module.add_function(wrap_pyfunction!(check_guard_state, module)?)
}

/// Values that are converted at a time.
const CONVERTED: usize = 1 << 10;
/// Length up to which one thread changes a tensor right after its statistics, which leave some of
/// it in the cache.
const SMALL: usize = 1 << 19;

/// Returns the constants of the rule by name: the default clips, r, w, the sample's size, and the
/// numbers of a new state.
#[pyfunction]
fn guard_constants(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let [version, ..] = GuardState::new().to_numbers();
    [
        ("clip_for_sgd", Guard::FOR_SGD.clip()),
        ("clip_for_adam", Guard::FOR_ADAM.clip()),
        ("burst", Guard::BURST),
        ("weight", Guard::WEIGHT),
        ("sample", SAMPLE as f64),
        ("run", RUN as f64),
        ("version", f64::from(version)),
    ]
    .into_py_dict(py)
}

/// Returns the sampled positions of a tensor of this length.
#[pyfunction]
fn guard_positions(py: Python<'_>, length: usize) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_iter(py, sampled_positions(length).map(|position| position as i64))
}

/// Raises a ValueError unless the numbers are the state of a guard.
#[pyfunction]
fn check_guard_state(numbers: Vec<f32>) -> PyResult<()> {
    GuardState::from_numbers(&numbers).map(drop).map_err(value_error)
}

/// Gradients of fixed lengths and the addresses of their states, three `f32` each.
///
/// The caller guarantees the addresses: they must be those of live tensors that nothing else uses
/// during a call.
#[pyclass(frozen, module = "fuld._native")]
pub(crate) struct GuardedTensors {
    states: Vec<usize>,
    lengths: Vec<usize>,
}

#[pymethods]
impl GuardedTensors {
    #[new]
    fn new(states: Vec<usize>, lengths: Vec<usize>) -> PyResult<Self> {
        if states.len() != lengths.len() {
            return Err(PyValueError::new_err("the numbers of states and lengths must be equal"));
        }
        check_aligned::<f32>(&states)?;
        Ok(Self { states, lengths })
    }

    /// Guards dense gradients of `dtype`, given by their addresses, which are `scale` times the
    /// true gradients.
    fn apply(
        &self,
        py: Python<'_>,
        dtype: &str,
        grads: Vec<usize>,
        clip: f64,
        scale: f64,
        threads: usize,
    ) -> PyResult<()> {
        let guard = Guard::new(clip).map_err(value_error)?;
        // A gradient is written to, so it takes the place of the parameters.
        let none = vec![0; grads.len()];
        let tensors = Tensors::new(grads, none.clone(), none, self.lengths.clone(), 0.0)?;
        py.detach(|| match dtype {
            "float32" => self.apply_to::<f32>(guard, scale, &tensors, threads),
            "float64" => self.apply_to::<f64>(guard, scale, &tensors, threads),
            "bfloat16" => self.apply_to::<bf16>(guard, scale, &tensors, threads),
            "float16" => self.apply_to::<f16>(guard, scale, &tensors, threads),
            _ => Err(no_guard(dtype)),
        })
    }
}

impl GuardedTensors {
    /// Returns an error unless the gradients have the lengths that the states were made for.
    pub(crate) fn check_lengths(&self, lengths: &[usize]) -> PyResult<()> {
        if lengths == self.lengths {
            return Ok(());
        }
        Err(PyValueError::new_err("the lengths of guarded gradients must not change"))
    }

    /// Returns the tensors of a range.
    pub(crate) fn only(&self, range: Range<usize>) -> Self {
        Self { states: self.states[range.clone()].to_vec(), lengths: self.lengths[range].to_vec() }
    }

    /// Observes the gradients of a step, without changing them, and returns the decision about
    /// each.
    pub(crate) fn decisions(
        &self,
        dtype: &str,
        grads: &[usize],
        clip: f64,
        threads: usize,
    ) -> PyResult<Vec<Decision>> {
        let guard = Guard::new(clip).map_err(value_error)?;
        let none = vec![0; grads.len()];
        let tensors = Tensors::new(grads.to_vec(), none.clone(), none, self.lengths.clone(), 0.0)?;
        match dtype {
            "float32" => self.observe::<f32>(guard, 1.0, &tensors, threads, |_, _| ()),
            "float64" => self.observe::<f64>(guard, 1.0, &tensors, threads, |_, _| ()),
            "bfloat16" => self.observe::<bf16>(guard, 1.0, &tensors, threads, |_, _| ()),
            "float16" => self.observe::<f16>(guard, 1.0, &tensors, threads, |_, _| ()),
            _ => Err(no_guard(dtype)),
        }
    }

    fn apply_to<T: Number>(
        &self,
        guard: Guard,
        scale: f64,
        tensors: &Tensors,
        threads: usize,
    ) -> PyResult<()> {
        let small = |gradient: &mut [T], decision: &Decision| {
            if gradient.len() <= SMALL {
                T::apply(decision, gradient);
            }
        };
        let decisions = self.observe(guard, scale, tensors, threads, small)?;
        let large: Vec<usize> =
            (0..self.lengths.len()).filter(|&i| tensors.lengths[i] > SMALL).collect();
        tensors.only(large.iter().copied()).each::<T>(threads, |i, Share(gradient, ..)| {
            T::apply(&decisions[large[i]], gradient);
        })
    }

    /// Updates the states from the gradients and returns the decisions. `then` is called with each
    /// gradient and its decision.
    fn observe<T: Number>(
        &self,
        guard: Guard,
        scale: f64,
        tensors: &Tensors,
        threads: usize,
        then: impl Fn(&mut [T], &Decision) + Sync,
    ) -> PyResult<Vec<Decision>> {
        tensors.check_addresses::<T>()?;
        let count = self.lengths.len();
        let decisions: Vec<OnceLock<Result<Decision, GuardStateError>>> =
            vec![OnceLock::new(); count];
        // Tensors per piece of work: each takes microseconds.
        let some = count.div_ceil(4 * threads.max(1)).max(1);
        let pieces = (0..count).step_by(some);
        share_out(tensors.threads(threads).min(pieces.len()), pieces, |first| {
            for (i, place) in decisions.iter().enumerate().skip(first).take(some) {
                let Share(gradient, ..) = tensors.whole::<T>(i);
                // SAFETY: the caller guarantees three numbers, which nothing else uses; `new`
                // checked their alignment.
                let numbers = unsafe { part::<f32>(self.states[i], 0, GuardState::LEN) };
                let decision = GuardState::from_numbers(numbers).map(|mut state| {
                    let logs = T::log_sum(gradient);
                    let sum = logs.sum - logs.count as f64 * scale.ln();
                    let Decision { factor, limit } =
                        guard.observe(&mut state, LogSum { sum, ..logs });
                    numbers.copy_from_slice(&state.to_numbers());
                    Decision { factor, limit: T::nearest(limit * scale) }
                });
                if let Ok(decision) = &decision {
                    then(gradient, decision);
                }
                place.get_or_init(|| decision);
            }
        });
        let observed =
            |decision: OnceLock<Result<Decision, GuardStateError>>| match decision.into_inner() {
                Some(decision) => decision.map_err(value_error),
                None => Err(PyValueError::new_err("a gradient was not observed")),
            };
        decisions.into_iter().map(observed).collect()
    }
}

fn no_guard(dtype: &str) -> PyErr {
    PyValueError::new_err(format!("no guard for gradients of {dtype}"))
}

/// The numbers of a gradient. Halves are converted to single precision.
trait Number: Copy + Send + Sync + 'static {
    /// Returns Σ log|g| over the sampled components.
    fn log_sum(gradient: &[Self]) -> LogSum;
    /// Changes a gradient.
    fn apply(decision: &Decision, gradient: &mut [Self]);
    /// Returns the nearest value of this type, which may be infinite.
    fn nearest(x: f64) -> f64;
}

macro_rules! float {
    ($float:ty) => {
        impl Number for $float {
            fn log_sum(gradient: &[Self]) -> LogSum {
                LogSum::of(gradient)
            }

            fn apply(decision: &Decision, gradient: &mut [Self]) {
                decision.apply(gradient);
            }

            fn nearest(x: f64) -> f64 {
                f64::from(x as $float)
            }
        }
    };
}

float!(f32);
float!(f64);

macro_rules! half {
    ($half:ty) => {
        impl Number for $half {
            fn log_sum(gradient: &[Self]) -> LogSum {
                let sample: Vec<f32> =
                    sampled_positions(gradient.len()).map(|i| gradient[i].to_f32()).collect();
                LogSum::of(&sample)
            }

            fn apply(decision: &Decision, gradient: &mut [Self]) {
                let (mut wide, mut guarded) = ([0f32; CONVERTED], [0f32; CONVERTED]);
                for block in gradient.chunks_mut(CONVERTED) {
                    let (wide, guarded) = (&mut wide[..block.len()], &mut guarded[..block.len()]);
                    block.convert_to_f32_slice(wide);
                    guarded.copy_from_slice(wide);
                    decision.apply(guarded);
                    if wide != guarded {
                        block.convert_from_f32_slice(guarded);
                    }
                }
            }

            fn nearest(x: f64) -> f64 {
                f64::from(<$half>::from_f64(x))
            }
        }
    };
}

half!(bf16);
half!(f16);

//! The optimizer's rule: the coefficients of its step, and the step over tensors in this process's
//! memory.
//!
//! Which form a step has follows from the parameter of its knee: `noise_scale` for the matched
//! form, `beta` for the paper's.

use crate::error::value_error;
use crate::guard::GuardedTensors;
use crate::step_slices::step_all;
use crate::tensors::{Share, Tensors, groups};
use fuld::optimizer::{
    Coordinates, NoiseMatched, Options, PaperSgd, Rule, RuleError, Sgd, WeightDecay,
};
use levy_stable::ParameterError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::{Add, Mul};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StepRule>()?;
    module.add_function(wrap_pyfunction!(step_factors, module)?)
}

/// Values that are copied at a time.
const COPIED: usize = 1 << 9;

/// The parameter that places the knee of the field.
enum KneeSetting {
    /// Scale of the gradient noise, in units of the gradient: the matched form.
    NoiseScale(f64),
    /// Inverse temperature, with κ = β^(−1/α): the paper's form.
    Beta(f64),
}

impl KneeSetting {
    /// Returns the one that is given.
    fn new(noise_scale: Option<f64>, beta: Option<f64>) -> PyResult<Self> {
        match (noise_scale, beta) {
            (Some(noise_scale), None) => Ok(Self::NoiseScale(noise_scale)),
            (None, Some(beta)) => Ok(Self::Beta(beta)),
            _ => Err(PyValueError::new_err("exactly one of noise_scale and beta is required")),
        }
    }

    fn coordinates(&self, alpha: f64, learning_rate: f64, momentum: f64) -> PyResult<Coordinates> {
        match *self {
            Self::NoiseScale(noise_scale) => Coordinates::noise_matched(NoiseMatched {
                alpha,
                learning_rate,
                momentum,
                noise_scale,
            }),
            Self::Beta(beta) => {
                Coordinates::paper_sgd(PaperSgd { alpha, learning_rate, momentum, beta })
            }
        }
        .map_err(value_error)
    }
}

/// Returns `inner` and `outer` of x ← x − outer · ∇G(inner · b) at learning rate 1, for α < 2.
///
/// In the matched form `outer` must be multiplied by the learning rate; in the paper's form both by
/// its root.
#[pyfunction]
#[pyo3(signature = (alpha, momentum, *, noise_scale=None, beta=None))]
fn step_factors(
    alpha: f64,
    momentum: f64,
    noise_scale: Option<f64>,
    beta: Option<f64>,
) -> PyResult<(f64, f64)> {
    // The smallest alpha that the field's tables support.
    if alpha < 0.1 && alpha > 0.0 {
        return Err(value_error(ParameterError::TableAlpha(alpha)));
    }
    let coordinates = KneeSetting::new(noise_scale, beta)?.coordinates(alpha, 1.0, momentum)?;
    Ok((coordinates.inner(), coordinates.outer()))
}

/// The rule of one α, for any other settings.
#[pyclass(frozen, module = "fuld._native")]
struct StepRule {
    rule: Rule,
}

#[pymethods]
impl StepRule {
    #[new]
    fn new(py: Python<'_>, alpha: f64) -> PyResult<Self> {
        let new = || {
            let sgd = Sgd { alpha, learning_rate: 1.0, momentum: 0.0 };
            Rule::new(Coordinates::sgd(sgd)?, Options::default())
        };
        py.detach(new).map(|rule| Self { rule }).map_err(|error: RuleError| value_error(error))
    }

    /// Replaces v by ∇G(v) in tensors in this process's memory, with the same requirements as
    /// [`StepRule::step`]; NaN where v is infinite.
    fn field(
        &self,
        py: Python<'_>,
        dtype: &str,
        tensors: Vec<usize>,
        lengths: Vec<usize>,
        threads: usize,
    ) -> PyResult<()> {
        let none = vec![0; lengths.len()];
        if tensors.len() != lengths.len() {
            return Err(PyValueError::new_err("the numbers of tensors and lengths must be equal"));
        }
        let Some(table) = self.rule.field() else { return Ok(()) };
        let tensors = Tensors { params: tensors, buffers: none.clone(), grads: none, lengths };
        match dtype {
            "float32" => py.detach(|| {
                tensors.each::<f32>(threads, |_, Share(v, ..)| {
                    in_place(v, |v, h| table.eval_into_f32(v, h))
                })
            }),
            "float64" => py.detach(|| {
                tensors.each::<f64>(threads, |_, Share(v, ..)| {
                    in_place(v, |v, h| table.eval_into(v, h))
                })
            }),
            _ => Err(PyValueError::new_err(format!("no field for numbers of {dtype}"))),
        }
    }

    /// Takes one step over tensors in this process's memory. Each is given by the addresses of its
    /// parameters, its buffer and its gradient, all of `dtype` and dense in the same order, and by
    /// its length. Without momentum there are no buffers.
    ///
    /// At most `threads` threads share the work. The caller guarantees the addresses: they must be
    /// those of live tensors that nothing else writes until this returns.
    ///
    /// With a guard, given by its states and its clip, gradients are guarded in the pass of the
    /// step, which does not write to them.
    #[pyo3(signature = (dtype, params, buffers, grads, lengths, lr, momentum, noise_scale, beta, weight_decay, decoupled, nesterov,
        maximize, threads, guard=None))]
    #[allow(clippy::too_many_arguments)]
    fn step(
        &self,
        py: Python<'_>,
        dtype: &str,
        params: Vec<usize>,
        buffers: Vec<usize>,
        grads: Vec<usize>,
        lengths: Vec<usize>,
        lr: f64,
        momentum: f64,
        noise_scale: Option<f64>,
        beta: Option<f64>,
        weight_decay: f64,
        decoupled: bool,
        nesterov: bool,
        maximize: bool,
        threads: usize,
        guard: Option<(Bound<'_, GuardedTensors>, f64)>,
    ) -> PyResult<()> {
        let alpha = self.rule.coordinates().alpha();
        let coordinates = KneeSetting::new(noise_scale, beta)?.coordinates(alpha, lr, momentum)?;
        let weight_decay = WeightDecay::new(weight_decay, decoupled);
        let options = Options { weight_decay, nesterov, maximize };
        let rule = self.rule.with(coordinates, options).map_err(value_error)?;
        let tensors = Tensors::new(params, buffers, grads, lengths, momentum)?;
        let Some((guarded, clip)) = guard else {
            return step_all(py, dtype, &tensors, threads, &rule, None);
        };
        let guarded = guarded.get();
        guarded.check_lengths(&tensors.lengths)?;
        // Group by group, so that the step finds in the cache what the guard has read.
        for group in groups(&tensors.lengths, threads) {
            let (some, guarded) = (tensors.only(group.clone()), guarded.only(group));
            let decisions = py.detach(|| guarded.decisions(dtype, &some.grads, clip, threads))?;
            step_all(py, dtype, &some, threads, &rule, Some(&decisions))?;
        }
        Ok(())
    }
}

/// Evaluates the field in place.
fn in_place<T>(v: &mut [T], field: impl Fn(&[T], &mut [T]))
where
    T: Copy + From<f32> + Add<Output = T> + Mul<Output = T>,
{
    let zero = T::from(0.0);
    let mut copy = [zero; COPIED];
    for v in v.chunks_mut(COPIED) {
        let copy = &mut copy[..v.len()];
        copy.copy_from_slice(v);
        field(copy, v);
        // 0, or NaN where the field was taken of infinity.
        v.iter_mut().zip(copy).for_each(|(h, v)| *h = *h + zero * *v);
    }
}

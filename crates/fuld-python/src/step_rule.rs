//! The optimizer's rule: its numbers, and its step over memory that others hold.

use crate::error::value_error;
use crate::step_slices::step_all;
use crate::tensors::{Share, Tensors};
use fuld::optimizer::{
    Coordinates, Matched, NoiseMatched, Options, PaperSgd, Rule, RuleError, Sgd, WeightDecay,
};
use levy_stable::ParameterError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::{Add, Mul};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StepRule>()?;
    module.add_function(wrap_pyfunction!(step_factors, module)?)?;
    module.add_function(wrap_pyfunction!(bend_factors, module)?)
}

/// Values that are copied at a time.
const COPIED: usize = 1 << 9;

fn coordinates(
    form: &str,
    alpha: f64,
    learning_rate: f64,
    momentum: f64,
    scale: f64,
) -> PyResult<Coordinates> {
    match form {
        "matched" => {
            Coordinates::noise_matched(NoiseMatched { alpha, learning_rate, momentum, noise_scale: scale })
        }
        // Here `scale` is κ = β^(−1/α).
        "paper" => {
            Coordinates::paper_sgd(PaperSgd { alpha, learning_rate, momentum, beta: scale.powf(-alpha) })
        }
        _ => return Err(PyValueError::new_err(format!("form must be 'matched' or 'paper', got {form:?}"))),
    }
    .map_err(value_error)
}

/// `inner` and `outer` of x ← x − outer · ∇G(inner · b) at learning rate 1, for α < 2.
///
/// In the matched form outer is to be multiplied by the learning rate; in the paper's, both by its root.
#[pyfunction]
fn step_factors(form: &str, alpha: f64, momentum: f64, scale: f64) -> PyResult<(f64, f64)> {
    // What the field's tables start from.
    if alpha < 0.1 && alpha > 0.0 {
        return Err(value_error(ParameterError::TableAlpha(alpha)));
    }
    let coordinates = coordinates(form, alpha, 1.0, momentum, scale)?;
    Ok((coordinates.inner(), coordinates.outer()))
}

/// The same of a step whose field bends at |b| ~ `bend`.
#[pyfunction]
fn bend_factors(alpha: f64, momentum: f64, bend: f64) -> PyResult<(f64, f64)> {
    let coordinates = Coordinates::matched(Matched { alpha, learning_rate: 1.0, momentum, kappa: bend })
        .map_err(value_error)?;
    Ok((coordinates.inner(), coordinates.outer()))
}

/// The rule of one α, for any settings.
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

    /// v ← ∇G(v) over tensors in this process's memory, on the terms of [`StepRule::step`]; NaN where v is infinite, as there.
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
            return Err(PyValueError::new_err("as many tensors as lengths are needed"));
        }
        let Some(table) = self.rule.field() else { return Ok(()) };
        let tensors = Tensors { params: tensors, buffers: none.clone(), grads: none, lengths };
        match dtype {
            "float32" => py.detach(|| {
                tensors.each::<f32>(threads, |_, Share(v, ..)| in_place(v, |v, h| table.eval_into_f32(v, h)))
            }),
            "float64" => py.detach(|| {
                tensors.each::<f64>(threads, |_, Share(v, ..)| in_place(v, |v, h| table.eval_into(v, h)))
            }),
            _ => Err(PyValueError::new_err(format!("no field for numbers of {dtype}"))),
        }
    }

    /// One step over tensors in this process's memory, each given by the addresses of its parameters, its buffer and its
    /// gradient, all of `dtype` and dense in the same order, and by its length. Without momentum there are no buffers.
    ///
    /// At most `threads` threads share the work. The caller answers for the addresses: they must be those of tensors that live
    /// and are not written by others until this returns.
    #[allow(clippy::too_many_arguments)]
    fn step(
        &self,
        py: Python<'_>,
        dtype: &str,
        params: Vec<usize>,
        buffers: Vec<usize>,
        grads: Vec<usize>,
        lengths: Vec<usize>,
        form: &str,
        lr: f64,
        momentum: f64,
        scale: f64,
        weight_decay: f64,
        decoupled: bool,
        nesterov: bool,
        maximize: bool,
        threads: usize,
    ) -> PyResult<()> {
        let coordinates = coordinates(form, self.rule.coordinates().alpha(), lr, momentum, scale)?;
        let weight_decay = WeightDecay::new(weight_decay, decoupled);
        let options = Options { weight_decay, nesterov, maximize };
        let rule = self.rule.with(coordinates, options).map_err(value_error)?;
        let tensors = Tensors::new(params, buffers, grads, lengths, momentum)?;
        step_all(py, dtype, &tensors, threads, |_| &rule)
    }
}

/// The field in the place of its argument.
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

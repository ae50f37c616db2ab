//! The optimizer's rule: its numbers, and its step over memory that others hold.

use crate::error::value_error;
use crate::{openmp, threads};
use fuld::optimizer::{Coordinates, Options, Real, Rule, RuleError, WeightDecay};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use levy_stable::ParameterError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::{Add, Mul};
use std::sync::Mutex;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StepRule>()?;
    module.add_function(wrap_pyfunction!(step_factors, module)?)
}

/// From this many values on threads are worth waking.
const MANY: usize = 1 << 16;
/// Values that a thread takes at a time; a multiple of the sixteen that the rule takes together.
const SHARE: usize = 1 << 15;
/// Values that are copied at a time, or converted where parameters are of half precision.
const CONVERTED: usize = 1 << 9;

fn coordinates(form: &str, alpha: f64, lr: f64, momentum: f64, scale: f64) -> PyResult<Coordinates> {
    match form {
        "matched" => Coordinates::of_noise(alpha, lr, momentum, scale),
        "paper" => Coordinates::paper_sgd(alpha, lr, momentum, scale),
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

/// The rule of one α, for any settings.
#[pyclass(frozen, module = "fuld._native")]
struct StepRule {
    rule: Rule,
}

#[pymethods]
impl StepRule {
    #[new]
    fn new(py: Python<'_>, alpha: f64) -> PyResult<Self> {
        let new = || Rule::new(Coordinates::sgd(alpha, 1.0, 0.0)?, Options::default());
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
                tensors.each::<f32>(threads, |v, _, _| in_place(v, |v, h| table.eval_into_f32(v, h)))
            }),
            "float64" => py
                .detach(|| tensors.each::<f64>(threads, |v, _, _| in_place(v, |v, h| table.eval_into(v, h)))),
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
        let weight_decay = WeightDecay::of(weight_decay, decoupled);
        let options = Options { weight_decay, nesterov, maximize };
        let rule = self.rule.with(coordinates, options).map_err(value_error)?;
        let count = lengths.len();
        let buffers = if momentum == 0.0 { vec![0; count] } else { buffers };
        if params.len() != count || grads.len() != count || buffers.len() != count {
            return Err(PyValueError::new_err(
                "as many parameters, buffers, gradients and lengths are needed",
            ));
        }
        let tensors = Tensors { params, buffers, grads, lengths };
        match dtype {
            "float32" => py.detach(|| tensors.each::<f32>(threads, |x, b, g| step_slices(&rule, x, b, g))),
            "float64" => py.detach(|| tensors.each::<f64>(threads, |x, b, g| step_slices(&rule, x, b, g))),
            "bfloat16" => py.detach(|| tensors.each::<bf16>(threads, |x, b, g| step_halves(&rule, x, b, g))),
            "float16" => py.detach(|| tensors.each::<f16>(threads, |x, b, g| step_halves(&rule, x, b, g))),
            _ => Err(PyValueError::new_err(format!("no step for parameters of {dtype}"))),
        }
    }
}

/// Where the tensors of a step are.
struct Tensors {
    params: Vec<usize>,
    /// 0 where there is no momentum.
    buffers: Vec<usize>,
    /// 0 where only the field is taken.
    grads: Vec<usize>,
    lengths: Vec<usize>,
}

/// A part of a tensor: parameters, gradient, buffer.
struct Share<'a, T>(&'a mut [T], Option<&'a mut [T]>, &'a [T]);

impl Tensors {
    /// Takes `step` over all of them, on at most so many threads.
    fn each<T: Send + Sync + 'static>(
        &self,
        threads: usize,
        step: impl Fn(&mut [T], Option<&mut [T]>, &[T]) + Sync,
    ) -> PyResult<()> {
        let aligned = |address: &usize| address.is_multiple_of(align_of::<T>());
        if ![&self.params, &self.buffers, &self.grads].iter().all(|list| list.iter().all(aligned)) {
            return Err(PyValueError::new_err(
                "numbers must be at addresses that are multiples of their size",
            ));
        }
        let mut shares = (0..self.lengths.len()).flat_map(|i| self.shares::<T>(i));
        if threads < 2 || self.lengths.iter().sum::<usize>() < MANY {
            shares.for_each(|Share(x, b, g)| step(x, b, g));
            return Ok(());
        }
        // Each thread takes the next share: one that comes late holds up nobody.
        let shares = Mutex::new(&mut shares);
        let next = || shares.lock().ok()?.next();
        let work = || {
            while let Some(Share(x, b, g)) = next() {
                step(x, b, g);
            }
        };
        if !openmp::run(threads, &work) {
            threads::install(|| (0..threads).into_par_iter().for_each(|_| work()));
        }
        Ok(())
    }

    fn shares<T: 'static>(&self, i: usize) -> impl Iterator<Item = Share<'_, T>> {
        let length = self.lengths[i];
        (0..length).step_by(SHARE).map(move |start| {
            let size = SHARE.min(length - start);
            // SAFETY: the caller of `StepRule::step` answers for `length` values at each address, which nobody else uses; the
            // parts do not overlap.
            unsafe {
                Share(
                    part(self.params[i], start, size),
                    (self.buffers[i] != 0).then(|| part(self.buffers[i], start, size)),
                    if self.grads[i] == 0 { &[] } else { part(self.grads[i], start, size) },
                )
            }
        })
    }
}

/// `size` values from the `start`-th on at an address.
///
/// # Safety
///
/// They must be there, and nobody else may use them.
unsafe fn part<'a, T>(address: usize, start: usize, size: usize) -> &'a mut [T] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut((address as *mut T).add(start), size) }
}

fn step_slices<T: Real>(rule: &Rule, x: &mut [T], b: Option<&mut [T]>, g: &[T]) {
    match b {
        Some(b) => rule.step(x, b, g),
        None => rule.step_without_momentum(x, g),
    }
}

/// The step in single precision, of numbers that are held in half.
fn step_halves<T>(rule: &Rule, x: &mut [T], mut b: Option<&mut [T]>, g: &[T])
where
    [T]: HalfFloatSliceExt,
{
    let (mut wide_x, mut wide_b, mut wide_g) = ([0f32; CONVERTED], [0f32; CONVERTED], [0f32; CONVERTED]);
    for start in (0..g.len()).step_by(CONVERTED) {
        let part = start..g.len().min(start + CONVERTED);
        let (wide_x, wide_b, wide_g) =
            (&mut wide_x[..part.len()], &mut wide_b[..part.len()], &mut wide_g[..part.len()]);
        x[part.clone()].convert_to_f32_slice(wide_x);
        g[part.clone()].convert_to_f32_slice(wide_g);
        if let Some(b) = &mut b {
            b[part.clone()].convert_to_f32_slice(wide_b);
            rule.step(wide_x, wide_b, wide_g);
            b[part.clone()].convert_from_f32_slice(wide_b);
        } else {
            rule.step_without_momentum(wide_x, wide_g);
        }
        x[part].convert_from_f32_slice(wide_x);
    }
}

/// The field in the place of its argument.
fn in_place<T>(v: &mut [T], field: impl Fn(&[T], &mut [T]))
where
    T: Copy + From<f32> + Add<Output = T> + Mul<Output = T>,
{
    let zero = T::from(0.0);
    let mut copy = [zero; CONVERTED];
    for v in v.chunks_mut(CONVERTED) {
        let copy = &mut copy[..v.len()];
        copy.copy_from_slice(v);
        field(copy, v);
        // 0, or NaN where the field was taken of infinity.
        v.iter_mut().zip(copy).for_each(|(h, v)| *h = *h + zero * *v);
    }
}

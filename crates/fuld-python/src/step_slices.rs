//! The step of a rule over tensors of each type of numbers.

use crate::tensors::{Share, Tensors};
use fuld::optimizer::{Real, Rule};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Values that are converted at a time.
const CONVERTED: usize = 1 << 9;

/// Takes the step of each tensor's rule, on at most so many threads.
pub(crate) fn step_all<'a>(
    py: Python<'_>,
    dtype: &str,
    tensors: &Tensors,
    threads: usize,
    rule: impl Fn(usize) -> &'a Rule + Sync + Send,
) -> PyResult<()> {
    match dtype {
        "float32" => py.detach(|| tensors.each::<f32>(threads, |i, share| slices(rule(i), share))),
        "float64" => py.detach(|| tensors.each::<f64>(threads, |i, share| slices(rule(i), share))),
        "bfloat16" => py.detach(|| tensors.each::<bf16>(threads, |i, share| halves(rule(i), share))),
        "float16" => py.detach(|| tensors.each::<f16>(threads, |i, share| halves(rule(i), share))),
        _ => Err(no_step(dtype)),
    }
}

fn no_step(dtype: &str) -> PyErr {
    PyValueError::new_err(format!("no step for parameters of {dtype}"))
}

fn slices<T: Real>(rule: &Rule, Share(x, b, g): Share<'_, T>) {
    match b {
        Some(b) => rule.step(x, b, g),
        None => rule.step_without_momentum(x, g),
    }
}

/// The step in single precision, of numbers that are held in half.
fn halves<T>(rule: &Rule, Share(x, mut b, g): Share<'_, T>)
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

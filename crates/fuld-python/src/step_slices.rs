//! The step of a rule over tensors of each type of numbers.

use crate::tensors::{Share, Tensors};
use fuld::guard::Decision;
use fuld::optimizer::{Real, Rule};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Values that are converted or guarded at a time.
const COPIED: usize = 1 << 9;

/// Takes the step of a rule over all tensors, on at most so many threads. With a guard's decisions,
/// one per tensor, gradients are guarded in the pass of the step.
pub(crate) fn step_all(
    py: Python<'_>,
    dtype: &str,
    tensors: &Tensors,
    threads: usize,
    rule: &Rule,
    decisions: Option<&[Decision]>,
) -> PyResult<()> {
    let decision = |i: usize| decisions.map(|decisions| decisions[i]);
    py.detach(|| match dtype {
        "float32" => tensors.each::<f32>(threads, |i, share| slices(rule, decision(i), share)),
        "float64" => tensors.each::<f64>(threads, |i, share| slices(rule, decision(i), share)),
        "bfloat16" => tensors.each::<bf16>(threads, |i, share| halves(rule, decision(i), share)),
        "float16" => tensors.each::<f16>(threads, |i, share| halves(rule, decision(i), share)),
        _ => Err(no_step(dtype)),
    })
}

fn no_step(dtype: &str) -> PyErr {
    PyValueError::new_err(format!("no step for parameters of {dtype}"))
}

fn slices<T: Real>(rule: &Rule, decision: Option<Decision>, share: Share<'_, T>) {
    match decision {
        None => plain(rule, share),
        Some(decision) => plain(&rule.guarded(decision), share),
    }
}

fn plain<T: Real>(rule: &Rule, Share(x, b, g): Share<'_, T>) {
    match b {
        Some(b) => rule.step(x, b, g),
        None => rule.step_without_momentum(x, g),
    }
}

/// The step in single precision, of numbers that are held in half.
fn halves<T>(rule: &Rule, decision: Option<Decision>, Share(x, mut b, g): Share<'_, T>)
where
    [T]: HalfFloatSliceExt,
{
    let (mut wide_x, mut wide_b, mut wide_g) = ([0f32; COPIED], [0f32; COPIED], [0f32; COPIED]);
    for start in (0..g.len()).step_by(COPIED) {
        let part = start..g.len().min(start + COPIED);
        let (wide_x, wide_b, wide_g) =
            (&mut wide_x[..part.len()], &mut wide_b[..part.len()], &mut wide_g[..part.len()]);
        x[part.clone()].convert_to_f32_slice(wide_x);
        g[part.clone()].convert_to_f32_slice(wide_g);
        if let Some(decision) = decision {
            decision.apply(wide_g);
        }
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

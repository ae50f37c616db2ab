//! Steps of Adam and AdamW over tensors in this process's memory, with the guard inside.

use crate::guard::GuardedTensors;
use crate::tensors::{check_aligned, groups, part, parts_of, share_out, threads_for};
use fuld::guard::Decision;
use fuld::optimizer::{Adam, Real, WeightDecay};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::Range;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(adam_step, module)?)
}

/// Addresses of the tensors of a step.
struct AdamTensors {
    params: Vec<usize>,
    first: Vec<usize>,
    second: Vec<usize>,
    grads: Vec<usize>,
    /// Numbers of steps, one `f32` per tensor.
    steps: Vec<usize>,
    lengths: Vec<usize>,
}

/// Takes one step of Adam over tensors of `dtype`, each given by the addresses of its parameters,
/// its averages, its gradient and its number of steps, and by its length. Numbers of steps increase
/// by 1.
///
/// The caller guarantees the addresses: they must be those of live, dense tensors that nothing else
/// uses until this returns.
#[pyfunction]
#[pyo3(signature = (dtype, params, first, second, grads, steps, lengths, guarded, clip, lr, beta1, beta2, eps, weight_decay, decoupled,
    maximize, threads))]
#[allow(clippy::too_many_arguments)]
fn adam_step(
    py: Python<'_>,
    dtype: &str,
    params: Vec<usize>,
    first: Vec<usize>,
    second: Vec<usize>,
    grads: Vec<usize>,
    steps: Vec<usize>,
    lengths: Vec<usize>,
    guarded: &Bound<'_, GuardedTensors>,
    clip: f64,
    lr: f64,
    beta1: f64,
    beta2: f64,
    eps: f64,
    weight_decay: f64,
    decoupled: bool,
    maximize: bool,
    threads: usize,
) -> PyResult<()> {
    let guarded = guarded.get();
    guarded.check_lengths(&lengths)?;
    let tensors = AdamTensors { params, first, second, grads, steps, lengths };
    tensors.check()?;
    let weight_decay = WeightDecay::new(weight_decay, decoupled);
    let adam = Adam { learning_rate: lr, betas: (beta1, beta2), eps, weight_decay, maximize };
    py.detach(|| {
        // Group by group, so that the step finds in the cache what the guard has read.
        for group in groups(&tensors.lengths, threads) {
            let grads = &tensors.grads[group.clone()];
            let decisions = guarded.only(group.clone()).decisions(dtype, grads, clip, threads)?;
            match dtype {
                "float32" => tensors.step::<f32>(&adam, group, &decisions, threads)?,
                "float64" => tensors.step::<f64>(&adam, group, &decisions, threads)?,
                _ => return Err(PyValueError::new_err(format!("no step of Adam for {dtype}"))),
            }
        }
        Ok(())
    })
}

impl AdamTensors {
    fn check(&self) -> PyResult<()> {
        let count = self.lengths.len();
        let lists = [&self.params, &self.first, &self.second, &self.grads, &self.steps];
        if lists.iter().any(|list| list.len() != count) {
            return Err(PyValueError::new_err("the lists of tensors must have the same length"));
        }
        check_aligned::<f32>(&self.steps)
    }

    /// Takes the step of a group of tensors, whose gradients the guard has decided about.
    fn step<T: Real + Send + Sync>(
        &self,
        adam: &Adam,
        group: Range<usize>,
        decisions: &[Decision],
        threads: usize,
    ) -> PyResult<()> {
        for list in [&self.params, &self.first, &self.second, &self.grads] {
            check_aligned::<T>(&list[group.clone()])?;
        }
        let counted = |i: usize| {
            // SAFETY: the caller guarantees the numbers of steps; `check` saw their alignment.
            let steps = unsafe { &mut part::<f32>(self.steps[i], 0, 1)[0] };
            *steps += 1.0;
            f64::from(*steps)
        };
        let steps: Vec<f64> = group.clone().map(counted).collect();
        let threads = threads_for(&self.lengths[group.clone()], threads);
        let pieces = group
            .clone()
            .flat_map(|i| parts_of(self.lengths[i]).map(move |(start, size)| (i, start, size)));
        share_out(threads, pieces, |(i, start, size)| {
            // SAFETY: the caller guarantees that the values exist and that nothing else uses them;
            // the parts do not overlap.
            let (x, m, v, g) = unsafe {
                (
                    part::<T>(self.params[i], start, size),
                    part::<T>(self.first[i], start, size),
                    part::<T>(self.second[i], start, size),
                    part::<T>(self.grads[i], start, size),
                )
            };
            let place = i - group.start;
            adam.step(steps[place], Some(decisions[place]), x, m, v, g);
        });
        Ok(())
    }
}

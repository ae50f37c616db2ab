//! The calibrated step over tensors in this process's memory: α, the knee or both are estimated for each tensor.

use crate::error::value_error;
use crate::step_slices::{no_step, step_all};
use crate::tensors::{Share, Tensors, check_aligned, part, share_out};
use fuld::optimizer::{AutoRule, AutoSettings, Calibration, Options, Rule, WeightDecay};
use half::{bf16, f16};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::OnceLock;

/// The rule of a given or an estimated α, for any other settings.
#[pyclass(frozen, module = "fuld._native")]
pub(crate) struct AutoStep {
    rule: AutoRule,
}

#[pymethods]
impl AutoStep {
    #[new]
    #[pyo3(signature = (alpha=None))]
    fn new(py: Python<'_>, alpha: Option<f64>) -> PyResult<Self> {
        let rule = py.detach(|| AutoRule::new(AutoSettings { alpha, ..AutoSettings::new(0.0) }, 1.0));
        rule.map(|rule| Self { rule }).map_err(value_error)
    }

    /// Updates the calibrations of all tensors, then takes the step of those whose field has a knee, with the requirements of
    /// `StepRule.step`. Returns the indices of the others, whose step is that of SGD and is not taken here.
    ///
    /// `calibrations` are the addresses of the states, in single precision: as many numbers as a calibration of the tensor's length has.
    #[allow(clippy::too_many_arguments)]
    fn step(
        &self,
        py: Python<'_>,
        dtype: &str,
        params: Vec<usize>,
        buffers: Vec<usize>,
        grads: Vec<usize>,
        lengths: Vec<usize>,
        calibrations: Vec<usize>,
        lr: f64,
        momentum: f64,
        noise_scale: Option<f64>,
        weight_decay: f64,
        decoupled: bool,
        nesterov: bool,
        maximize: bool,
        threads: usize,
    ) -> PyResult<Vec<usize>> {
        let weight_decay = WeightDecay::new(weight_decay, decoupled);
        let options = Options { weight_decay, nesterov, maximize };
        let rule = self
            .rule
            .with(AutoSettings { noise_scale, momentum, options, ..*self.rule.settings() }, lr)
            .map_err(value_error)?;
        let tensors = Tensors::new(params, buffers, grads, lengths, momentum)?;
        if calibrations.len() != tensors.lengths.len() {
            return Err(PyValueError::new_err("the numbers of calibrations and tensors must be equal"));
        }
        let rules = py.detach(|| match dtype {
            "float32" => calibrate(&rule, &tensors, &calibrations, threads, |x: f32| x),
            "float64" => calibrate(&rule, &tensors, &calibrations, threads, |x: f64| x as f32),
            "bfloat16" => calibrate(&rule, &tensors, &calibrations, threads, bf16::to_f32),
            "float16" => calibrate(&rule, &tensors, &calibrations, threads, f16::to_f32),
            _ => Err(no_step(dtype)),
        })?;
        let (with_knee, without_knee): (Vec<usize>, Vec<usize>) =
            (0..rules.len()).partition(|&i| rules[i].field().is_some());
        let knee_rules: Vec<&Rule> = with_knee.iter().map(|&i| &rules[i]).collect();
        step_all(py, dtype, &tensors.only(&with_knee), threads, |i| knee_rules[i])?;
        Ok(without_knee)
    }
}

/// Updates the calibrations from their tensors and returns the rule of each.
fn calibrate<T: Copy + Send + Sync + 'static>(
    rule: &AutoRule,
    tensors: &Tensors,
    calibrations: &[usize],
    threads: usize,
    single: impl Fn(T) -> f32 + Sync,
) -> PyResult<Vec<Rule>> {
    tensors.check_addresses::<T>()?;
    check_aligned::<f32>(calibrations)?;
    let rules: Vec<OnceLock<Rule>> = vec![OnceLock::new(); calibrations.len()];
    // Tensors per piece of work: updates are short.
    let some = calibrations.len().div_ceil(4 * threads.max(1)).max(1);
    let pieces = (0..calibrations.len()).step_by(some);
    share_out(tensors.threads(threads).min(pieces.len()), pieces, |first| {
        for i in first..calibrations.len().min(first + some) {
            let length = tensors.lengths[i];
            let Share(x, b, g) = tensors.whole::<T>(i);
            // SAFETY: the caller guarantees as many numbers as a calibration of this length has, which nothing else uses; their alignment
            // was checked above.
            let state = unsafe { part::<f32>(calibrations[i], 0, Calibration::state_size(length)) };
            if let Ok(mut calibration) = Calibration::from_state(state, length) {
                rule.observe(&single, &mut calibration, x, b.as_deref().unwrap_or(g), g);
                rules[i].get_or_init(|| rule.rule(&calibration));
            }
        }
    });
    let updated = |of: OnceLock<Rule>| {
        of.into_inner().ok_or_else(|| PyValueError::new_err("a tensor was not calibrated"))
    };
    rules.into_iter().map(updated).collect()
}

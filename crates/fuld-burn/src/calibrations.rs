//! The calibrations of a parameter, one for each run, and the tensor that stores their states.

use crate::step_rule::StepRule;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use fuld::optimizer::{Calibration, Estimates, Observation, Rule};

/// The calibrations of all runs, for parts of equal length.
pub(crate) struct Calibrations {
    all: Vec<Calibration>,
    /// Length of each run's part of the parameter.
    length: usize,
}

impl Calibrations {
    /// Loads the stored states, or begins new ones. Returns None if no run estimates anything.
    ///
    /// # Panics
    ///
    /// If the stored states have another format, or belong to another parameter or number of runs.
    pub(crate) fn load<B: Backend>(
        rules: &[StepRule],
        stored: Option<Tensor<B, 2>>,
        length: usize,
    ) -> Option<Self> {
        if !rules.iter().any(StepRule::is_auto) {
            return None;
        }
        let all = match stored {
            None => vec![Calibration::new(length); rules.len()],
            Some(stored) => {
                let [runs, size] = stored.dims();
                assert!(
                    runs == rules.len(),
                    "the calibration state has {runs} rows, expected one for each of {} runs",
                    rules.len()
                );
                let numbers: Vec<f32> = stored.into_data().convert::<f32>().into_vec().unwrap_or_default();
                let load = |state: &[f32]| {
                    Calibration::from_state(state.to_vec(), length).unwrap_or_else(|error| panic!("{error}"))
                };
                numbers.chunks_exact(size.max(1)).map(load).collect()
            }
        };
        Some(Self { all, length })
    }

    /// Returns the states as a tensor in single precision, whatever the type of the parameters.
    pub(crate) fn to_tensor<B: Backend>(&self, device: &B::Device) -> Tensor<B, 2> {
        let numbers: Vec<f32> = self.all.iter().flat_map(Calibration::state).copied().collect();
        let shape = [self.all.len(), numbers.len() / self.all.len().max(1)];
        Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F32))
    }

    pub(crate) fn of_run(&mut self, run: usize) -> &mut Calibration {
        &mut self.all[run]
    }

    /// Returns the present estimates of each run.
    pub(crate) fn estimates(&self) -> Vec<Estimates> {
        self.all.iter().map(Calibration::estimates).collect()
    }

    /// Updates the calibrations with tensors on any device, and returns the rules of the step.
    pub(crate) fn observe<B: Backend, const D: usize>(
        &mut self,
        rules: &[StepRule],
        x: &Tensor<B, D>,
        b: Option<&Tensor<B, D>>,
        g: &Tensor<B, D>,
    ) -> Vec<Rule> {
        let (runs, length) = (self.all.len(), self.length);
        // All runs that calibrate have observed the same number of gradients, and sample the same coordinates.
        let calibrated = rules.iter().zip(&self.all).find_map(|(rule, of)| rule.is_auto().then_some(of));
        let indices: Vec<i64> = calibrated
            .map_or(Vec::new(), |of| of.sampled_rows(length).flatten().map(|index| index as i64).collect());
        let count = indices.len();
        let indices = Tensor::<B, 1, Int>::from_data(TensorData::new(indices, [count]), &x.device());
        let sampled = |tensor: &Tensor<B, D>| -> Vec<f32> {
            let sampled = tensor.clone().reshape([runs, length]).select(1, indices.clone());
            sampled.into_data().convert::<f32>().into_vec().unwrap_or_default()
        };
        let (x, g) = (sampled(x), sampled(g));
        let mut b = b.map_or_else(|| vec![0.0; g.len()], sampled);
        let rule = |(run, rule): (usize, &StepRule)| match rule {
            StepRule::Fixed(_, rule) => rule.clone(),
            StepRule::Auto(rule) => {
                let part = run * count..(run + 1) * count;
                let observation = Observation {
                    gradient: &g[part.clone()],
                    buffer: &mut b[part.clone()],
                    parameters: &x[part],
                };
                self.all[run].observe(observation, rule.settings());
                rule.rule(&self.all[run])
            }
        };
        rules.iter().enumerate().map(rule).collect()
    }
}

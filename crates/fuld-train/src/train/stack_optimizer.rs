//! The optimizers for a stack of runs.

use crate::mlp::Mlp;
use crate::spec::{Optimizer, TrainSpec};
use crate::tensor_file::{TensorError, TensorFile};
use burn::optim::{Adam, AdamConfig, AdamState, AdaptiveMomentumState, SimpleOptimizer};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use fuld::guard::GuardState;
use fuld_burn::{Fuld, FuldConfig, FuldState, GradientGuard, StackError};

/// An update rule with its state for each layer.
pub(super) struct StackOptimizer<B: Backend> {
    /// The guard, applied before anything else, with its state for each layer.
    guard: Option<(GradientGuard, Vec<Option<Tensor<B, 2>>>)>,
    clip: Option<Clip>,
    step: f64,
    /// √lr, which is η in the paper's form.
    root: f64,
    rule: StatefulRule<B>,
}

enum Clip {
    Norm(f64),
    Value(f64),
}

enum StatefulRule<B: Backend> {
    Momentum(Fuld<B>, Vec<Option<FuldState<B, 3>>>),
    Adam(Adam, Vec<Option<AdamState<B, 3>>>),
}

impl<B: Backend> StackOptimizer<B> {
    /// Creates the optimizer of runs that differ only in α, friction or momentum, knee and seed.
    pub(super) fn new(specs: &[TrainSpec]) -> Result<Self, StackError> {
        let first = &specs[0];
        let rule = if first.optimizer == Optimizer::Adam {
            // burn's default ε is 1e-5. The Adam paper and PyTorch use 1e-8.
            StatefulRule::Adam(
                AdamConfig::new().with_epsilon(1e-8).build(),
                vec![None; first.depth],
            )
        } else {
            let configs: Vec<FuldConfig> = specs.iter().map(TrainSpec::config).collect();
            StatefulRule::Momentum(Fuld::of_runs(&configs)?, vec![None; first.depth])
        };
        let clip = match (first.optimizer, first.clip) {
            (Optimizer::ClipNorm, Some(limit)) => Some(Clip::Norm(limit)),
            (Optimizer::ClipValue, Some(limit)) => Some(Clip::Value(limit)),
            _ => None,
        };
        let root = first.eta.unwrap_or_else(|| first.step().sqrt());
        let guard =
            first.guard().map_err(|error| StackError::Rule { run: 0, source: error.into() })?;
        let guard = guard
            .map(|guard| (GradientGuard::of_runs(guard, specs.len()), vec![None; first.depth]));
        Ok(Self { guard, clip, step: first.step(), root, rule })
    }

    /// Takes a step along the gradients.
    pub(super) fn step(&mut self, net: &mut Mlp<B>, gradients: Vec<Tensor<B, 3>>) {
        let gradients = match &mut self.guard {
            None => gradients,
            Some((guard, states)) => guarded(guard, states, gradients),
        };
        let gradients = match self.clip {
            None => gradients,
            Some(Clip::Value(limit)) => gradients.into_iter().map(|g| clipped(g, limit)).collect(),
            Some(Clip::Norm(limit)) => within_norm(gradients, limit),
        };
        match &mut self.rule {
            StatefulRule::Momentum(rule, states) => {
                move_layers(rule, states, self.step, net, gradients)
            }
            StatefulRule::Adam(rule, states) => {
                move_layers(rule, states, self.step, net, gradients)
            }
        }
    }

    /// Returns the largest |v| = √lr |b| of each run, or `None` before the first step and for rules
    /// without momentum.
    pub(super) fn largest_v(&self) -> Option<Vec<f64>> {
        let StatefulRule::Momentum(_, states) = &self.rule else { return None };
        let layers = states.iter().flatten();
        let largest = layers.map(|state| state.momentum_buffer.clone().abs().max_dim(2).max_dim(1));
        let largest = largest.reduce(Tensor::max_pair)?.into_data();
        Some(largest.iter::<f64>().map(|b| self.root * b).collect())
    }

    /// Adds the state to a checkpoint.
    pub(super) fn save(&self, file: &mut TensorFile) {
        for (layer, state) in self.guard.iter().flat_map(|(_, states)| layers(states)) {
            file.insert(format!("guard.{layer}"), state);
        }
        match &self.rule {
            StatefulRule::Momentum(_, states) => {
                for (layer, state) in layers(states) {
                    file.insert(format!("momentum.{layer}"), &state.momentum_buffer);
                }
            }
            StatefulRule::Adam(_, states) => {
                for (layer, AdamState { momentum }) in layers(states) {
                    file.insert(format!("adam.first.{layer}"), &momentum.moment_1);
                    file.insert(format!("adam.second.{layer}"), &momentum.moment_2);
                }
            }
        }
    }

    /// Reads the state after `iteration` steps from a checkpoint.
    pub(super) fn restore(
        &mut self,
        file: &mut TensorFile,
        net: &Mlp<B>,
        iteration: u64,
    ) -> Result<(), TensorError> {
        if iteration == 0 {
            return Ok(());
        }
        for (n, layer) in net.layers.iter().enumerate() {
            let (shape, device) = (layer.dims(), layer.device());
            if let Some((_, states)) = &mut self.guard {
                states[n] = Some(guard_state(file, n, shape[0], &device)?);
            }
            match &mut self.rule {
                StatefulRule::Momentum(_, states) => {
                    let momentum_buffer = file.take(&format!("momentum.{n}"), shape, &device)?;
                    states[n] = Some(FuldState { momentum_buffer, guard: None });
                }
                StatefulRule::Adam(_, states) => {
                    let momentum = AdaptiveMomentumState {
                        time: iteration as usize,
                        moment_1: file.take(&format!("adam.first.{n}"), shape, &device)?,
                        moment_2: file.take(&format!("adam.second.{n}"), shape, &device)?,
                        max_moment_2: None,
                    };
                    states[n] = Some(AdamState { momentum });
                }
            }
        }
        Ok(())
    }
}

/// Guards the gradients of all layers.
fn guarded<B: Backend>(
    guard: &GradientGuard,
    states: &mut [Option<Tensor<B, 2>>],
    gradients: Vec<Tensor<B, 3>>,
) -> Vec<Tensor<B, 3>> {
    let layer = |(gradient, state): (Tensor<B, 3>, &mut Option<Tensor<B, 2>>)| {
        let (gradient, new) = guard.apply(gradient, state.take());
        *state = Some(new);
        gradient
    };
    gradients.into_iter().zip(states).map(layer).collect()
}

/// Reads the states of the guard of a layer, one row per run.
fn guard_state<B: Backend>(
    file: &mut TensorFile,
    layer: usize,
    runs: usize,
    device: &B::Device,
) -> Result<Tensor<B, 2>, TensorError> {
    let name = format!("guard.{layer}");
    let tensor = file.take(&name, [runs, GuardState::LEN], device)?;
    let numbers: Vec<f32> = tensor.clone().into_data().iter::<f32>().collect();
    for state in numbers.chunks_exact(GuardState::LEN) {
        GuardState::from_numbers(state)
            .map_err(|source| TensorError::Guard { name: name.clone(), source })?;
    }
    Ok(tensor)
}

fn layers<S>(states: &[Option<S>]) -> impl Iterator<Item = (usize, &S)> {
    states.iter().enumerate().filter_map(|(layer, state)| Some((layer, state.as_ref()?)))
}

fn move_layers<B: Backend, O: SimpleOptimizer<B>>(
    rule: &O,
    states: &mut [Option<O::State<3>>],
    step: f64,
    net: &mut Mlp<B>,
    gradients: Vec<Tensor<B, 3>>,
) {
    let layers = std::mem::take(&mut net.layers);
    let moved = layers.into_iter().zip(gradients).zip(states).map(|((layer, gradient), state)| {
        let (layer, new) = rule.step(step, layer, gradient, state.take());
        *state = new;
        layer
    });
    net.layers = moved.collect();
}

/// Clips each component to ±limit. NaN stays NaN; some devices would clamp it to a number.
fn clipped<B: Backend>(gradient: Tensor<B, 3>, limit: f64) -> Tensor<B, 3> {
    let nan = gradient.clone().is_nan();
    gradient.clamp(-limit, limit).mask_fill(nan, f32::NAN)
}

/// Scales the gradients of each run so that their joint norm is at most the limit, as
/// [`fuld::optimizer::clip::by_norm`] does.
fn within_norm<B: Backend>(gradients: Vec<Tensor<B, 3>>, limit: f64) -> Vec<Tensor<B, 3>> {
    let squares = gradients.iter().map(|g| g.clone().square().sum_dim(2).sum_dim(1));
    let Some(norm) = squares.reduce(|a, b| a + b).map(Tensor::sqrt) else { return gradients };
    let factor = norm.add_scalar(1e-6).recip().mul_scalar(limit).clamp_max(1.0);
    gradients.into_iter().map(|g| g * factor.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Flex;
    use burn::tensor::TensorData;

    #[test]
    fn clipping_by_norm_matches_the_slice_version_for_each_run() {
        let device = Default::default();
        let wave = |n: usize, phase: f32| -> Vec<f32> {
            (0..n).map(|i| (i as f32 * 0.7 + phase).sin()).collect()
        };
        let tensor = |v: &[f32], shape: [usize; 3]| {
            Tensor::<Flex, 3>::from_data(TensorData::new(v.to_vec(), shape), &device)
        };
        let (a, b) = (wave(24, 0.0), wave(12, 1.0));
        let clipped = within_norm(vec![tensor(&a, [2, 3, 4]), tensor(&b, [2, 2, 3])], 0.5);
        let clipped: Vec<Vec<f32>> =
            clipped.into_iter().map(|t| t.into_data().to_vec().unwrap()).collect();
        for run in 0..2 {
            let (mut x, mut y) = (a[run * 12..][..12].to_vec(), b[run * 6..][..6].to_vec());
            fuld::optimizer::clip::by_norm(&mut [&mut x, &mut y], 0.5).unwrap();
            let ours = clipped[0][run * 12..][..12].iter().chain(&clipped[1][run * 6..][..6]);
            for (ours, theirs) in ours.zip(x.iter().chain(&y)) {
                assert!((ours - theirs).abs() < 1e-7, "{ours} {theirs}");
            }
        }
    }
}

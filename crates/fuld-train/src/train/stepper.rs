//! The optimizers, on a stack of runs.

use crate::mlp::Mlp;
use crate::settings::{Optimizer, Settings};
use burn::optim::{Adam, AdamConfig, SimpleOptimizer};
use burn::record::{BinBytesRecorder, FullPrecisionSettings, Recorder, RecorderError};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use fuld::optimizer::Estimates;
use fuld_burn::{Fuld, FuldConfig, StackError};

/// A rule and what it remembers of each layer.
pub(super) struct Stepper<B: Backend> {
    clip: Option<Clip>,
    step: f64,
    /// √lr, which is η in the paper's form.
    root: f64,
    rule: Rule<B>,
}

enum Clip {
    Norm(f64),
    Value(f64),
}

enum Rule<B: Backend> {
    Momentum(Remembering<B, Fuld<B>>),
    Adam(Remembering<B, Adam>),
}

struct Remembering<B: Backend, O: SimpleOptimizer<B>> {
    rule: O,
    states: Vec<Option<O::State<3>>>,
}

impl<B: Backend> Stepper<B> {
    /// For runs that differ in nothing but α, friction or momentum, scale and seed.
    pub(super) fn new(settings: &[Settings]) -> Result<Self, StackError> {
        let first = &settings[0];
        let rule = if first.optimizer == Optimizer::Adam {
            // burn's own ε is 1e-5; this is what everyone else calls Adam.
            Rule::Adam(Remembering::new(AdamConfig::new().with_epsilon(1e-8).build(), first.depth))
        } else {
            let configs: Vec<FuldConfig> = settings.iter().map(Settings::config).collect();
            Rule::Momentum(Remembering::new(Fuld::of_runs(&configs)?, first.depth))
        };
        let clip = match (first.optimizer, first.clip) {
            (Optimizer::ClipNorm, Some(limit)) => Some(Clip::Norm(limit)),
            (Optimizer::ClipValue, Some(limit)) => Some(Clip::Value(limit)),
            _ => None,
        };
        let root = first.eta.unwrap_or_else(|| first.step().sqrt());
        Ok(Self { clip, step: first.step(), root, rule })
    }

    /// Moves the network along the gradients.
    pub(super) fn step(&mut self, net: &mut Mlp<B>, gradients: Vec<Tensor<B, 3>>) {
        let gradients = match self.clip {
            None => gradients,
            Some(Clip::Value(limit)) => gradients.into_iter().map(|g| clipped(g, limit)).collect(),
            Some(Clip::Norm(limit)) => within_norm(gradients, limit),
        };
        match &mut self.rule {
            Rule::Momentum(rule) => rule.step(self.step, net, gradients),
            Rule::Adam(rule) => rule.step(self.step, net, gradients),
        }
    }

    /// The largest |v| = √lr |b| of each run, if there is a momentum by now.
    pub(super) fn largest_v(&self) -> Option<Vec<f64>> {
        let Rule::Momentum(rule) = &self.rule else { return None };
        let layers = rule.states.iter().flatten();
        let largest = layers.map(|state| state.momentum_buffer.clone().abs().max_dim(2).max_dim(1));
        let largest = largest.reduce(Tensor::max_pair)?.into_data();
        Some(largest.iter::<f64>().map(|b| self.root * b).collect())
    }

    /// Returns the estimates of each layer, for each run; empty if all settings are given.
    pub(super) fn estimates(&self) -> Vec<Vec<Estimates>> {
        let Rule::Momentum(rule) = &self.rule else { return Vec::new() };
        rule.states.iter().flatten().filter_map(|state| rule.rule.estimates(state)).collect()
    }

    /// What is remembered, by a recorder of burn's.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, RecorderError> {
        match &self.rule {
            Rule::Momentum(rule) => rule.to_bytes(),
            Rule::Adam(rule) => rule.to_bytes(),
        }
    }

    pub(super) fn load(&mut self, bytes: Vec<u8>, device: &B::Device) -> Result<(), RecorderError> {
        match &mut self.rule {
            Rule::Momentum(rule) => rule.load(bytes, device),
            Rule::Adam(rule) => rule.load(bytes, device),
        }
    }
}

impl<B: Backend, O: SimpleOptimizer<B>> Remembering<B, O> {
    fn new(rule: O, layers: usize) -> Self {
        Self { rule, states: vec![None; layers] }
    }

    fn step(&mut self, step: f64, net: &mut Mlp<B>, gradients: Vec<Tensor<B, 3>>) {
        let layers = std::mem::take(&mut net.layers);
        let moved =
            layers.into_iter().zip(gradients).zip(&mut self.states).map(|((layer, gradient), state)| {
                let (layer, new) = self.rule.step(step, layer, gradient, state.take());
                *state = new;
                layer
            });
        net.layers = moved.collect();
    }

    fn to_bytes(&self) -> Result<Vec<u8>, RecorderError> {
        BinBytesRecorder::<FullPrecisionSettings>::default().record(self.states.clone(), ())
    }

    fn load(&mut self, bytes: Vec<u8>, device: &B::Device) -> Result<(), RecorderError> {
        self.states = BinBytesRecorder::<FullPrecisionSettings>::default().load(bytes, device)?;
        Ok(())
    }
}

/// Each component within ±limit; NaN stays NaN, which some devices would clamp to a number.
fn clipped<B: Backend>(gradient: Tensor<B, 3>, limit: f64) -> Tensor<B, 3> {
    let nan = gradient.clone().is_nan();
    gradient.clamp(-limit, limit).mask_fill(nan, f32::NAN)
}

/// Scales the gradients of each run so that their joint norm is at most the limit, as [`fuld::optimizer::clip::by_norm`] does.
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
    fn clipping_by_norm_is_that_of_the_slices_for_each_run() {
        let device = Default::default();
        let wave =
            |n: usize, phase: f32| -> Vec<f32> { (0..n).map(|i| (i as f32 * 0.7 + phase).sin()).collect() };
        let tensor = |v: &[f32], shape: [usize; 3]| {
            Tensor::<Flex, 3>::from_data(TensorData::new(v.to_vec(), shape), &device)
        };
        let (a, b) = (wave(24, 0.0), wave(12, 1.0));
        let clipped = within_norm(vec![tensor(&a, [2, 3, 4]), tensor(&b, [2, 2, 3])], 0.5);
        let clipped: Vec<Vec<f32>> = clipped.into_iter().map(|t| t.into_data().to_vec().unwrap()).collect();
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

//! The optimizer of one run: its rule, and the state of each layer.

use super::super::rules::{Clip, StepRule, UpdateRule};
use crate::network::Layer;
use crate::tensor_file::{RunTensors, TensorError, TensorFile};
use fuld::guard::{Decision, GuardState, LogSum};
use fuld::optimizer::{Adam, Rule, RuleError, clip};
use rayon::prelude::*;

/// Weights that a thread updates at a time. The rule gives the same bits for any division.
const CHUNK: usize = 1 << 14;

/// The rule of a run with its state.
#[derive(Debug)]
pub(super) struct RunOptimizer {
    rule: UpdateRule,
    guard_states: Vec<GuardState>,
    /// b, or Adam's m.
    first: Vec<Vec<f32>>,
    /// Adam's v; empty for other rules.
    second: Vec<Vec<f32>>,
    /// The guarded gradients of all layers, if their joint norm is clipped.
    gradients: Vec<Vec<f32>>,
}

impl RunOptimizer {
    pub(super) fn new(rule: UpdateRule, layers: &[Layer]) -> Self {
        let zeros = |used: bool| -> Vec<Vec<f32>> {
            let length = |layer: &Layer| if used { layer.weights.len() } else { 0 };
            layers.iter().map(|layer| vec![0.0; length(layer)]).collect()
        };
        let is_adam = matches!(rule.step, StepRule::Adam(_));
        let by_norm = matches!(rule.clip, Some(Clip::Norm(_)));
        Self {
            guard_states: vec![GuardState::new(); layers.len()],
            first: zeros(true),
            second: zeros(is_adam),
            gradients: zeros(by_norm),
            rule,
        }
    }

    /// Takes the step of one layer, number `iteration` from 0. If joint norms are clipped, the
    /// gradient is kept for [`RunOptimizer::finish`] instead.
    pub(super) fn step(
        &mut self,
        iteration: u64,
        layer: usize,
        weights: &mut [f32],
        gradient: &mut [f32],
    ) -> Result<(), RuleError> {
        let decision = self
            .rule
            .guard
            .map(|guard| guard.observe(&mut self.guard_states[layer], LogSum::of(gradient)));
        match (self.rule.clip, decision) {
            (None, _) => {
                self.update(iteration, layer, decision, weights, gradient);
                return Ok(());
            }
            (Some(_), Some(decision)) => decision.apply(gradient),
            (Some(_), None) => {}
        }
        match self.rule.clip {
            Some(Clip::Norm(_)) => self.gradients[layer].copy_from_slice(gradient),
            Some(Clip::Value(limit)) => {
                clip::by_value(gradient, limit)?;
                self.update(iteration, layer, None, weights, gradient);
            }
            None => {}
        }
        Ok(())
    }

    /// Takes the steps of all layers if their joint norm is clipped.
    pub(super) fn finish(&mut self, iteration: u64, layers: &mut [Layer]) -> Result<(), RuleError> {
        let Some(Clip::Norm(limit)) = self.rule.clip else { return Ok(()) };
        let mut gradients = std::mem::take(&mut self.gradients);
        let mut slices: Vec<&mut [f32]> = gradients.iter_mut().map(Vec::as_mut_slice).collect();
        clip::by_norm(&mut slices, limit)?;
        for (n, (layer, gradient)) in layers.iter_mut().zip(&gradients).enumerate() {
            self.update(iteration, n, None, &mut layer.weights, gradient);
        }
        self.gradients = gradients;
        Ok(())
    }

    fn update(
        &mut self,
        iteration: u64,
        layer: usize,
        decision: Option<Decision>,
        x: &mut [f32],
        g: &[f32],
    ) {
        let (first, second) = (&mut self.first[layer], &mut self.second[layer]);
        match &self.rule.step {
            StepRule::Momentum(rule) => match decision {
                Some(decision) => move_along(&rule.guarded(decision), x, first, g),
                None => move_along(rule, x, first, g),
            },
            StepRule::Adam(adam) => {
                move_by_adam(adam, (iteration + 1) as f64, decision, x, (first, second), g);
            }
        }
    }

    /// Returns the largest |v| = √lr |b|, or `None` for rules without momentum.
    pub(super) fn largest_v(&self) -> Option<f64> {
        let StepRule::Momentum(rule) = &self.rule.step else { return None };
        // `f32::max` would ignore NaN.
        let larger = |a: f32, b: &f32| if b.abs() <= a { a } else { b.abs() };
        let largest = self.first.iter().flatten().fold(0.0, larger);
        Some(rule.coordinates().learning_rate().sqrt() * f64::from(largest))
    }

    /// Adds the state to a checkpoint, after the states of the runs before this one.
    pub(super) fn save(&self, file: &mut TensorFile, layers: &[Layer]) {
        for (n, layer) in layers.iter().enumerate() {
            let shape = [layer.inputs, layer.outputs];
            if self.rule.guard.is_some() {
                let state = self.guard_states[n].to_numbers();
                file.push(format!("guard.{n}"), &[GuardState::LEN], &state);
            }
            match self.rule.step {
                StepRule::Momentum(_) => {
                    file.push(format!("momentum.{n}"), &shape, &self.first[n]);
                }
                StepRule::Adam(_) => {
                    file.push(format!("adam.first.{n}"), &shape, &self.first[n]);
                    file.push(format!("adam.second.{n}"), &shape, &self.second[n]);
                }
            }
        }
    }

    /// Reads the state from a checkpoint.
    pub(super) fn restore(
        &mut self,
        file: RunTensors<'_>,
        layers: &[Layer],
    ) -> Result<(), TensorError> {
        for (n, layer) in layers.iter().enumerate() {
            let shape = [layer.inputs, layer.outputs];
            if self.rule.guard.is_some() {
                let name = format!("guard.{n}");
                let mut numbers = [0.0; GuardState::LEN];
                file.read(&name, &[GuardState::LEN], &mut numbers)?;
                self.guard_states[n] = GuardState::from_numbers(&numbers)
                    .map_err(|source| TensorError::Guard { name, source })?;
            }
            match self.rule.step {
                StepRule::Momentum(_) => {
                    file.read(&format!("momentum.{n}"), &shape, &mut self.first[n])?;
                }
                StepRule::Adam(_) => {
                    file.read(&format!("adam.first.{n}"), &shape, &mut self.first[n])?;
                    file.read(&format!("adam.second.{n}"), &shape, &mut self.second[n])?;
                }
            }
        }
        Ok(())
    }
}

/// Takes the step of a rule; the threads of the current pool share the weights.
fn move_along(rule: &Rule, x: &mut [f32], b: &mut [f32], g: &[f32]) {
    let parts = x.par_chunks_mut(CHUNK).zip(b.par_chunks_mut(CHUNK)).zip(g.par_chunks(CHUNK));
    parts.for_each(|((x, b), g)| rule.step(x, b, g));
}

/// Takes step number `k` of Adam; the threads of the current pool share the weights.
fn move_by_adam(
    adam: &Adam,
    k: f64,
    decision: Option<Decision>,
    x: &mut [f32],
    (m, v): (&mut [f32], &mut [f32]),
    g: &[f32],
) {
    let moments = m.par_chunks_mut(CHUNK).zip(v.par_chunks_mut(CHUNK));
    let parts = x.par_chunks_mut(CHUNK).zip(moments).zip(g.par_chunks(CHUNK));
    parts.for_each(|((x, (m, v)), g)| adam.step(k, decision, x, m, v, g));
}

//! Optimizers with their state for each tensor of a model.

use super::spec::{MOMENTUM, TextOptimizer};
use super::transformer::Transformer;
use burn::backend::Flex;
use burn::optim::{Adam, AdamConfig, SimpleOptimizer};
use burn::tensor::{Tensor, TensorData};
use fuld::optimizer::{Estimates, RuleError, clip};
use fuld_burn::{Form, Fuld, FuldConfig};

type Gradients = Vec<Tensor<Flex, 2>>;

/// An optimizer that updates a model.
pub(super) struct ModelOptimizer {
    kind: TextOptimizer,
    lr: f64,
    rule: Rule,
}

enum Rule {
    Momentum(WithState<Fuld<Flex>>),
    Adam(WithState<Adam>),
}

/// A rule and its state for each tensor.
struct WithState<O: SimpleOptimizer<Flex>> {
    rule: O,
    states: Vec<Option<O::State<2>>>,
}

impl ModelOptimizer {
    pub(super) fn new(kind: TextOptimizer, lr: f64) -> Result<Self, RuleError> {
        let momentum =
            |config: FuldConfig| Ok::<_, RuleError>(Rule::Momentum(WithState::new(config.build()?)));
        let rule = match kind {
            // burn's default ε is 1e-5; Adam's is 1e-8.
            TextOptimizer::Adam => Rule::Adam(WithState::new(AdamConfig::new().with_epsilon(1e-8).build())),
            TextOptimizer::Auto => momentum(FuldConfig::auto(MOMENTUM))?,
            TextOptimizer::Sgdm | TextOptimizer::ClipNorm(_) | TextOptimizer::ClipValue(_) => {
                momentum(FuldConfig::new(2.0, Form::Sgd { momentum: MOMENTUM }))?
            }
        };
        Ok(Self { kind, lr, rule })
    }

    /// Clips the gradients if the optimizer does so, and updates the model.
    pub(super) fn step(
        &mut self,
        model: &mut Transformer<Flex>,
        gradients: Gradients,
    ) -> Result<(), RuleError> {
        let gradients = match self.kind {
            TextOptimizer::ClipNorm(limit) => clipped(gradients, |all| clip::by_norm(all, limit).map(drop))?,
            TextOptimizer::ClipValue(limit) => {
                clipped(gradients, |all| all.iter_mut().try_for_each(|g| clip::by_value(g, limit)))?
            }
            _ => gradients,
        };
        match &mut self.rule {
            Rule::Momentum(rule) => rule.step(self.lr, model, gradients),
            Rule::Adam(rule) => rule.step(self.lr, model, gradients),
        }
        Ok(())
    }

    /// Returns the estimates of an automatic calibration for each tensor; empty for other optimizers.
    pub(super) fn estimates(&self) -> Vec<Estimates> {
        let Rule::Momentum(WithState { rule, states }) = &self.rule else { return Vec::new() };
        states.iter().flatten().filter_map(|state| rule.estimates(state)).flatten().collect()
    }
}

fn clipped(
    gradients: Gradients,
    clip: impl Fn(&mut [&mut [f32]]) -> Result<(), RuleError>,
) -> Result<Gradients, RuleError> {
    let mut data: Vec<TensorData> = gradients.into_iter().map(Tensor::into_data).collect();
    let mut slices: Vec<&mut [f32]> = data.iter_mut().filter_map(|data| data.as_mut_slice().ok()).collect();
    clip(&mut slices)?;
    Ok(data.into_iter().map(|data| Tensor::from_data(data, &Default::default())).collect())
}

impl<O: SimpleOptimizer<Flex>> WithState<O> {
    fn new(rule: O) -> Self {
        Self { rule, states: Vec::new() }
    }

    fn step(&mut self, lr: f64, model: &mut Transformer<Flex>, gradients: Gradients) {
        self.states.resize(gradients.len(), None);
        // burn updates tensors in place if nothing else holds them.
        let tensors = std::mem::take(&mut model.tensors);
        let updated =
            tensors.into_iter().zip(gradients).zip(&mut self.states).map(|((x, gradient), state)| {
                let (x, new) = self.rule.step(lr, x, gradient, state.take());
                *state = new;
                x
            });
        model.tensors = updated.collect();
    }
}

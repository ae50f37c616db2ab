//! An optimizer and what it remembers of each tensor.

use super::arm::{Arm, MOMENTUM, Setting};
use burn::backend::Flex;
use burn::optim::{Adam, AdamConfig, SimpleOptimizer};
use burn::tensor::{Tensor, TensorData};
use fuld::optimizer::{Estimates, RuleError, clip};
use fuld_burn::{Form, Fuld, FuldConfig};
use fuld_train::transformer::Transformer;

/// What moves a model.
pub(super) struct Stepper {
    arm: Arm,
    setting: Setting,
    rule: Rule,
}

enum Rule {
    Momentum(Remembering<Fuld<Flex>>),
    Adam(Remembering<Adam>),
}

struct Remembering<O: SimpleOptimizer<Flex>> {
    rule: O,
    states: Vec<Option<O::State<2>>>,
}

impl Stepper {
    pub(super) fn new(arm: Arm, setting: Setting) -> Result<Self, RuleError> {
        let rule = match arm {
            // burn's own ε is 1e-5; this is what everyone else calls Adam.
            Arm::Adam => Rule::Adam(Remembering::new(AdamConfig::new().with_epsilon(1e-8).build())),
            Arm::Sgdm | Arm::ClipNorm | Arm::ClipValue => {
                Self::momentum(FuldConfig::new(2.0, Form::Sgd { momentum: MOMENTUM }))?
            }
            Arm::Auto => Self::momentum(FuldConfig::auto(MOMENTUM))?,
        };
        Ok(Self { arm, setting, rule })
    }

    fn momentum(config: FuldConfig) -> Result<Rule, RuleError> {
        Ok(Rule::Momentum(Remembering::new(config.build()?)))
    }

    /// Moves the model along the gradients.
    pub(super) fn step(
        &mut self,
        model: &mut Transformer<Flex>,
        gradients: Vec<Tensor<Flex, 2>>,
    ) -> Result<(), RuleError> {
        let gradients = match self.setting.limit {
            Some(limit) => self.clipped(gradients, limit)?,
            None => gradients,
        };
        match &mut self.rule {
            Rule::Momentum(rule) => rule.step(self.setting.rate, model, gradients),
            Rule::Adam(rule) => rule.step(self.setting.rate, model, gradients),
        }
        Ok(())
    }

    /// Returns the estimates of each tensor; empty if all settings are given.
    pub(super) fn estimates(&self) -> Vec<Estimates> {
        let Rule::Momentum(Remembering { rule, states }) = &self.rule else { return Vec::new() };
        states.iter().flatten().filter_map(|state| rule.estimates(state)).flatten().collect()
    }

    fn clipped(
        &self,
        gradients: Vec<Tensor<Flex, 2>>,
        limit: f64,
    ) -> Result<Vec<Tensor<Flex, 2>>, RuleError> {
        let mut data: Vec<TensorData> = gradients.into_iter().map(Tensor::into_data).collect();
        let mut slices: Vec<&mut [f32]> =
            data.iter_mut().filter_map(|data| data.as_mut_slice().ok()).collect();
        if self.arm == Arm::ClipNorm {
            clip::by_norm(&mut slices, limit)?;
        } else {
            slices.into_iter().try_for_each(|gradient| clip::by_value(gradient, limit))?;
        }
        Ok(data.into_iter().map(|data| Tensor::from_data(data, &Default::default())).collect())
    }
}

impl<O: SimpleOptimizer<Flex>> Remembering<O> {
    fn new(rule: O) -> Self {
        Self { rule, states: Vec::new() }
    }

    fn step(&mut self, rate: f64, model: &mut Transformer<Flex>, gradients: Vec<Tensor<Flex, 2>>) {
        self.states.resize(gradients.len(), None);
        // Tensors that nothing else holds are changed in place.
        let tensors = std::mem::take(&mut model.tensors);
        let moved = tensors.into_iter().zip(gradients).zip(&mut self.states).map(|((x, gradient), state)| {
            let (x, new) = self.rule.step(rate, x, gradient, state.take());
            *state = new;
            x
        });
        model.tensors = moved.collect();
    }
}

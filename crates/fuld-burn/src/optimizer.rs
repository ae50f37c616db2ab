//! The optimizer: state, and which of the two implementations takes the step.

use crate::device_field::DeviceField;
use crate::tensors::Settings;
use crate::{Form, FuldConfig, slices};
use burn::backend::Flex;
use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use fuld::optimizer::{Rule, RuleError};
use std::any::TypeId;
use std::sync::{Arc, Mutex, PoisonError};

/// SGD with momentum whose step goes through ∇G_α. Made by [`FuldConfig`].
///
/// It is a [`SimpleOptimizer`]; burn's adaptor makes it an optimizer of modules, records its state and clips gradients.
/// NaN in a gradient makes the parameter NaN, as with burn's own optimizers.
///
/// # Panics
///
/// A step panics if its learning rate is negative or not finite, or so large that 1 − γη < 0 in the paper's form.
#[derive(Clone, Debug)]
pub struct Fuld<B: Backend> {
    /// One for all, or one for each run of a stack.
    runs: Vec<(Form, Rule)>,
    /// The rules at the last learning rate.
    current: Arc<Mutex<Option<Current>>>,
    /// What the tensor operations need, as of the last learning rate.
    prepared: Arc<Mutex<Option<Prepared<B>>>>,
}

#[derive(Debug)]
struct Current {
    learning_rate: f64,
    rules: Arc<[Rule]>,
}

#[derive(Clone, Debug)]
struct Prepared<B: Backend> {
    learning_rate: f64,
    device: B::Device,
    settings: Settings<B>,
    field: Option<DeviceField<B>>,
}

/// What [`Fuld`] remembers of a parameter: torch's `momentum_buffer`.
#[derive(Record, Clone, Debug)]
pub struct FuldState<B: Backend, const D: usize> {
    /// b
    pub momentum_buffer: Tensor<B, D>,
}

impl<B: Backend> Fuld<B> {
    /// An optimizer of many independent runs at once: the first axis of every parameter counts the runs, each of which has
    /// settings of its own (α, coordinates, momentum; the options must be the same).
    ///
    /// Small networks leave a GPU idle between launches; stacked, they keep it busy.
    pub fn of_runs(configs: &[FuldConfig]) -> Result<Self, RuleError> {
        // The learning rate comes with each step. Any shows whether the rest is right; in the paper's form a small one,
        // because γη ≤ 1 is a question for the step.
        let runs = configs.iter().map(|config| Ok((config.form, config.rule(1e-6)?)));
        Ok(Self {
            runs: runs.collect::<Result<_, RuleError>>()?,
            current: Arc::default(),
            prepared: Arc::default(),
        })
    }

    /// The rules at a learning rate, made anew only for another one. Their tables stay.
    fn rules(&self, learning_rate: f64) -> Arc<[Rule]> {
        let mut slot = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = &*slot
            && current.learning_rate == learning_rate
        {
            return current.rules.clone();
        }
        let at = |(form, rule): &(Form, Rule)| {
            let mut rule = rule.clone();
            let coordinates = form.coordinates(rule.coordinates().alpha(), learning_rate)?;
            rule.set_coordinates(coordinates).map(|()| rule)
        };
        let rules = self.runs.iter().map(|run| at(run).unwrap_or_else(|error| panic!("{error}"))).collect();
        slot.insert(Current { learning_rate, rules }).rules.clone()
    }

    /// Tables and numbers on the device, made anew only for another learning rate or device.
    fn prepared(&self, learning_rate: f64, device: &B::Device) -> Prepared<B> {
        let mut slot = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let same_device = slot.as_ref().filter(|there| there.device == *device);
        if let Some(there) = same_device
            && there.learning_rate == learning_rate
        {
            return there.clone();
        }
        let field = same_device.map(|there| there.field.clone());
        let rules = self.rules(learning_rate);
        let made = Prepared {
            learning_rate,
            device: device.clone(),
            settings: Settings::new(&rules, device),
            field: field.unwrap_or_else(|| DeviceField::of(&rules, device)),
        };
        slot.insert(made).clone()
    }
}

impl<B: Backend> SimpleOptimizer<B> for Fuld<B> {
    type State<const D: usize> = FuldState<B, D>;

    fn step<const D: usize>(
        &self,
        learning_rate: LearningRate,
        tensor: Tensor<B, D>,
        gradient: Tensor<B, D>,
        state: Option<Self::State<D>>,
    ) -> (Tensor<B, D>, Option<Self::State<D>>) {
        let buffer = state.map(|state| state.momentum_buffer);
        let in_memory = TypeId::of::<B>() == TypeId::of::<Flex>();
        let (tensor, momentum_buffer) = if in_memory && matches!(tensor.dtype(), DType::F32 | DType::F64) {
            slices::step(&self.rules(learning_rate), tensor, buffer, gradient)
        } else {
            let Prepared { settings, field, .. } = self.prepared(learning_rate, &tensor.device());
            settings.step(field.as_ref(), tensor, buffer, gradient)
        };
        (tensor, Some(FuldState { momentum_buffer }))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &B::Device) -> Self::State<D> {
        FuldState { momentum_buffer: state.momentum_buffer.to_device(device) }
    }
}

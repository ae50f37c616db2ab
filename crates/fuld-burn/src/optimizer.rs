//! The optimizer: state, and which of the two implementations takes the step.

use crate::calibrations::Calibrations;
use crate::device_field::DeviceField;
use crate::mover::Mover;
use crate::tensors::Settings;
use crate::{FuldConfig, slices};
use burn::backend::Flex;
use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use fuld::optimizer::{Reading, Rule, RuleError};
use std::any::TypeId;
use std::sync::{Arc, Mutex, PoisonError};

/// SGD with momentum whose step goes through ∇G_α. Made by [`FuldConfig`].
///
/// It is a [`SimpleOptimizer`]; burn's adaptor makes it an optimizer of modules, records its state and clips gradients.
/// NaN in a gradient makes the parameter NaN, as with burn's own optimizers.
///
/// Where α or scale is to be found, a step looks at some of the gradients: on a device with memory of its own it waits for them.
///
/// # Panics
///
/// A step panics if its learning rate is negative or not finite, or so large that 1 − γη < 0 in the paper's form.
#[derive(Clone, Debug)]
pub struct Fuld<B: Backend> {
    /// One for all, or one for each run of a stack.
    runs: Vec<Mover>,
    /// They at the last learning rate.
    current: Arc<Mutex<Option<Current>>>,
    /// What the tensor operations need, as of the last learning rate.
    prepared: Arc<Mutex<Option<Prepared<B>>>>,
}

#[derive(Debug)]
struct Current {
    learning_rate: f64,
    movers: Arc<[Mover]>,
}

#[derive(Clone, Debug)]
struct Prepared<B: Backend> {
    learning_rate: f64,
    device: B::Device,
    settings: Settings<B>,
    field: Option<DeviceField<B>>,
}

/// What [`Fuld`] remembers of a parameter: torch's `momentum_buffer`, and what was found from its gradients.
#[derive(Record, Clone, Debug)]
pub struct FuldState<B: Backend, const D: usize> {
    /// b
    pub momentum_buffer: Tensor<B, D>,
    /// What is known of the gradients where α or scale is to be found: a row for each run.
    pub calibration: Option<Tensor<B, 2>>,
}

impl<B: Backend> Fuld<B> {
    /// An optimizer of many independent runs at once: the first axis of every parameter counts the runs, each of which has
    /// settings of its own (α, coordinates, momentum; the options must be the same).
    ///
    /// Small networks leave a GPU idle between launches; stacked, they keep it busy.
    pub fn of_runs(configs: &[FuldConfig]) -> Result<Self, RuleError> {
        // The learning rate comes with each step. Any shows whether the rest is right; in the paper's form a small one,
        // because γη ≤ 1 is a question for the step.
        let runs = configs.iter().map(|config| config.mover(1e-6));
        Ok(Self {
            runs: runs.collect::<Result<_, RuleError>>()?,
            current: Arc::default(),
            prepared: Arc::default(),
        })
    }

    /// What was found from the gradients of a parameter, for each run; None if everything was given.
    pub fn readings<const D: usize>(&self, state: &FuldState<B, D>) -> Option<Vec<Reading>> {
        let length = state.momentum_buffer.shape().num_elements() / self.runs.len();
        let found = Calibrations::of(&self.runs, state.calibration.clone(), length)?;
        Some(found.readings())
    }

    /// What takes steps at a learning rate, made anew only for another one. Tables stay.
    fn movers(&self, learning_rate: f64) -> Arc<[Mover]> {
        let mut slot = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = &*slot
            && current.learning_rate == learning_rate
        {
            return current.movers.clone();
        }
        let at = |run: &Mover| run.at(learning_rate).unwrap_or_else(|error| panic!("{error}"));
        let movers = self.runs.iter().map(at).collect();
        slot.insert(Current { learning_rate, movers }).movers.clone()
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
        let fixed = |mover: &Mover| match mover {
            Mover::Fixed(_, rule) => Some(rule.clone()),
            Mover::Auto(_) => None,
        };
        let rules: Vec<Rule> = self.movers(learning_rate).iter().filter_map(fixed).collect();
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
        let (buffer, kept) =
            state.map_or((None, None), |state| (Some(state.momentum_buffer), state.calibration));
        let movers = self.movers(learning_rate);
        let length = tensor.shape().num_elements() / movers.len();
        let mut found = Calibrations::of(&movers, kept, length);
        let in_memory = TypeId::of::<B>() == TypeId::of::<Flex>();
        let device = tensor.device();
        let (tensor, momentum_buffer) = if in_memory && matches!(tensor.dtype(), DType::F32 | DType::F64) {
            slices::step(&movers, found.as_mut(), tensor, buffer, gradient)
        } else if let Some(found) = &mut found {
            let rules = found.rules(&movers, &tensor, buffer.as_ref(), &gradient);
            let field = DeviceField::of(&rules, &device);
            Settings::new(&rules, &device).step(field.as_ref(), tensor, buffer, gradient)
        } else {
            let Prepared { settings, field, .. } = self.prepared(learning_rate, &device);
            settings.step(field.as_ref(), tensor, buffer, gradient)
        };
        (tensor, Some(FuldState { momentum_buffer, calibration: found.map(|found| found.kept(&device)) }))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &B::Device) -> Self::State<D> {
        FuldState {
            momentum_buffer: state.momentum_buffer.to_device(device),
            calibration: state.calibration.map(|known| known.to_device(device)),
        }
    }
}

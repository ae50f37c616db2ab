//! The optimizer: its state, and the choice between the two implementations of a step.

use crate::device_field::DeviceField;
use crate::gradient_guard::GradientGuard;
use crate::step_rule::StepRule;
use crate::{FuldConfig, slice_step, tensor_step};
use burn::backend::Flex;
use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use fuld::optimizer::RuleError;
use std::any::TypeId;
use std::sync::{Arc, Mutex, PoisonError};

/// Learning rate at which rules are first built and checked. Each step brings its own; a small one
/// leaves γη ≤ 1 to the step.
const LEARNING_RATE: f64 = 1e-6;

/// SGD with momentum whose step passes through ∇G_α. Created by [`FuldConfig`].
///
/// It is a [`SimpleOptimizer`]; burn's adaptor turns it into an optimizer of modules, records its
/// state and clips gradients. NaN in a gradient makes the parameter NaN, as with burn's own
/// optimizers.
///
/// # Panics
///
/// burn's traits give a step no way to return an error. A step panics if its learning rate is
/// negative or not finite, or so large that 1 − γη < 0 in the paper's form; and if a recorded state
/// of the guard has another format.
#[derive(Clone, Debug)]
pub struct Fuld<B: Backend> {
    /// The rule at an arbitrary learning rate.
    rule: StepRule,
    /// The guard of gradients.
    guard: Option<GradientGuard>,
    /// The field on the last device.
    field: Arc<Mutex<Option<UploadedField<B>>>>,
}

#[derive(Clone, Debug)]
struct UploadedField<B: Backend> {
    device: B::Device,
    field: DeviceField<B>,
}

/// State of a parameter: torch's `momentum_buffer`, and the state of the guard.
#[derive(Record, Clone, Debug)]
pub struct FuldState<B: Backend, const D: usize> {
    /// Momentum buffer b.
    pub momentum_buffer: Tensor<B, D>,
    /// State of the guard, which carries its format version.
    pub guard: Option<Tensor<B, 2>>,
}

impl FuldConfig {
    /// Creates the optimizer of a module.
    pub fn init<B: AutodiffBackend, M: AutodiffModule<B>>(
        &self,
    ) -> Result<OptimizerAdaptor<Fuld<B::InnerBackend>, M, B>, RuleError> {
        let optimizer = OptimizerAdaptor::from(self.build()?);
        Ok(match &self.gradient_clipping {
            Some(clipping) => optimizer.with_grad_clipping(clipping.init()),
            None => optimizer,
        })
    }

    /// Creates the optimizer of single tensors, without burn's adaptor for modules. It does not
    /// clip.
    pub fn build<B: Backend>(&self) -> Result<Fuld<B>, RuleError> {
        Ok(Fuld {
            rule: self.step_rule(LEARNING_RATE)?,
            guard: self.checked_guard()?.map(GradientGuard::new),
            field: Arc::default(),
        })
    }
}

impl<B: Backend> Fuld<B> {
    /// Returns the field on a device, or None at α = 2, where it is the identity.
    fn field(&self, device: &B::Device) -> Option<DeviceField<B>> {
        let table = self.rule.rule.field()?;
        let mut slot = self.field.lock().unwrap_or_else(PoisonError::into_inner);
        let uploaded = match &*slot {
            Some(there) if there.device == *device => there.clone(),
            _ => UploadedField { device: device.clone(), field: DeviceField::new(table, device) },
        };
        Some(slot.insert(uploaded).field.clone())
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
        let (buffer, guard) =
            state.map_or((None, None), |state| (Some(state.momentum_buffer), state.guard));
        let rule = self.rule.at(learning_rate).unwrap_or_else(|error| panic!("{error}"));
        let (gradient, guard) = match self.guard {
            Some(of) => {
                let (gradient, guard) = of.apply(gradient, guard);
                (gradient, Some(guard))
            }
            None => (gradient, None),
        };
        let in_memory = TypeId::of::<B>() == TypeId::of::<Flex>();
        let (tensor, momentum_buffer) =
            if in_memory && matches!(tensor.dtype(), DType::F32 | DType::F64) {
                slice_step::step(&rule, tensor, buffer, gradient)
            } else {
                let field = self.field(&tensor.device());
                tensor_step::step(&rule, field.as_ref(), tensor, buffer, gradient)
            };
        (tensor, Some(FuldState { momentum_buffer, guard }))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &B::Device) -> Self::State<D> {
        FuldState {
            momentum_buffer: state.momentum_buffer.to_device(device),
            guard: state.guard.map(|guard| guard.to_device(device)),
        }
    }
}

//! The optimizer: its state, and the choice between the two implementations of a step.

use crate::device_field::DeviceField;
use crate::gradient_guard::GradientGuard;
use crate::step_rule::StepRule;
use crate::tensor_step::TensorStep;
use crate::{FuldConfig, StackError, slice_step};
use burn::backend::Flex;
use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use fuld::guard::Guard;
use fuld::optimizer::{Rule, RuleError};
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
/// negative or not finite, or so large that 1 − γη < 0 in the paper's form; if the first axis of a
/// parameter does not count the runs of a stack; and if a recorded state of the guard has another
/// format.
#[derive(Clone, Debug)]
pub struct Fuld<B: Backend> {
    /// One rule for each run of the stack, at an arbitrary learning rate.
    runs: Vec<StepRule>,
    /// The guard of gradients.
    guard: Option<GradientGuard>,
    /// The rules at the last learning rate.
    current: Arc<Mutex<Option<Current>>>,
    /// Factors and tables on the device at the last learning rate.
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
    step: TensorStep<B>,
    field: Option<DeviceField<B>>,
}

/// State of a parameter: torch's `momentum_buffer`, and the state of the guard.
#[derive(Record, Clone, Debug)]
pub struct FuldState<B: Backend, const D: usize> {
    /// Momentum buffer b.
    pub momentum_buffer: Tensor<B, D>,
    /// State of the guard, one row per run. It carries its format version.
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
        Fuld::of_run(self)
    }
}

impl<B: Backend> Fuld<B> {
    /// Creates an optimizer of a stack of independent runs: the first axis of every parameter
    /// counts the runs.
    ///
    /// Each run has its own α, form and momentum. Weight decay, `nesterov` and `maximize` must be
    /// the same for all. A stack keeps a GPU busy where a single small network would leave it idle
    /// between launches.
    pub fn of_runs(configs: &[FuldConfig]) -> Result<Self, StackError> {
        let rule = |(run, config): (usize, &FuldConfig)| {
            config.step_rule(LEARNING_RATE).map_err(|source| StackError::Rule { run, source })
        };
        let runs = configs.iter().enumerate().map(rule).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = runs.first() else { return Err(StackError::Empty) };
        let expected = *first.options();
        if let Some(run) = runs.iter().position(|rule| *rule.options() != expected) {
            return Err(StackError::Options { run, given: *runs[run].options(), expected });
        }
        let guard = configs[0].guard;
        if let Some(run) = configs.iter().position(|config| config.guard != guard) {
            return Err(StackError::Guard { run, given: configs[run].guard, expected: guard });
        }
        let guard = configs[0]
            .checked_guard()
            .map_err(|error| StackError::Rule { run: 0, source: error.into() })?;
        Ok(Self::with_rules(runs, guard))
    }

    /// Creates an optimizer of a single run, whose parameters may have any shape.
    fn of_run(config: &FuldConfig) -> Result<Self, RuleError> {
        Ok(Self::with_rules(vec![config.step_rule(LEARNING_RATE)?], config.checked_guard()?))
    }

    fn with_rules(runs: Vec<StepRule>, guard: Option<Guard>) -> Self {
        let guard = guard.map(|guard| GradientGuard::of_runs(guard, runs.len()));
        Self { runs, guard, current: Arc::default(), prepared: Arc::default() }
    }

    /// Panics unless the first axis of a parameter counts the runs.
    fn check_shape<const D: usize>(&self, parameter: &Tensor<B, D>) {
        let (shape, runs) = (parameter.dims(), self.runs.len());
        assert!(
            runs == 1 || shape.first() == Some(&runs),
            "the first axis of a parameter must count the {runs} runs of the stack, got shape {shape:?}"
        );
    }

    /// Returns the rules at a learning rate. They are built again only if it changes, and keep
    /// their tables.
    fn rules(&self, learning_rate: f64) -> Arc<[Rule]> {
        let mut slot = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = &*slot
            && current.learning_rate == learning_rate
        {
            return current.rules.clone();
        }
        let at = |run: &StepRule| run.at(learning_rate).unwrap_or_else(|error| panic!("{error}"));
        let rules = self.runs.iter().map(at).collect();
        slot.insert(Current { learning_rate, rules }).rules.clone()
    }

    /// Returns factors and tables on the device. They are built again only for another learning
    /// rate or device.
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
        let prepared = Prepared {
            learning_rate,
            device: device.clone(),
            step: TensorStep::new(&rules, device),
            field: field.unwrap_or_else(|| DeviceField::of(&rules, device)),
        };
        slot.insert(prepared).clone()
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
        self.check_shape(&tensor);
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
                slice_step::step(&self.rules(learning_rate), tensor, buffer, gradient)
            } else {
                let Prepared { step, field, .. } = self.prepared(learning_rate, &tensor.device());
                step.step(field.as_ref(), tensor, buffer, gradient)
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

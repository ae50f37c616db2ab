//! A guard around any burn optimizer.

use crate::gradient_guard::GradientGuard;
use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use fuld::guard::Guard;

/// Any burn optimizer, with its gradients [guarded](fuld::guard).
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use burn::nn::{Linear, LinearConfig};
/// use burn::optim::{AdamWConfig, GradientsParams, Optimizer};
/// use burn::tensor::Tensor;
/// use fuld::guard::Guard;
/// use fuld_burn::Guarded;
///
/// type Backend = Autodiff<Flex>;
/// let device = Default::default();
/// let mut model: Linear<Backend> = LinearConfig::new(4, 1).init(&device);
/// let mut optimizer = Guarded::new(AdamWConfig::new().build(), Guard::FOR_ADAM).init::<Backend, Linear<Backend>>();
/// let loss = model.forward(Tensor::<Backend, 2>::ones([8, 4], &device)).powf_scalar(2.0).mean();
/// let gradients = GradientsParams::from_grads(loss.backward(), &model);
/// model = optimizer.step(0.01, model, gradients);
/// ```
#[derive(Clone, Debug)]
pub struct Guarded<O> {
    optimizer: O,
    guard: GradientGuard,
}

/// State of a parameter: that of the guard, and that of the guarded optimizer.
#[derive(Record, Clone, Debug)]
pub struct GuardedState<B: Backend, I: Record<B>> {
    /// State of the guard, which carries its format version.
    pub guard: Tensor<B, 2>,
    /// State of the optimizer.
    pub optimizer: Option<I>,
}

impl<O> Guarded<O> {
    /// Guards the gradients of an optimizer. [`Guard::FOR_SGD`] and [`Guard::FOR_ADAM`] are the
    /// defaults.
    pub fn new(optimizer: O, guard: Guard) -> Self {
        Self { optimizer, guard: GradientGuard::new(guard) }
    }

    /// Creates the optimizer of a module.
    pub fn init<B: AutodiffBackend, M: AutodiffModule<B>>(self) -> OptimizerAdaptor<Self, M, B>
    where
        O: SimpleOptimizer<B::InnerBackend>,
    {
        OptimizerAdaptor::from(self)
    }
}

impl<B: Backend, O: SimpleOptimizer<B>> SimpleOptimizer<B> for Guarded<O> {
    type State<const D: usize> = GuardedState<B, O::State<D>>;

    fn step<const D: usize>(
        &self,
        learning_rate: LearningRate,
        tensor: Tensor<B, D>,
        gradient: Tensor<B, D>,
        state: Option<Self::State<D>>,
    ) -> (Tensor<B, D>, Option<Self::State<D>>) {
        let (guard, optimizer) =
            state.map_or((None, None), |state| (Some(state.guard), state.optimizer));
        let (gradient, guard) = self.guard.apply(gradient, guard);
        let (tensor, optimizer) = self.optimizer.step(learning_rate, tensor, gradient, optimizer);
        (tensor, Some(GuardedState { guard, optimizer }))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &B::Device) -> Self::State<D> {
        GuardedState {
            guard: state.guard.to_device(device),
            optimizer: state.optimizer.map(|state| O::to_device(state, device)),
        }
    }
}

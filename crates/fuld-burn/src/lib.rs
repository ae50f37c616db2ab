//! The update rule of [`fuld::optimizer`] as an optimizer for [burn](https://burn.dev): SGD with
//! momentum for gradients with heavy tails.
//!
//! ```
//! use burn::backend::{Autodiff, Flex};
//! use burn::nn::{Linear, LinearConfig};
//! use burn::optim::{GradientsParams, Optimizer};
//! use burn::tensor::Tensor;
//! use fuld_burn::{Form, FuldConfig, Knee};
//!
//! # fn main() -> Result<(), fuld::optimizer::RuleError> {
//! type Backend = Autodiff<Flex>;
//! let device = Default::default();
//! let mut model: Linear<Backend> = LinearConfig::new(4, 1).init(&device);
//! // SGD's learning rate and momentum, and the knee that follows from gradient noise SαS(1.5) of scale 0.01.
//! let form = Form::Matched { momentum: 0.9, knee: Knee::NoiseScale(0.01) };
//! let mut optimizer = FuldConfig::new(1.5, form).init()?;
//! for _ in 0..10 {
//!     let x = Tensor::<Backend, 2>::ones([8, 4], &device);
//!     let loss = model.forward(x).powf_scalar(2.0).mean();
//!     let gradients = GradientsParams::from_grads(loss.backward(), &model);
//!     model = optimizer.step(0.01, model, gradients);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! On the CPU backend flex a step is one fused pass over the tensors' memory; on every other
//! backend it is a handful of tensor operations, with the field read from a table on the device. α
//! = 2 is burn's SGD with momentum and no dampening, bit for bit.
//!
//! [`Guarded`] protects any burn optimizer from heavy-tailed noise, corrupted components and
//! bursts; [`FuldConfig::with_guard`] does so within FULD.

mod config;
mod device_field;
mod gradient_guard;
mod guarded;
mod optimizer;
mod slice_step;
mod step_rule;
mod tensor_step;

pub use config::FuldConfig;
pub use fuld::optimizer::{Form, Knee};
pub use gradient_guard::GradientGuard;
pub use guarded::{Guarded, GuardedState};
pub use optimizer::{Fuld, FuldState};

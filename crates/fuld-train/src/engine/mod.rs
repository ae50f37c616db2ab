//! Training steps of a stack of networks on a device.
//!
//! | module | contents |
//! |---|---|
//! | [`cpu`] | the engine for CPUs: products by `gemm`, everything else in passes over slices |
//! | `cuda` | the engine for NVIDIA GPUs, with the feature `cuda` |
//! | [`noise`] | stable noise for gradients |
//! | [`rules`] | the update rule, clipping and guard that a specification describes |

mod cpu;
#[cfg(any(feature = "cuda", test))]
mod cuda;
mod cuda_error;
mod error;
mod noise;
mod rules;

use crate::data::DataSet;
use crate::network::Network;
use crate::spec::{Device, TrainSpec};
use crate::tensor_file::TensorFile;
pub use cuda_error::CudaError;
pub use error::EngineError;
use fuld::random::Purpose;

/// The images that a measurement uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageSet {
    Training,
    Test,
}

/// Mean cross entropy, and share of images that are classified correctly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Score {
    pub(crate) loss: f64,
    pub(crate) accuracy: f64,
}

/// Networks of one shape that are trained together on one device.
pub(crate) trait Engine {
    /// Takes a step of every run at its minibatch of an iteration.
    fn step(&mut self, iteration: u64) -> Result<(), EngineError>;

    /// Returns the loss of each run's minibatch before the last step. On a GPU, this waits for the
    /// device.
    fn losses(&mut self) -> Result<Vec<f64>, EngineError>;

    /// Returns whether [`Engine::losses`] waits for a device.
    fn losses_wait(&self) -> bool;

    /// Returns the score of each run on the first `count` images of a set.
    fn score(&mut self, set: ImageSet, count: usize) -> Result<Vec<Score>, EngineError>;

    /// Returns the gradient of each layer for each run, outer index the run, at minibatches of
    /// `batch` indices for each run, with the injected noise of a purpose and an iteration.
    fn gradients(
        &mut self,
        indices: &[u32],
        noise: (Purpose, u64),
    ) -> Result<Vec<Vec<Vec<f32>>>, EngineError>;

    /// Returns the largest |v| = √lr |b| of each run, or `None` for rules without momentum.
    fn largest_v(&mut self) -> Result<Option<Vec<f64>>, EngineError>;

    /// Returns the network of each run.
    fn networks(&mut self) -> Result<Vec<Network>, EngineError>;

    /// Returns weights and optimizer state as tensors whose first axis counts the runs.
    fn save(&mut self) -> Result<TensorFile, EngineError>;

    /// Continues from the tensors after `iteration` steps.
    fn restore(&mut self, file: TensorFile, iteration: u64) -> Result<(), EngineError>;
}

/// Creates the initial networks on the device of the specifications.
pub(crate) fn engine<'a>(
    data: &'a DataSet,
    specs: &[TrainSpec],
) -> Result<Box<dyn Engine + 'a>, EngineError> {
    match specs[0].device {
        Device::Cpu => Ok(Box::new(cpu::CpuEngine::new(data, specs)?)),
        #[cfg(feature = "cuda")]
        device => Ok(Box::new(cuda::open(data, specs, device == Device::CudaTf32)?)),
        #[cfg(not(feature = "cuda"))]
        Device::Cuda | Device::CudaTf32 => Err(EngineError::NoCuda),
    }
}

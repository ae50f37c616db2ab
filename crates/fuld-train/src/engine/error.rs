//! Errors of the engines.

use super::cuda_error::CudaError;
use crate::data::MinibatchError;
use crate::tensor_file::TensorError;
use fuld::optimizer::RuleError;
use thiserror::Error;

/// An error of training steps, on the CPU or on a GPU.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The update rule refuses the settings.
    #[error("run {run}: {source}")]
    Rule {
        /// Index of the run in its stack.
        run: usize,
        /// The invalid setting.
        source: RuleError,
    },
    /// The injected noise is not a stable law.
    #[error(transparent)]
    Noise(#[from] levy_stable::ParameterError),
    /// The data set has no such minibatches.
    #[error(transparent)]
    Minibatch(#[from] MinibatchError),
    /// The stored tensors are not those of the runs.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// The memory of the runs cannot be allocated.
    #[error(
        "training requires {:.1} GB of memory, more than there is, at width {width}, depth {depth}, batch {batch}; choose smaller ones",
        *bytes as f64 * 1e-9
    )]
    Memory {
        /// The bytes required.
        bytes: u64,
        /// Units per hidden layer.
        width: usize,
        /// Layers.
        depth: usize,
        /// Images per minibatch.
        batch: usize,
    },
    /// The program was built without support for GPUs.
    #[error(
        "this build supports only the CPU; for an NVIDIA GPU, build with: cargo build --release --features cuda"
    )]
    NoCuda,
    /// The GPU cannot be used, or failed.
    #[error(transparent)]
    Cuda(#[from] CudaError),
}

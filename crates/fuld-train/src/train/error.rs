//! Errors of training.

use super::checkpoint::TrainCheckpointError;
use super::cuda_error::CudaError;
use crate::data::MinibatchError;
use crate::tensor_file::TensorError;
use fuld::optimizer::RuleError;
use thiserror::Error;

/// An error of training.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
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
        "training requires {:.1} GB of memory, which cannot be allocated; choose a smaller width, depth or batch",
        *bytes as f64 * 1e-9
    )]
    Memory {
        /// The bytes required.
        bytes: u64,
    },
    /// The program was built without support for GPUs.
    #[error(
        "this build supports only the CPU; for an NVIDIA GPU, build with: cargo build --release --features cuda"
    )]
    NoCuda,
    /// The GPU cannot be used, or failed.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The checkpoint cannot be read, written or used.
    #[error(transparent)]
    Checkpoint(#[from] TrainCheckpointError),
}

//! Training of a stack of runs of one shape, with measurements and checkpoints. A continued run
//! gives the same bits as an uninterrupted one.

mod checkpoint;
mod error;
mod measurement;
mod momentum_run;
mod run;
mod run_result;
mod stored_run;
mod tails;
mod trainer;

pub use crate::engine::{CudaError, EngineError};
pub use crate::tensor_file::TensorError;
pub(crate) use checkpoint::check_checkpoint;
pub use checkpoint::{TrainCheckpointError, is_checkpoint};
pub use error::TrainError;
pub use measurement::{FinalMeans, Measurement};
pub use momentum_run::{LargestMomentum, MomentumRun, MomentumSpec};
pub use run::{TrainOutcome, TrainProgress, train};
pub use run_result::{RunResult, RunStatus};
pub use stored_run::NetworkRun;
pub use tails::LayerTail;
pub use trainer::Trainer;

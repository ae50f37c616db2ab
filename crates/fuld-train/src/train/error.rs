//! Errors of training.

use super::checkpoint::TrainCheckpointError;
use crate::data::MinibatchError;
use fuld_burn::StackError;
use thiserror::Error;

/// An error of training.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The update rule refuses the settings.
    #[error(transparent)]
    Rule(#[from] StackError),
    /// The injected noise is not a stable law.
    #[error(transparent)]
    Noise(#[from] levy_stable::ParameterError),
    /// The data set has no such minibatches.
    #[error(transparent)]
    Minibatch(#[from] MinibatchError),
    /// The checkpoint cannot be read, written or used.
    #[error(transparent)]
    Checkpoint(#[from] TrainCheckpointError),
}

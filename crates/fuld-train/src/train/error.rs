//! Errors of training.

use super::checkpoint::TrainCheckpointError;
use crate::engine::EngineError;
use thiserror::Error;

/// An error of training.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The runs cannot be trained.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The checkpoint cannot be read, written or used.
    #[error(transparent)]
    Checkpoint(#[from] TrainCheckpointError),
}

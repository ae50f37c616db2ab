//! Training: a stack of runs of one shape, measured on the way, checkpointed, and resumed to the same bits.

mod calibration;
mod checkpoint;
mod feed;
mod measurement;
mod noise;
mod run;
mod stepper;
mod tails;
mod trainer;

pub use calibration::LayerCalibration;
pub use checkpoint::CheckpointError;
pub use measurement::{Measurement, Summary};
pub use run::{Ended, Progress, RunResult, Status, TrainError, train};
pub use tails::LayerTail;
pub use trainer::Trainer;

//! Training of small networks under heavy-tailed gradients: data sets, models, runs, stacks of runs and sweeps.

pub mod csv;
pub mod data;
pub mod language;
pub mod mlp;
pub mod run_folder;
pub mod settings;
pub mod sweep;
pub mod train;
pub mod transformer;

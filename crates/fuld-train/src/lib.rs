//! Training of small networks under heavy-tailed gradients.
//!
//! | module | contents |
//! |---|---|
//! | [`data`] | data sets of images, and how to fetch them |
//! | [`network`] | the networks |
//! | [`spec`] | the specification of a run |
//! | [`mod@train`] | training of a stack of runs, from the start or from a checkpoint |
//! | [`run_folder`], [`stored`] | the files of a run |
//! | [`mod@run_all`], [`mod@run_stored`] | many runs over all cores |
//! | [`sweep`] | grids of runs and their tables |

mod checksum;
pub mod data;
mod engine;
pub mod network;
pub mod run_all;
pub mod run_folder;
pub mod run_stored;
pub mod spec;
pub mod stored;
pub mod sweep;
mod tensor_file;
pub mod train;

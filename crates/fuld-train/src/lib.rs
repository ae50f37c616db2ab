//! Training of small networks under heavy-tailed gradients.
//!
//! | module | contents |
//! |---|---|
//! | [`data`] | data sets of images, and how to fetch them |
//! | [`mlp`], [`transformer`], [`language`] | the models, and the synthetic language of the text study |
//! | [`spec`] | what determines a run |
//! | [`mod@train`] | stacks of runs, trained from start or checkpoint to the end |
//! | [`run_folder`], [`stored`] | the files of a run |
//! | [`mod@run_all`] | many runs over all cores |
//! | [`sweep`] | grids of runs and their tables |

pub mod data;
pub mod language;
pub mod mlp;
pub mod run_all;
pub mod run_folder;
pub mod spec;
pub mod stored;
pub mod sweep;
mod tensor_file;
pub mod train;
pub mod transformer;

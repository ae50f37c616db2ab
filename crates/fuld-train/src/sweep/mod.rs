//! Sweeps: grids of independent runs in one folder. Interrupted sweeps continue, and several
//! processes may share a folder.

mod execution;
mod failures;
mod folder;
mod grid;
mod parquet;
mod results;
mod runs;
mod table;

pub use execution::{SweepCounts, SweepEvent, sweep};
pub use folder::{SWEEP_COMMAND, StoredGrid, SweepFolder};
pub use grid::{GridError, grid_requests, read_grid};
pub use results::write_table;
pub use runs::{Shard, SweepRun, into_stacks, sweep_runs};
pub use table::SweepRow;

//! Sweeps: a grid of runs as independent jobs, resumable, in one folder that several processes may share.

mod failures;
mod grid;
mod job;
mod parquet;
mod table;
mod workers;

pub use grid::{GridError, read, requests};
pub use job::{Job, Shard, jobs, stacks};
pub use table::{Row, rows, write};
pub use workers::{Event, Tally, sweep};

//! Studies: exhibits that train models. A study is a list of labelled runs, one table row per run,
//! and claims and figures that are pure functions of this table.
//!
//! All studies share the driver that trains missing runs ([`driver`]), the optimizers they compare
//! ([`treatment`]) and paired comparisons over seeds ([`difference`]). Studies of networks on
//! images also share their grids ([`grid`]) and their table ([`network_row`], [`network_runs`]).

mod difference;
mod driver;
mod grid;
mod image_set;
mod network_row;
mod network_runs;
mod step_time;
mod treatment;

pub(crate) use difference::{Difference, SIGNIFICANT, mean_and_error, share};
#[cfg(test)]
pub(crate) use driver::longest_first;
#[cfg(test)]
pub(crate) use driver::tests::{continues, digits, run_until};
pub(crate) use driver::{TRAINING, train_networks};
pub(crate) use grid::{Grid, SWEEP, all_runs, seeds, to_toml};
pub(crate) use image_set::ImageSet;
#[cfg(test)]
pub(crate) use network_row::LabelledRun;
pub(crate) use network_row::{Cell, Group, Measure, NetworkRow, RunOutcome};
#[cfg(test)]
pub(crate) use network_runs::test_rows;
pub(crate) use network_runs::{NetworkRuns, Pairs, distinct};
pub(crate) use treatment::{PAPER_ALPHA, Treatment};

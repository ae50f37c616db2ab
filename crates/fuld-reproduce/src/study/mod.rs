//! Studies: exhibits that train models. A study is a list of labelled runs, one table row per run, and claims and figures that are
//! pure functions of this table.
//!
//! All studies share the driver that trains missing runs ([`driver`]), the optimizers they compare ([`treatment`]) and paired
//! comparisons over seeds ([`difference`]). Studies of networks on images also share their rows ([`network_runs`]).

pub(crate) mod difference;
pub(crate) mod driver;
pub(crate) mod grid;
pub(crate) mod image_set;
pub(crate) mod network_runs;
mod step_time;
pub(crate) mod treatment;

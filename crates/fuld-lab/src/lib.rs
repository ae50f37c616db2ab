//! The program `fuld`: data sets, networks, training and sweeps, from the command line.

mod aligned;
pub mod cli;
mod csv;
pub mod data;
pub mod interrupt;
pub mod language;
pub mod mlp;
pub mod numbers;
pub mod page;
pub mod plot;
pub mod reproduce;
pub mod run_folder;
pub mod sampling;
pub mod settings;
mod stderr;
pub mod sweep;
pub mod train;
pub mod transformer;

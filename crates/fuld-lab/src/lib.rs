//! The program `fuld`: data sets, networks, training and sweeps, from the command line.

pub mod cli;
pub mod data;

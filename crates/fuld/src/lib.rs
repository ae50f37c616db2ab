//! Heavy-tailed dynamics that target exp(−βf): fractional underdamped Langevin dynamics and its relatives.

mod parameters;
pub mod potential;

pub use parameters::{Beta, Friction, ParameterError, Step};
pub use potential::Potential;

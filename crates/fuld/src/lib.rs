//! Heavy-tailed dynamics that target exp(−βf): fractional underdamped Langevin dynamics and its relatives.

mod batch;
pub mod chains;
mod conformal;
pub mod diagnostics;
mod integrator;
pub mod kinetic;
pub mod optimizer;
mod parameters;
pub mod potential;
mod random;
mod schedule;
mod system;
pub mod tail_index;

pub use chains::Run;
pub use conformal::ConformalField;
pub use integrator::{Integrator, Unsuited};
pub use kinetic::Kinetic;
pub use parameters::{Beta, Friction, ParameterError, Step};
pub use potential::Potential;
pub use schedule::Schedule;
pub use system::{Drift, System};

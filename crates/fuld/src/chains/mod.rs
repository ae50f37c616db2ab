//! Runs of many chains of one dynamics: in parallel, resumable, streamed.
//!
//! ```
//! use fuld::{Alpha, Beta, Friction, Integrator, Run, Schedule, System, Underdamped, potential::DoubleWell};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let parameters = Underdamped { alpha: Alpha::new(1.5)?, gamma: Friction::new(10.0)?, beta: Beta::ONE };
//! let run = Run {
//!     chains: 8,
//!     draws: 500,
//!     thin: 10,
//!     ..Run::new(System::fuld(parameters)?, Integrator::Baoab, Schedule::constant(0.05)?)
//! };
//! let samples = run.sample(&DoubleWell::new(1, 1.0, 1.0)?)?;
//! assert_eq!(samples.chain(3).len(), 500);
//! # Ok(())
//! # }
//! ```
//!
//! The draws depend only on the [`RunSpec`], not on the number of threads, on batches or on
//! interruptions.

mod checkpoint;
mod continuation;
mod error;
mod exact_execution;
mod execution;
mod memory;
mod outcome;
mod run;
mod sink;
mod spec;
mod start;
mod warm_state;
mod worker;
mod zarr;
mod zarr_draws;

pub use checkpoint::{CheckpointError, stored_seed};
pub use error::RunError;
pub use memory::{MemoryDraws, MemorySink, Samples};
pub use outcome::{Average, Control, Divergence, Outcome, Progress, Tempering};
pub use run::{Run, TestFunction};
pub use sink::{Callback, Layout, STATISTICS, Sink};
pub use spec::{DYNAMICS_VERSION, RunSpec, SpecHash};
pub use start::Start;
pub use warm_state::WarmState;
pub use zarr::ZarrSink;
pub use zarr_draws::ZarrDraws;

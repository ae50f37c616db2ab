//! Heavy-tailed dynamics that target exp(−βf): fractional underdamped Langevin dynamics (FULD) and its relatives.
//!
//! A dynamics is composed: a [`Potential`] f, a [`System`] that says how noise, friction and kinetic energy move position and
//! velocity, an [`Integrator`] that discretises it, a [`Schedule`] of step sizes. A [`Run`] takes many chains of it through
//! all cores, into memory, a callback or a Zarr store that ArviZ opens, and goes on where it was killed.
//!
//! ```
//! use fuld::{Alpha, Beta, Friction, Integrator, Run, Schedule, System, Underdamped, potential::Formula};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let well: Formula = "x^4/4 - x^2/2".parse()?;
//! let parameters = Underdamped { alpha: Alpha::new(1.5)?, gamma: Friction::new(10.0)?, beta: Beta::ONE };
//! let fuld = System::fuld(parameters)?;
//! let run = Run { chains: 64, thin: 10, ..Run::new(fuld, Integrator::Baoab, Schedule::constant(0.05)?) };
//! let samples = run.sample(&well)?;
//! let second = samples.pooled(0).iter().map(|x| x * x).sum::<f64>() / 64_000.0;
//! assert!((second - 1.042).abs() < 0.03); // ∫ x² e^(−f) / ∫ e^(−f)
//! # Ok(())
//! # }
//! ```
//!
//! - [`Recipe`]: a run from what one cares to say, with defaults for the rest; [`Dynamics`]: the systems by name.
//! - [`diagnostics`]: R̂, effective sample sizes, distances to a known law, modes.
//! - [`gibbs`]: the law itself, normalised by quadrature, to compare with.
//! - [`optimizer`]: the paper's update rule on plain slices, SGD with momentum at α = 2.
//! - [`random`], [`durable`]: randomness that depends on the seed alone, files that survive a kill.
//! - [`dynamics`]: kinetic energies, drifts and flows, the fields of Theorem 1; [`numerics`]: what they are computed with.

mod batch;
pub mod chains;
pub mod diagnostics;
pub mod durable;
pub mod dynamics;
pub mod folder;
pub mod gibbs;
mod integrator;
pub mod numerics;
pub mod optimizer;
mod parameters;
pub mod potential;
mod schedule;
mod specification;
mod stop;
mod system;

pub use levy_stable::random;

pub use chains::{Control, MemorySink, Run, Samples, Start, ZarrDraws, ZarrSink};
pub use dynamics::{Drift, Kinetic};
pub use integrator::{Integrator, Unsuited};
pub use levy_stable::Alpha;
pub use parameters::{Beta, Friction, ParameterError, Step};
pub use potential::Potential;
pub use schedule::{CustomSchedule, Polynomial, Schedule, ScheduleSpec};
pub use specification::Specification;
pub use stop::StopFlag;
pub use system::{
    ConformalField, CustomDriftSpec, CustomKineticSpec, Exactness, Flmc, Noiseless, Overdamped,
    OverdampedGaussian, System, SystemError, SystemFacts, SystemKind, SystemSpec, Underdamped,
    UnderdampedGaussian,
};

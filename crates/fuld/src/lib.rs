//! Heavy-tailed dynamics that target exp(−βf): fractional underdamped Langevin dynamics (FULD) and
//! its relatives.
//!
//! A dynamics is composed of a [`Potential`] f, a [`System`] (kinetic energy, friction and noise),
//! an [`Integrator`] and a [`Schedule`] of step sizes. A [`Run`] integrates many chains of it on
//! all cores, into memory, a callback or a Zarr store that ArviZ opens. A run that was interrupted
//! continues to the same draws.
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
//! # Modules
//!
//! Imports point upwards in this table, towards the law.
//!
//! | module | contents |
//! |---|---|
//! | `parameters`, `specification` | validated parameters ([`Beta`], [`Friction`], [`Step`]); descriptions of user-supplied parts |
//! | [`random`], [`durable`], [`folder`] | randomness keyed by seed, chain and purpose; files that survive a kill; folders that fuld owns |
//! | [`numerics`] | Riesz derivative, Kummer's function, quadrature |
//! | [`potential`] | potentials f with their gradients: formulas, closures, classics, a posterior with minibatches |
//! | [`dynamics`] | kinetic energies, drifts, and the exact flows of their friction |
//! | `system` | the named systems, one table entry each |
//! | `integrator`, `gradient_noise`, `batch` | one step of many chains; noise of gradients as part of its noise |
//! | `exact` | generalised Hamiltonian Monte Carlo, with its adaptation |
//! | `schedule`, [`chains`] | step sizes; runs, sinks, checkpoints |
//! | [`gibbs`] | the exact law e^(−βf)/Z in one and two dimensions, by quadrature |
//! | [`diagnostics`] | R̂, effective sample sizes, distances to a known law, modes |
//! | [`guard`] | clipping of gradients to their usual size, before any optimizer |
//! | [`optimizer`] | the paper's update rule on plain slices; SGD with momentum at α = 2 |

mod batch;
pub mod chains;
pub mod diagnostics;
pub mod durable;
pub mod dynamics;
mod exact;
pub mod folder;
pub mod gibbs;
mod gradient_noise;
pub mod guard;
mod integrator;
pub mod numerics;
pub mod optimizer;
mod parameters;
pub mod potential;
mod real;
mod schedule;
mod specification;
mod stop;
mod system;

pub use levy_stable::random;

pub use chains::{Control, MemorySink, Run, Samples, Start, ZarrDraws, ZarrSink};
pub use dynamics::{Drift, Kinetic};
pub use exact::Tuning;
pub use gradient_noise::{GradientNoiseError, fuld_relaxation};
pub use integrator::{Integrator, Unsuited};
pub use levy_stable::Alpha;
pub use parameters::{Beta, Friction, NoiseScale, ParameterError, Step};
pub use potential::Potential;
pub use schedule::{CustomSchedule, Polynomial, Schedule, ScheduleSpec};
pub use specification::{ParameterValue, Specification};
pub use stop::StopFlag;
pub use system::{
    ConformalField, CustomDriftSpec, CustomKineticSpec, Exactness, Flmc, Noiseless, Overdamped,
    OverdampedGaussian, System, SystemError, SystemFacts, SystemKind, SystemSpec, Underdamped,
    UnderdampedGaussian,
};

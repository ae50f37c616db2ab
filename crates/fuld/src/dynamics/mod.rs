//! The parts a [`System`](crate::System) is composed of: kinetic energies, drifts and the exact
//! flows of their friction.
//!
//! | module | contents |
//! |---|---|
//! | `kinetic` | [`Kinetic`], the trait of a kinetic energy: its transport field, its friction, its noise |
//! | `newtonian`, `stable`, `gaussian`, `custom` | the kinetic energies |
//! | `gaussian_drift` | [`GaussianDrift`], the friction of the Gaussian kinetic energy under stable noise |
//! | `drift_flow` | [`DriftFlow`], the exact flow of v′ = −γ c(v) |
//! | `drift` | [`Drift`], the trait of a drift of the position in an overdamped system |
//! | `flmc_drift` | [`FlmcDrift`], the exact drift of fractional Langevin Monte Carlo |

mod custom;
mod differentiable_function;
mod drift;
mod drift_flow;
mod error;
mod flmc_drift;
mod gaussian;
mod gaussian_drift;
mod kinetic;
mod newtonian;
mod stable;

pub use custom::CustomKinetic;
pub use differentiable_function::DifferentiableFunction;
pub(crate) use drift::Downhill;
pub use drift::Drift;
pub use drift_flow::{DriftFlow, FlowError, OddDrift};
pub use error::KineticError;
pub use flmc_drift::{FlmcDrift, FlmcError, approximation_factor};
pub use gaussian::GaussianKinetic;
pub use gaussian_drift::GaussianDrift;
pub use kinetic::{ExactKinetic, Kinetic, LinearStep};
pub use newtonian::Newtonian;
pub use stable::StableKinetic;

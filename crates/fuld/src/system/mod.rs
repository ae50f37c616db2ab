//! The dynamics of the paper and its relatives, as named compositions of kinetic energies, drifts
//! and noise.
//!
//! [`SystemKind`] lists the named systems; `table` has one entry per system.
//! [`System::underdamped`] and [`System::overdamped`] compose systems from user-supplied kinetic
//! energies and drifts. Every system carries a [`SystemSpec`], the serialisable description that
//! identifies it in checkpoints.
//!
//! ```
//! use fuld::{Alpha, Beta, Friction, System, Underdamped};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let parameters = Underdamped { alpha: Alpha::new(1.5)?, gamma: Friction::new(10.0)?, beta: Beta::ONE };
//! let system = System::fuld(parameters)?;
//! assert_eq!(
//!     serde_json::to_string(system.spec())?,
//!     r#"{"system":"fuld","alpha":1.5,"gamma":10.0,"beta":1.0}"#
//! );
//! # Ok(())
//! # }
//! ```

mod conformal;
mod error;
mod shapes;
mod table;

pub use conformal::ConformalField;
pub use error::SystemError;
pub use shapes::{
    CustomDriftSpec, CustomKineticSpec, Flmc, Noiseless, Overdamped, OverdampedGaussian,
    Underdamped, UnderdampedGaussian,
};
pub use table::{Exactness, SystemFacts, SystemKind, SystemSpec};

use crate::dynamics::{DifferentiableFunction, Drift, FlmcDrift, Kinetic};
use crate::parameters::{Beta, Friction, noise_amplitude};
use crate::specification::Specification;
use levy_stable::Alpha;
use std::fmt;
use std::sync::Arc;

/// What moves: velocities and positions, or positions alone.
#[derive(Clone)]
pub(crate) enum Motion {
    /// dv = −γ c(v) dt − w∇f dt + γ^(1/α) dN, dx = h(v) dt.
    Underdamped { kinetic: Arc<dyn Kinetic>, gamma: f64, weight: f64 },
    /// dx = b(x) dt + s dL.
    Overdamped { drift: Arc<dyn Drift>, amplitude: f64 },
}

/// A dynamics, ready to be integrated.
#[derive(Clone)]
pub struct System {
    pub(crate) motion: Motion,
    alpha: Alpha,
    spec: SystemSpec,
}

impl System {
    /// Composes FLMC with its exact drift for a potential that is the sum of one function f over
    /// the coordinates.
    ///
    /// > dx = b(x) dt + β^(−1/α) dL, b = −𝒟^(α−2)(φ f′)/φ, φ = e^(−βf)
    ///
    /// `parameters.potential` describes f in the run's identity.
    pub fn flmc(
        parameters: Flmc,
        f: DifferentiableFunction<impl Fn(f64) -> f64, impl Fn(f64) -> f64>,
    ) -> Result<Self, SystemError> {
        let Flmc { alpha, beta, reach, .. } = parameters;
        Self::with_drift(
            FlmcDrift::new(alpha, beta, f, reach)?,
            alpha,
            beta,
            SystemSpec::Flmc(parameters),
        )
    }

    /// Composes an underdamped system from a user-supplied kinetic energy.
    ///
    /// `specification` identifies the energy in checkpoints, beside its tail index and amplitude.
    pub fn underdamped(
        specification: impl Into<Specification>,
        kinetic: impl Kinetic + 'static,
        gamma: Friction,
    ) -> Result<Self, SystemError> {
        let (alpha, amplitude) = (kinetic.alpha(), kinetic.amplitude());
        let spec = CustomKineticSpec { kinetic: specification.into(), alpha, amplitude, gamma };
        Self::with_kinetic(kinetic, gamma, SystemSpec::CustomKinetic(spec))
    }

    /// Composes an overdamped system from a user-supplied drift.
    ///
    /// `specification` identifies the drift in checkpoints, beside α and β.
    pub fn overdamped(
        specification: impl Into<Specification>,
        drift: impl Drift + 'static,
        parameters: Overdamped,
    ) -> Result<Self, SystemError> {
        let Overdamped { alpha, beta } = parameters;
        let spec = CustomDriftSpec { drift: specification.into(), alpha, beta };
        Self::with_drift(drift, alpha, beta, SystemSpec::CustomDrift(spec))
    }

    fn with_kinetic(
        kinetic: impl Kinetic + 'static,
        gamma: Friction,
        spec: SystemSpec,
    ) -> Result<Self, SystemError> {
        let alpha = kinetic.alpha();
        let motion =
            Motion::Underdamped { kinetic: Arc::new(kinetic), gamma: gamma.get(), weight: 1.0 };
        Ok(Self { motion, alpha, spec })
    }

    fn with_drift(
        drift: impl Drift + 'static,
        alpha: Alpha,
        beta: Beta,
        spec: SystemSpec,
    ) -> Result<Self, SystemError> {
        let motion =
            Motion::Overdamped { drift: Arc::new(drift), amplitude: noise_amplitude(alpha, beta)? };
        Ok(Self { motion, alpha, spec })
    }

    /// Multiplies ∇f by a weight, in underdamped systems.
    fn with_force_weight(mut self, factor: f64) -> Self {
        if let Motion::Underdamped { weight, .. } = &mut self.motion {
            *weight = factor;
        }
        self
    }

    /// Returns the tail index of the noise.
    pub fn alpha(&self) -> Alpha {
        self.alpha
    }

    /// Returns which system it is, with all parameters.
    pub fn spec(&self) -> &SystemSpec {
        &self.spec
    }

    /// Returns whether the system has a velocity.
    pub fn is_underdamped(&self) -> bool {
        matches!(self.motion, Motion::Underdamped { .. })
    }
}

/// Writes the name and the parameters.
impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.spec, f)
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.spec, f)
    }
}

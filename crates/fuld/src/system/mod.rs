//! The dynamics of the paper and its relatives, as named compositions.
//!
//! | system | equation | what moves |
//! |---|---|---|
//! | [`System::momentum`] | ode, sgdm | the deterministic conformal Hamiltonian system |
//! | [`System::underdamped_langevin`] | sde_brownian | Gaussian noise on the velocity |
//! | [`System::uncorrected`] | sde_sas | stable noise on the velocity, nothing corrected |
//! | [`System::fuld`] | sde_levy, stable energy | stable noise, transport ∇G_α |
//! | [`System::fuld_gaussian`] | fuld_v1, Gaussian energy | stable noise, friction c with ₁F₁ |
//! | [`System::fhd`] | fhd, approximated | as its authors run it |
//! | [`System::overdamped_langevin`] | langevin | Gaussian noise on the position |
//! | [`System::uncorrected_overdamped`] | | stable noise on the position, nothing corrected |
//! | [`System::flmc`] | flmc, exact drift | stable noise on the position |
//! | [`System::flmc_approximate`] | flmc, riesz_approx | as its authors run it |

mod conformal;

pub use conformal::ConformalField;

use crate::dynamics::{
    Downhill, Drift, FlmcDrift, FlmcError, GaussianKinetic, Kinetic, KineticError, Newtonian, StableKinetic,
    Temperature, approximation_factor,
};
use crate::parameters::noise_amplitude;
use crate::{Friction, ParameterError};
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
    alpha: f64,
    name: String,
}

impl System {
    /// dv = −γv dt − ∇f dt, dx = v dt: SGD with momentum in continuous time.
    pub fn momentum(gamma: f64) -> Result<Self, ParameterError> {
        Self::underdamped(format!("momentum, gamma {gamma:?}"), Newtonian::silent(), gamma)
    }

    /// dv = −γv dt − ∇f dt + √(2γ/β) dB, dx = v dt.
    pub fn underdamped_langevin(gamma: f64, beta: f64) -> Result<Self, ParameterError> {
        let name = format!("underdamped Langevin, gamma {gamma:?}, beta {beta:?}");
        Self::underdamped(name, Newtonian::new(2.0, beta)?, gamma)
    }

    /// dv = −γv dt − ∇f dt + (γ/β)^(1/α) dL, dx = v dt: stable noise where Gaussian noise was. Its stationary law is
    /// not e^(−βf) unless α = 2.
    ///
    /// The paper prints the amplitude √(2γ/β), which at α = 2, where its L is √2 B, would be Langevin dynamics at twice the
    /// temperature; this is the amplitude of its other equations.
    pub fn uncorrected(alpha: f64, gamma: f64, beta: f64) -> Result<Self, ParameterError> {
        let name = format!("uncorrected, alpha {alpha:?}, gamma {gamma:?}, beta {beta:?}");
        Self::underdamped(name, Newtonian::new(alpha, beta)?, gamma)
    }

    /// FULD with the α-stable kinetic energy, exact at every β, for 0.1 ≤ α ≤ 2.
    pub fn fuld(alpha: f64, gamma: f64, beta: f64) -> Result<Self, ParameterError> {
        let name = format!("FULD, alpha {alpha:?}, gamma {gamma:?}, beta {beta:?}");
        Self::underdamped(name, StableKinetic::new(alpha, beta)?, gamma)
    }

    /// FULD with ∇G_α as the paper prints it, without β: exact at β = 1 or α = 2 only. For its figures, and to show the
    /// bias.
    pub fn fuld_beta_free(alpha: f64, gamma: f64, beta: f64) -> Result<Self, ParameterError> {
        let name = format!("beta-free FULD, alpha {alpha:?}, gamma {gamma:?}, beta {beta:?}");
        let kinetic = StableKinetic::with_temperature(alpha, beta, Temperature::BetaFree)?;
        Self::underdamped(name, kinetic, gamma)
    }

    /// FULD with the Gaussian kinetic energy: the position moves with the velocity, and the friction c, which grows
    /// exponentially, keeps v ~ N(0, 1/β) whatever the noise. The paper gives it up because Euler's explicit step
    /// explodes on c; the splittings follow c's exact flow and are stable.
    pub fn fuld_gaussian(alpha: f64, gamma: f64, beta: f64) -> Result<Self, KineticError> {
        let name = format!("FULD with Gaussian energy, alpha {alpha:?}, gamma {gamma:?}, beta {beta:?}");
        Ok(Self::underdamped(name, GaussianKinetic::new(alpha, beta)?, gamma)?)
    }

    /// Fractional Hamiltonian dynamics as its authors run it, every Riesz derivative replaced by the factor
    /// c_α = Γ(α−1)/Γ(α/2)², for 1 < α ≤ 2: dx = c_α v dt, dv = −c_α(∇f + γv) dt + (γ/β)^(1/α) dL.
    pub fn fhd(alpha: f64, gamma: f64, beta: f64) -> Result<Self, ParameterError> {
        let factor = approximation_factor(alpha)?;
        let name = format!("FHD, alpha {alpha:?}, gamma {gamma:?}, beta {beta:?}");
        let mut system = Self::underdamped(name, Newtonian::new(alpha, beta)?.times(factor)?, gamma)?;
        if let Motion::Underdamped { weight, .. } = &mut system.motion {
            *weight = factor;
        }
        Ok(system)
    }

    /// A kinetic energy of one's own; `name` goes into checkpoints.
    pub fn underdamped(
        name: impl Into<String>,
        kinetic: impl Kinetic + 'static,
        gamma: f64,
    ) -> Result<Self, ParameterError> {
        let gamma = Friction::new(gamma)?.get();
        let alpha = kinetic.alpha();
        let motion = Motion::Underdamped { kinetic: Arc::new(kinetic), gamma, weight: 1.0 };
        Ok(Self { motion, alpha, name: name.into() })
    }

    /// dx = −∇f dt + √(2/β) dB.
    pub fn overdamped_langevin(beta: f64) -> Result<Self, ParameterError> {
        Self::overdamped(format!("overdamped Langevin, beta {beta:?}"), Downhill(1.0), 2.0, beta)
    }

    /// dx = −∇f dt + β^(−1/α) dL: its stationary law is not e^(−βf) unless α = 2.
    pub fn uncorrected_overdamped(alpha: f64, beta: f64) -> Result<Self, ParameterError> {
        Self::overdamped(
            format!("uncorrected overdamped, alpha {alpha:?}, beta {beta:?}"),
            Downhill(1.0),
            alpha,
            beta,
        )
    }

    /// FLMC with its exact drift, for a potential that is the sum of one function f over the coordinates: f and its
    /// derivative are given, and the drift is tabulated on [−reach, reach].
    pub fn flmc(
        alpha: f64,
        beta: f64,
        f: impl Fn(f64) -> f64,
        derivative: impl Fn(f64) -> f64,
        reach: f64,
    ) -> Result<Self, FlmcError> {
        let drift = FlmcDrift::new(alpha, beta, f, derivative, reach)?;
        Ok(Self::overdamped(
            format!("FLMC, alpha {alpha:?}, beta {beta:?}, reach {reach:?}"),
            drift,
            alpha,
            beta,
        )?)
    }

    /// FLMC as its authors run it: the Riesz drift replaced by −c_α ∇f, for 1 < α ≤ 2.
    pub fn flmc_approximate(alpha: f64, beta: f64) -> Result<Self, ParameterError> {
        let name = format!("approximate FLMC, alpha {alpha:?}, beta {beta:?}");
        Self::overdamped(name, Downhill(approximation_factor(alpha)?), alpha, beta)
    }

    /// An overdamped system with a drift of one's own; `name` goes into checkpoints.
    pub fn overdamped(
        name: impl Into<String>,
        drift: impl Drift + 'static,
        alpha: f64,
        beta: f64,
    ) -> Result<Self, ParameterError> {
        let motion = Motion::Overdamped { drift: Arc::new(drift), amplitude: noise_amplitude(alpha, beta)? };
        Ok(Self { motion, alpha, name: name.into() })
    }

    /// The tail index of the noise.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether there is a velocity.
    pub fn is_underdamped(&self) -> bool {
        matches!(self.motion, Motion::Underdamped { .. })
    }
}

/// Name and parameters.
impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

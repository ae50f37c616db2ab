//! The dynamics by name: which there are, what each needs, and steps that suit it.

use super::SamplingError;
use super::target::Target;
use crate::settings::write_name;
use clap::ValueEnum;
use fuld::gibbs::Gibbs;
use fuld::{Integrator, Potential, System};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A system of the paper, or a relative of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dynamics {
    /// Stable noise and stable kinetic energy, exact at every beta
    Fuld,
    /// The same with the paper's field, exact at beta = 1 only
    FuldBetaFree,
    /// Stable noise and Gaussian kinetic energy, exact
    FuldGaussian,
    /// Stable noise where Gaussian noise was, nothing corrected
    Uncorrected,
    /// Gaussian noise on the velocity
    UnderdampedLangevin,
    /// No noise: SGD with momentum in continuous time
    Momentum,
    /// Fractional Hamiltonian dynamics, as its authors run it
    Fhd,
    /// Gaussian noise on the position
    OverdampedLangevin,
    /// Stable noise on the position, nothing corrected
    UncorrectedOverdamped,
    /// Fractional Langevin Monte Carlo with its exact drift
    Flmc,
    /// The same, as its authors run it
    FlmcApproximate,
}

impl fmt::Display for Dynamics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(self, f)
    }
}

impl Dynamics {
    /// Whether its noise has a tail index to choose.
    pub fn has_alpha(self) -> bool {
        !matches!(self, Self::UnderdampedLangevin | Self::OverdampedLangevin | Self::Momentum)
    }

    /// Whether it has a temperature.
    pub fn has_beta(self) -> bool {
        self != Self::Momentum
    }

    /// Whether it has noise at all.
    pub fn has_noise(self) -> bool {
        self != Self::Momentum
    }

    /// Whether it has a velocity, and so a friction.
    pub fn has_velocity(self) -> bool {
        !matches!(
            self,
            Self::OverdampedLangevin | Self::UncorrectedOverdamped | Self::Flmc | Self::FlmcApproximate
        )
    }

    /// Whether e^(−βf) is what it leaves invariant, as the step goes to 0.
    pub fn is_exact(self, alpha: f64, beta: f64) -> bool {
        match self {
            Self::Fuld | Self::FuldGaussian | Self::Flmc => true,
            Self::UnderdampedLangevin | Self::OverdampedLangevin => true,
            Self::FuldBetaFree => alpha == 2.0 || beta == 1.0,
            Self::Uncorrected | Self::Fhd | Self::UncorrectedOverdamped | Self::FlmcApproximate => {
                alpha == 2.0
            }
            Self::Momentum => false,
        }
    }

    /// A step that works on the double well: those whose velocity or position makes unbounded jumps need small ones.
    pub(super) fn step(self) -> f64 {
        match self {
            Self::Fuld | Self::FuldBetaFree | Self::UnderdampedLangevin | Self::Momentum => 0.05,
            Self::FuldGaussian => 0.02,
            Self::Uncorrected | Self::Fhd => 0.01,
            Self::OverdampedLangevin => 0.005,
            Self::UncorrectedOverdamped | Self::Flmc | Self::FlmcApproximate => 0.002,
        }
    }

    /// Its integrator unless another is asked for.
    pub(super) fn scheme(self) -> Scheme {
        if self.has_velocity() { Scheme::Baoab } else { Scheme::TamedEuler }
    }

    /// The system itself.
    pub(super) fn system(
        self,
        alpha: f64,
        gamma: f64,
        beta: f64,
        target: &Target,
    ) -> Result<System, SamplingError> {
        Ok(match self {
            Self::Fuld => System::fuld(alpha, gamma, beta)?,
            Self::FuldBetaFree => System::fuld_beta_free(alpha, gamma, beta)?,
            Self::FuldGaussian => System::fuld_gaussian(alpha, gamma, beta)?,
            Self::Uncorrected => System::uncorrected(alpha, gamma, beta)?,
            Self::UnderdampedLangevin => System::underdamped_langevin(gamma, beta)?,
            Self::Momentum => System::momentum(gamma)?,
            Self::Fhd => System::fhd(alpha, gamma, beta)?,
            Self::OverdampedLangevin => System::overdamped_langevin(beta)?,
            Self::UncorrectedOverdamped => System::uncorrected_overdamped(alpha, beta)?,
            Self::Flmc => flmc(alpha, beta, target)?,
            Self::FlmcApproximate => System::flmc_approximate(alpha, beta)?,
        })
    }
}

/// FLMC for a potential that is a sum of one function over the coordinates.
fn flmc(alpha: f64, beta: f64, target: &Target) -> Result<System, SamplingError> {
    let Some(f) = target.one_coordinate() else {
        return Err(SamplingError::NotSeparable(target.potential().dim()));
    };
    let reach = reach(f, beta)?;
    let derivative = |x: f64| {
        let mut gradient = [0.0];
        f.gradient(&[x], &mut gradient);
        gradient[0]
    };
    Ok(System::flmc(alpha, beta, |x| f.value(&[x]), derivative, reach)?)
}

/// How far the drift is tabulated: to where e^(−βf) has fallen by 10⁴³, or, if its tails are heavy, a thousand
/// times as far out as all but 2 in 1000 draws: the table of a power law takes minutes from 10⁹ on.
fn reach(f: &dyn Potential, beta: f64) -> Result<f64, SamplingError> {
    const DEEP: f64 = 100.0;
    let gibbs = Gibbs::new(f, beta)?;
    let farthest = |p: f64| gibbs.quantile(p).abs().max(gibbs.quantile(1.0 - p).abs());
    let lowest = gibbs.modes().iter().map(|&x| f.value(&[x])).fold(f64::INFINITY, f64::min);
    let fallen = |x: f64| beta * (f.value(&[x]) - lowest) > DEEP && beta * (f.value(&[-x]) - lowest) > DEEP;
    let (mut reach, end) = (farthest(1e-3), 1e3 * farthest(1e-3));
    while !fallen(reach) && reach < end {
        reach *= 1.05;
    }
    Ok(reach)
}

/// An integrator by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Euler-Maruyama, as in the paper: first order
    Euler,
    /// The same with a drift that cannot overshoot, for systems without velocity
    TamedEuler,
    /// Symmetric splitting, second order, for systems with a velocity
    Baoab,
    /// The other symmetric splitting
    Aboba,
}

impl Scheme {
    /// Whether it can make the steps of a system.
    pub(super) fn suits(self, system: Dynamics) -> bool {
        match self {
            Self::Euler => true,
            Self::TamedEuler => !system.has_velocity(),
            Self::Baoab | Self::Aboba => system.has_velocity(),
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(self, f)
    }
}

impl From<Scheme> for Integrator {
    fn from(scheme: Scheme) -> Self {
        match scheme {
            Scheme::Euler => Self::Euler,
            Scheme::TamedEuler => Self::TamedEuler,
            Scheme::Baoab => Self::Baoab,
            Scheme::Aboba => Self::Aboba,
        }
    }
}

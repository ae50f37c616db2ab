//! The named systems, one entry each.
//!
//! An entry gives the system's name, its parameters, a summary, its equation, where it is exact and
//! how it is composed. The macro derives from the entries the enum [`SystemKind`], the serialised
//! [`SystemSpec`] and one constructor of [`System`] per system. To add a system, add an entry;
//! `fuld-sample` then requires its default step.

use super::shapes::{
    CustomDriftSpec, CustomKineticSpec, Flmc, Noiseless, Overdamped, OverdampedGaussian,
    Underdamped, UnderdampedGaussian,
};
use super::{System, SystemError};
use crate::dynamics::{Downhill, GaussianKinetic, Newtonian, StableKinetic, approximation_factor};
use crate::parameters::Beta;
use levy_stable::Alpha;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The parameters at which a system leaves e^(−βf) invariant, as the step goes to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// At all parameters.
    Always,
    /// At α = 2.
    GaussianNoise,
    /// At α = 2 or β = 1.
    GaussianNoiseOrBetaOne,
    /// At no parameters.
    Never,
}

/// The facts about a named system that do not require building it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemFacts {
    /// The name in settings.
    pub name: &'static str,
    /// One line of description.
    pub summary: &'static str,
    /// The stochastic differential equation.
    pub equation: &'static str,
    /// The parameters among `alpha`, `gamma` and `beta` that it has.
    pub parameters: &'static [&'static str],
    /// Where its stationary law is e^(−βf).
    pub exact: Exactness,
}

macro_rules! systems {
    ($(
        $(#[$doc:meta])*
        $kind:ident($shape:ident) $name:literal {
            summary: $summary:literal,
            equation: $equation:literal,
            exact: $exact:ident,
            $($constructor:ident: $compose:expr,)?
        }
    )+) => {
        /// A system of the paper, or a relative of one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SystemKind {
            $(
                $(#[$doc])*
                $kind,
            )+
        }

        impl SystemKind {
            /// All systems, those with a velocity first.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Returns the entry of the table.
            pub fn facts(self) -> SystemFacts {
                match self {
                    $(Self::$kind => SystemFacts {
                        name: $name,
                        summary: $summary,
                        equation: $equation,
                        parameters: $shape::NAMES,
                        exact: Exactness::$exact,
                    },)+
                }
            }

            /// Composes the system from the parameters that it has; it ignores the others.
            ///
            /// Returns nothing for [`SystemKind::Flmc`], whose drift also requires a potential: use
            /// [`System::flmc`].
            pub fn compose(self, parameters: Underdamped) -> Option<Result<System, SystemError>> {
                match self {
                    $($(Self::$kind => Some(System::$constructor($shape::of(parameters))),)?)+
                    _ => None,
                }
            }
        }

        /// Which system, with all parameters: the part of a run's identity that describes its
        /// dynamics.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "system")]
        pub enum SystemSpec {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $kind($shape),
            )+
            /// A kinetic energy that the user supplies: [`System::underdamped`].
            #[serde(rename = "custom-kinetic")]
            CustomKinetic(CustomKineticSpec),
            /// A drift of the position that the user supplies: [`System::overdamped`].
            #[serde(rename = "custom-drift")]
            CustomDrift(CustomDriftSpec),
        }

        impl SystemSpec {
            /// Returns which of the named systems it is; nothing for one with a user-supplied part.
            pub fn kind(&self) -> Option<SystemKind> {
                match self {
                    $(Self::$kind(_) => Some(SystemKind::$kind),)+
                    Self::CustomKinetic(_) | Self::CustomDrift(_) => None,
                }
            }
        }

        /// Writes the name and the parameters.
        impl fmt::Display for SystemSpec {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$kind(parameters) => write!(f, concat!($name, "{}"), parameters),)+
                    Self::CustomKinetic(spec) => write!(f, "{}, gamma {}", spec.kinetic, spec.gamma.get()),
                    Self::CustomDrift(spec) => write!(f, "{}", spec.drift),
                }
            }
        }

        impl System {
            $($(
                #[doc = concat!("Composes [`SystemKind::", stringify!($kind), "`].\n\n> ", $equation)]
                pub fn $constructor(parameters: $shape) -> Result<Self, SystemError> {
                    let compose: fn(&$shape, SystemSpec) -> Result<Self, SystemError> = $compose;
                    compose(&parameters, SystemSpec::$kind(parameters))
                }
            )?)+
        }
    };
}

systems! {
    /// FULD with the α-stable kinetic energy, exact at every β, for 0.1 ≤ α ≤ 2.
    Fuld(Underdamped) "fuld" {
        summary: "Stable noise and stable kinetic energy, exact at every beta",
        equation: "dv = −γv dt − ∇f dt + (γ/β)^(1/α) dL, dx = β^(1/α−1) ∇G_α(β^(1/α) v) dt",
        exact: Always,
        fuld: |p, spec| System::with_kinetic(StableKinetic::new(p.alpha, p.beta)?, p.gamma, spec),
    }
    /// FULD with ∇G_α as the paper prints it, without β: exact only at β = 1 or α = 2. It
    /// reproduces the paper's figures.
    FuldBetaFree(Underdamped) "fuld-beta-free" {
        summary: "The same with the paper's field, exact at beta = 1 only",
        equation: "dv = −γv dt − ∇f dt + (γ/β)^(1/α) dL, dx = ∇G_α(v) dt",
        exact: GaussianNoiseOrBetaOne,
        fuld_beta_free: |p, spec| System::with_kinetic(StableKinetic::beta_free(p.alpha, p.beta)?, p.gamma, spec),
    }
    /// FULD with the Gaussian kinetic energy, whose friction c keeps v ~ N(0, 1/β) under noise of
    /// any tail index.
    ///
    /// The paper abandons it because Euler's explicit step explodes on c, which grows
    /// exponentially. The splittings use the exact flow of c and are stable.
    FuldGaussian(Underdamped) "fuld-gaussian" {
        summary: "Stable noise and Gaussian kinetic energy, exact",
        equation: "dv = −γ c(v) dt − ∇f dt + (γ/β)^(1/α) dL, dx = v dt",
        exact: Always,
        fuld_gaussian: |p, spec| System::with_kinetic(GaussianKinetic::new(p.alpha, p.beta)?, p.gamma, spec),
    }
    /// Underdamped Langevin dynamics with stable noise in place of Gaussian noise. Its stationary
    /// law is e^(−βf) only at α = 2.
    ///
    /// The paper prints the amplitude √(2γ/β), which at α = 2, where its L is √2 B, would be
    /// Langevin dynamics at β/2. The amplitude here is that of its other equations.
    Uncorrected(Underdamped) "uncorrected" {
        summary: "Stable noise where Gaussian noise was, nothing corrected",
        equation: "dv = −γv dt − ∇f dt + (γ/β)^(1/α) dL, dx = v dt",
        exact: GaussianNoise,
        uncorrected: |p, spec| System::with_kinetic(Newtonian::new(p.alpha, p.beta)?, p.gamma, spec),
    }
    /// Underdamped Langevin dynamics: Gaussian noise on the velocity.
    UnderdampedLangevin(UnderdampedGaussian) "underdamped-langevin" {
        summary: "Gaussian noise on the velocity",
        equation: "dv = −γv dt − ∇f dt + √(2γ/β) dB, dx = v dt",
        exact: Always,
        underdamped_langevin: |p, spec| System::with_kinetic(Newtonian::new(Alpha::GAUSS, p.beta)?, p.gamma, spec),
    }
    /// SGD with momentum in continuous time: a deterministic conformal Hamiltonian system.
    Momentum(Noiseless) "momentum" {
        summary: "No noise: SGD with momentum in continuous time",
        equation: "dv = −γv dt − ∇f dt, dx = v dt",
        exact: Never,
        momentum: |p, spec| System::with_kinetic(Newtonian::noiseless(), p.gamma, spec),
    }
    /// Fractional Hamiltonian dynamics as its authors run it, for 1 < α ≤ 2: the factor c_α =
    /// Γ(α−1)/Γ(α/2)² replaces every Riesz derivative.
    Fhd(Underdamped) "fhd" {
        summary: "Fractional Hamiltonian dynamics, as its authors run it",
        equation: "dv = −c_α(∇f + γv) dt + (γ/β)^(1/α) dL, dx = c_α v dt",
        exact: GaussianNoise,
        fhd: |p, spec| {
            let factor = approximation_factor(p.alpha)?;
            let kinetic = Newtonian::new(p.alpha, p.beta)?.times(factor)?;
            Ok(System::with_kinetic(kinetic, p.gamma, spec)?.with_force_weight(factor))
        },
    }
    /// Overdamped Langevin dynamics: Gaussian noise on the position.
    OverdampedLangevin(OverdampedGaussian) "overdamped-langevin" {
        summary: "Gaussian noise on the position",
        equation: "dx = −∇f dt + √(2/β) dB",
        exact: Always,
        overdamped_langevin: |p, spec| System::with_drift(Downhill { factor: 1.0 }, Alpha::GAUSS, p.beta, spec),
    }
    /// Overdamped Langevin dynamics with stable noise. Its stationary law is e^(−βf) only at α = 2.
    UncorrectedOverdamped(Overdamped) "uncorrected-overdamped" {
        summary: "Stable noise on the position, nothing corrected",
        equation: "dx = −∇f dt + β^(−1/α) dL",
        exact: GaussianNoise,
        uncorrected_overdamped: |p, spec| System::with_drift(Downhill { factor: 1.0 }, p.alpha, p.beta, spec),
    }
    /// Fractional Langevin Monte Carlo with its exact drift, for a potential that is a sum of one
    /// function over the coordinates.
    Flmc(Flmc) "flmc" {
        summary: "Fractional Langevin Monte Carlo with its exact drift",
        equation: "dx = b(x) dt + β^(−1/α) dL, b = −𝒟^(α−2)(φ f′)/φ, φ = e^(−βf)",
        exact: Always,
    }
    /// FLMC as its authors run it, for 1 < α ≤ 2: the drift −c_α ∇f replaces the exact one.
    FlmcApproximate(Overdamped) "flmc-approximate" {
        summary: "The same, as its authors run it",
        equation: "dx = −c_α ∇f dt + β^(−1/α) dL",
        exact: GaussianNoise,
        flmc_approximate: |p, spec| {
            System::with_drift(Downhill { factor: approximation_factor(p.alpha)? }, p.alpha, p.beta, spec)
        },
    }
}

impl SystemKind {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns one line of description.
    pub fn summary(self) -> &'static str {
        self.facts().summary
    }

    /// Returns whether the system has a tail index to choose.
    pub fn has_alpha(self) -> bool {
        self.facts().parameters.contains(&"alpha")
    }

    /// Returns whether the system has an inverse temperature, and so noise.
    pub fn has_beta(self) -> bool {
        self.facts().parameters.contains(&"beta")
    }

    /// Returns whether the system has a velocity, and so a friction.
    pub fn has_velocity(self) -> bool {
        self.facts().parameters.contains(&"gamma")
    }

    /// Returns whether the system leaves e^(−βf) invariant, as the step goes to 0.
    pub fn is_exact(self, alpha: Alpha, beta: Beta) -> bool {
        match self.facts().exact {
            Exactness::Always => true,
            Exactness::GaussianNoise => alpha == Alpha::GAUSS,
            Exactness::GaussianNoiseOrBetaOne => alpha == Alpha::GAUSS || beta == Beta::ONE,
            Exactness::Never => false,
        }
    }
}

/// FULD, the system that this library is named after.
impl Default for SystemKind {
    fn default() -> Self {
        Self::Fuld
    }
}

impl fmt::Display for SystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

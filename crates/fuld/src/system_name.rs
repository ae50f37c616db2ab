//! The dynamics by name: which there are, what each needs, and settings that suit it.

use crate::gibbs::Gibbs;
use crate::potential::Target;
use crate::recipe::RecipeError;
use crate::unknown_name::{UnknownName, by_name};
use crate::{Integrator, Potential, System};
use std::fmt;
use std::str::FromStr;

/// A system of the paper, or a relative of one, by name.
///
/// ```
/// use fuld::Dynamics;
/// assert_eq!("FULD_Gaussian".parse(), Ok(Dynamics::FuldGaussian));
/// let error = "fudl".parse::<Dynamics>().unwrap_err().to_string();
/// assert!(error.starts_with("no system is called `fudl` (did you mean `fuld`?); there are fuld, "));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dynamics {
    /// [`System::fuld`]
    #[default]
    Fuld,
    /// [`System::fuld_beta_free`]
    FuldBetaFree,
    /// [`System::fuld_gaussian`]
    FuldGaussian,
    /// [`System::uncorrected`]
    Uncorrected,
    /// [`System::underdamped_langevin`]
    UnderdampedLangevin,
    /// [`System::momentum`]
    Momentum,
    /// [`System::fhd`]
    Fhd,
    /// [`System::overdamped_langevin`]
    OverdampedLangevin,
    /// [`System::uncorrected_overdamped`]
    UncorrectedOverdamped,
    /// [`System::flmc`]
    Flmc,
    /// [`System::flmc_approximate`]
    FlmcApproximate,
}

impl Dynamics {
    /// Those with a velocity first.
    pub const ALL: [Self; 11] = [
        Self::Fuld,
        Self::FuldBetaFree,
        Self::FuldGaussian,
        Self::Uncorrected,
        Self::UnderdampedLangevin,
        Self::Momentum,
        Self::Fhd,
        Self::OverdampedLangevin,
        Self::UncorrectedOverdamped,
        Self::Flmc,
        Self::FlmcApproximate,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Fuld => ("fuld", "Stable noise and stable kinetic energy, exact at every beta"),
            Self::FuldBetaFree => {
                ("fuld-beta-free", "The same with the paper's field, exact at beta = 1 only")
            }
            Self::FuldGaussian => ("fuld-gaussian", "Stable noise and Gaussian kinetic energy, exact"),
            Self::Uncorrected => ("uncorrected", "Stable noise where Gaussian noise was, nothing corrected"),
            Self::UnderdampedLangevin => ("underdamped-langevin", "Gaussian noise on the velocity"),
            Self::Momentum => ("momentum", "No noise: SGD with momentum in continuous time"),
            Self::Fhd => ("fhd", "Fractional Hamiltonian dynamics, as its authors run it"),
            Self::OverdampedLangevin => ("overdamped-langevin", "Gaussian noise on the position"),
            Self::UncorrectedOverdamped => {
                ("uncorrected-overdamped", "Stable noise on the position, nothing corrected")
            }
            Self::Flmc => ("flmc", "Fractional Langevin Monte Carlo with its exact drift"),
            Self::FlmcApproximate => ("flmc-approximate", "The same, as its authors run it"),
        }
    }

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
    pub fn default_step(self) -> f64 {
        match self {
            Self::Fuld | Self::FuldBetaFree | Self::UnderdampedLangevin | Self::Momentum => 0.05,
            Self::FuldGaussian => 0.02,
            Self::Uncorrected | Self::Fhd => 0.01,
            Self::OverdampedLangevin => 0.005,
            Self::UncorrectedOverdamped | Self::Flmc | Self::FlmcApproximate => 0.002,
        }
    }

    /// Its integrator unless another is asked for.
    pub fn default_integrator(self) -> Integrator {
        if self.has_velocity() { Integrator::Baoab } else { Integrator::TamedEuler }
    }

    /// The time between draws after which, on the double well, another one tells something new.
    pub fn draw_time(self) -> f64 {
        if self.has_velocity() { 1.0 } else { 0.5 }
    }

    /// The system itself, for a target, whose function of one coordinate FLMC needs. Parameters that it does not have are not
    /// looked at.
    pub fn system(self, alpha: f64, gamma: f64, beta: f64, target: &Target) -> Result<System, RecipeError> {
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

impl fmt::Display for Dynamics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dynamics {
    type Err = UnknownName;

    /// By name; capitals do not matter, and an underscore is as good as a hyphen.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        by_name("system", name, &Self::ALL, |system| system.name()).copied()
    }
}

/// FLMC for a potential that is a sum of one function over the coordinates.
fn flmc(alpha: f64, beta: f64, target: &Target) -> Result<System, RecipeError> {
    let Some(f) = target.one_coordinate() else {
        return Err(RecipeError::NotSeparable(target.potential().dim()));
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
fn reach(f: &dyn Potential, beta: f64) -> Result<f64, RecipeError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_go_round() {
        let names: HashSet<&str> = Dynamics::ALL.iter().map(|system| system.name()).collect();
        assert_eq!(names.len(), Dynamics::ALL.len());
        for system in Dynamics::ALL {
            assert_eq!(system.to_string().parse(), Ok(system));
            assert_eq!(system.name().to_uppercase().replace('-', "_").parse(), Ok(system));
            assert!(!system.summary().is_empty());
        }
        let error = "langevin".parse::<Dynamics>().unwrap_err().to_string();
        assert!(
            error.starts_with("no system is called `langevin`; there are fuld, fuld-beta-free"),
            "{error}"
        );
    }

    /// What is said of a system is what its composition has.
    #[test]
    fn every_system_is_what_it_says() {
        let well = Target::new("double_well", None, &[]).unwrap();
        for system in Dynamics::ALL {
            let built = system.system(1.5, 2.0, 1.0, &well).unwrap();
            assert_eq!(built.is_underdamped(), system.has_velocity(), "{system}");
            assert_eq!(built.alpha() == 1.5, system.has_alpha(), "{system}");
            assert!(system.default_integrator().check(&built).is_ok(), "{system}");
            // Where it has none, a bad one does not matter.
            assert_eq!(system.system(1.5, 2.0, -1.0, &well).is_err(), system.has_beta(), "{system}");
            assert_eq!(system.system(1.5, -1.0, 1.0, &well).is_err(), system.has_velocity(), "{system}");
        }
    }

    #[test]
    fn flmc_wants_one_function_of_all_coordinates() {
        let message = |target: &Target| Dynamics::Flmc.system(1.5, 0.0, 1.0, target).unwrap_err().to_string();
        let plane = Target::new("x^2 + y^2", None, &[]).unwrap();
        assert!(
            message(&plane).contains("or one of double_well, harmonic, cauchy; this one has 2 coordinates"),
            "{}",
            message(&plane)
        );
        let slope = Target::new("x", None, &[]).unwrap();
        assert!(message(&slope).contains("still falls"), "{}", message(&slope));
        let wells = Target::new("double_well", Some(5), &[]).unwrap();
        assert!(Dynamics::Flmc.system(1.5, 0.0, 1.0, &wells).is_ok());
    }
}

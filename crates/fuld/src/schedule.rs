//! Step sizes ηₖ.

use crate::{ParameterError, Step};
use std::fmt;
use std::sync::Arc;

/// The step size at iteration k = 0, 1, 2, …
#[derive(Clone)]
pub enum Schedule {
    /// ηₖ = η.
    Constant(Step),
    /// ηₖ = η₀ (1 + k/k₀)^(−p): with 0 < p ≤ 1 it satisfies the paper's Assumption 1, ηₖ → 0 and Σηₖ = ∞.
    Polynomial {
        /// η₀
        start: Step,
        /// k₀ > 0, the iteration by which the step has fallen by 2^p.
        half_life: f64,
        /// p ≥ 0
        power: f64,
    },
    /// The user's own, by name and function. A value that is not positive and finite ends the run with an error.
    Custom(&'static str, Arc<dyn Fn(u64) -> f64 + Send + Sync>),
}

impl Schedule {
    /// A constant step.
    pub fn constant(eta: f64) -> Result<Self, ParameterError> {
        Ok(Self::Constant(Step::new(eta)?))
    }

    /// η₀ (1 + k/k₀)^(−p).
    pub fn polynomial(start: f64, half_life: f64, power: f64) -> Result<Self, ParameterError> {
        let start = Step::new(start)?;
        if !(half_life > 0.0 && half_life.is_finite()) {
            return Err(ParameterError::HalfLife(half_life));
        }
        if !(power >= 0.0 && power.is_finite()) {
            return Err(ParameterError::Power(power));
        }
        Ok(Self::Polynomial { start, half_life, power })
    }

    /// ηₖ, or the error of a value that is no step size.
    pub fn at(&self, k: u64) -> Result<f64, ParameterError> {
        let eta = match self {
            Self::Constant(step) => step.get(),
            Self::Polynomial { start, half_life, power } => {
                start.get() * libm::pow(1.0 + k as f64 / half_life, -power)
            }
            Self::Custom(_, eta) => eta(k),
        };
        Ok(Step::new(eta)?.get())
    }
}

/// As a checkpoint records it: what defines the steps.
impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(step) => write!(f, "constant {:?}", step.get()),
            Self::Polynomial { start, half_life, power } => {
                write!(f, "{:?} (1 + k/{half_life:?})^-{power:?}", start.get())
            }
            Self::Custom(name, _) => write!(f, "custom {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_fall_as_they_should() {
        let schedule = Schedule::polynomial(0.1, 100.0, 0.5).unwrap();
        assert_eq!(schedule.at(0).unwrap(), 0.1);
        assert!((schedule.at(300).unwrap() - 0.05).abs() < 1e-15);
        assert!(
            Schedule::polynomial(0.1, 0.0, 0.5).is_err() && Schedule::polynomial(0.1, 1.0, -1.0).is_err()
        );
        let vanishing = Schedule::polynomial(0.1, 1e-320, 1.0).unwrap();
        assert_eq!(vanishing.at(1).unwrap_err(), ParameterError::Step(0.0));
        let bad = Schedule::Custom("bad", Arc::new(|k| 0.5 - k as f64));
        assert_eq!(bad.at(0).unwrap(), 0.5);
        assert_eq!(bad.at(1).unwrap_err(), ParameterError::Step(-0.5));
    }
}

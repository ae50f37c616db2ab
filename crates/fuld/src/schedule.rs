//! Schedules of the step size ηₖ.

use crate::{ParameterError, Specification, Step};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The step size at iteration k = 0, 1, 2, …
#[derive(Clone)]
pub enum Schedule {
    /// ηₖ = η.
    Constant(Step),
    /// ηₖ = η₀ (1 + k/k₀)^(−p).
    Polynomial(Polynomial),
    /// A user-supplied function of k: [`Schedule::custom`].
    Custom(CustomSchedule),
}

/// Parameters of ηₖ = η₀ (1 + k/k₀)^(−p), which for 0 < p ≤ 1 satisfies the paper's Assumption 1:
/// ηₖ → 0 and Σηₖ = ∞.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Polynomial {
    /// First step η₀.
    pub start: Step,
    /// k₀ > 0, the iteration at which the step has fallen by 2^p.
    pub half_life: f64,
    /// p ≥ 0
    pub power: f64,
}

/// A user-supplied schedule with its specification.
#[derive(Clone)]
pub struct CustomSchedule {
    specification: Specification,
    step: Arc<dyn Fn(u64) -> f64 + Send + Sync>,
}

/// The serialisable description of a schedule in a run's identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schedule", rename_all = "snake_case")]
pub enum ScheduleSpec {
    /// A constant step.
    Constant {
        /// η
        step: Step,
    },
    /// A polynomially decreasing step.
    Polynomial(Polynomial),
    /// A user-supplied schedule.
    Custom(Specification),
}

impl Schedule {
    /// Returns a constant step.
    pub fn constant(eta: f64) -> Result<Self, ParameterError> {
        Ok(Self::Constant(Step::new(eta)?))
    }

    /// Returns η₀ (1 + k/k₀)^(−p).
    pub fn polynomial(polynomial: Polynomial) -> Result<Self, ParameterError> {
        let Polynomial { half_life, power, .. } = polynomial;
        if !(half_life > 0.0 && half_life.is_finite()) {
            return Err(ParameterError::HalfLife(half_life));
        }
        if !(power >= 0.0 && power.is_finite()) {
            return Err(ParameterError::Power(power));
        }
        Ok(Self::Polynomial(polynomial))
    }

    /// Returns a user-supplied schedule. A step that is not positive and finite ends the run with
    /// an error.
    ///
    /// `specification` identifies the function in checkpoints and stores.
    pub fn custom(
        specification: impl Into<Specification>,
        step: impl Fn(u64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self::Custom(CustomSchedule { specification: specification.into(), step: Arc::new(step) })
    }

    /// Returns ηₖ, or an error if it is not positive and finite.
    pub fn at(&self, k: u64) -> Result<f64, ParameterError> {
        let eta = match self {
            Self::Constant(step) => step.get(),
            Self::Polynomial(Polynomial { start, half_life, power }) => {
                start.get() * libm::pow(1.0 + k as f64 / half_life, -power)
            }
            Self::Custom(custom) => (custom.step)(k),
        };
        Ok(Step::new(eta)?.get())
    }

    /// Returns the description of the schedule in a run's identity.
    pub fn spec(&self) -> ScheduleSpec {
        match self {
            Self::Constant(step) => ScheduleSpec::Constant { step: *step },
            Self::Polynomial(polynomial) => ScheduleSpec::Polynomial(*polynomial),
            Self::Custom(custom) => ScheduleSpec::Custom(custom.specification.clone()),
        }
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_fall_as_they_should() {
        let polynomial = |start: f64, half_life, power| {
            Schedule::polynomial(Polynomial { start: Step::new(start).unwrap(), half_life, power })
        };
        let schedule = polynomial(0.1, 100.0, 0.5).unwrap();
        assert_eq!(schedule.at(0).unwrap(), 0.1);
        assert!((schedule.at(300).unwrap() - 0.05).abs() < 1e-15);
        assert!(polynomial(0.1, 0.0, 0.5).is_err() && polynomial(0.1, 1.0, -1.0).is_err());
        let vanishing = polynomial(0.1, 1e-320, 1.0).unwrap();
        assert_eq!(vanishing.at(1).unwrap_err(), ParameterError::Step(0.0));
        let bad = Schedule::custom("bad", |k| 0.5 - k as f64);
        assert_eq!(bad.at(0).unwrap(), 0.5);
        assert_eq!(bad.at(1).unwrap_err(), ParameterError::Step(-0.5));
    }
}

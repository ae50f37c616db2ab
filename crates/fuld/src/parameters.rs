//! Parameters of a dynamics, validated once where they enter.

use levy_stable::Alpha;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A parameter outside its range. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A parameter of the stable law.
    #[error(transparent)]
    Law(#[from] levy_stable::ParameterError),
    /// The tail index is not in (1, 2].
    #[error("the factor that replaces the Riesz derivative requires 1 < alpha <= 2, got {0}")]
    AlphaAboveOne(f64),
    /// The inverse temperature is not positive and finite.
    #[error("the inverse temperature beta must be positive and finite, got {0}")]
    Beta(f64),
    /// The friction is negative or not finite.
    #[error("the friction gamma must be finite and not negative, got {0}")]
    Friction(f64),
    /// The amplitude of the noise overflows or underflows.
    #[error(
        "alpha = {alpha} and beta = {beta} make noise of amplitude {amplitude:e}; it must be between 1e-150 and 1e150"
    )]
    Extreme {
        /// The tail index.
        alpha: f64,
        /// The inverse temperature.
        beta: f64,
        /// β^(−1/α)
        amplitude: f64,
    },
    /// A factor or amplitude is negative or not finite.
    #[error("a factor of a kinetic energy must be positive and finite, got {0}")]
    Factor(f64),
    /// The step size is not positive and finite.
    #[error("the step size must be positive and finite, got {0}")]
    Step(f64),
    /// The scale of the gradient noise is negative or not finite.
    #[error("noise_scale must be finite and not negative, got {0}")]
    NoiseScale(f64),
    /// The half-life k₀ of a schedule is not positive and finite.
    #[error("the half-life of the step size must be positive and finite, got {0}")]
    HalfLife(f64),
    /// The power p of a schedule is negative or not finite.
    #[error("the power of the step-size schedule must be finite and not negative, got {0}")]
    Power(f64),
}

macro_rules! parameter {
    ($(#[$doc:meta])* $name:ident, $error:ident, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Validates a number.
            pub fn new(value: f64) -> Result<Self, ParameterError> {
                let valid: fn(f64) -> bool = $valid;
                if value.is_finite() && valid(value) { Ok(Self(value)) } else { Err(ParameterError::$error(value)) }
            }

            /// Returns the number.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = ParameterError;

            fn try_from(value: f64) -> Result<Self, ParameterError> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }
    };
}

parameter!(
    /// Inverse temperature β > 0.
    Beta,
    Beta,
    |value| value > 0.0
);
parameter!(
    /// Friction γ ≥ 0.
    Friction,
    Friction,
    |value| value >= 0.0
);
parameter!(
    /// Step size η > 0.
    Step,
    Step,
    |value| value > 0.0
);

parameter!(
    /// Scale σ ≥ 0 of the SαS noise in every coordinate of a stochastic gradient. At α = 2 that is
    /// N(0, 2σ²).
    NoiseScale,
    NoiseScale,
    |value| value >= 0.0
);

impl NoiseScale {
    /// σ = 0: gradients are exact, or their noise is unknown.
    pub const ZERO: Self = Self(0.0);
}

impl Beta {
    /// β = 1, where the target is e^(−f).
    pub const ONE: Self = Self(1.0);
}

impl Friction {
    /// γ = 0: no friction, and so no noise on the velocity.
    pub const ZERO: Self = Self(0.0);
    /// γ so large that exact sampling draws new velocities in each iteration: e^(−γt) vanishes for
    /// every time t in use.
    pub const COMPLETE: Self = Self(1e6);
}

/// Returns β^(−1/α), the amplitude of stable noise at inverse temperature β.
///
/// Its square and the square of its inverse must be finite too, hence the bounds.
pub(crate) fn noise_amplitude(alpha: Alpha, beta: Beta) -> Result<f64, ParameterError> {
    let (alpha, beta) = (alpha.get(), beta.get());
    let amplitude = libm::pow(beta, -1.0 / alpha);
    if (1e-150..=1e150).contains(&amplitude) {
        Ok(amplitude)
    } else {
        Err(ParameterError::Extreme { alpha, beta, amplitude })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_values_are_named() {
        assert_eq!(
            Step::new(-1.0).unwrap_err().to_string(),
            "the step size must be positive and finite, got -1"
        );
        assert!(
            Beta::new(0.0).is_err()
                && Beta::new(f64::INFINITY).is_err()
                && Beta::new(f64::NAN).is_err()
        );
        let extreme = noise_amplitude(Alpha::new(0.1).unwrap(), Beta::new(1e40).unwrap())
            .unwrap_err()
            .to_string();
        assert!(
            extreme.contains("0.1") && extreme.contains("1e-400") || extreme.contains("0e0"),
            "{extreme}"
        );
        assert!(Friction::new(0.0).is_ok() && Friction::new(-0.1).is_err());
    }
}

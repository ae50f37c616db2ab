//! Validated parameters of systems at β = 1, where the exhibits compare systems.

use fuld::{Alpha, Beta, Friction, Overdamped, ParameterError, Underdamped, UnderdampedGaussian};

/// Returns the parameters of an underdamped system with stable noise at β = 1.
pub(crate) fn underdamped(alpha: f64, gamma: f64) -> Result<Underdamped, ParameterError> {
    Ok(Underdamped { alpha: Alpha::new(alpha)?, gamma: Friction::new(gamma)?, beta: Beta::ONE })
}

/// Returns the parameters of an underdamped system with Gaussian noise at β = 1.
pub(crate) fn underdamped_gaussian(gamma: f64) -> Result<UnderdampedGaussian, ParameterError> {
    Ok(UnderdampedGaussian { gamma: Friction::new(gamma)?, beta: Beta::ONE })
}

/// Returns the parameters of an overdamped system with stable noise at β = 1.
pub(crate) fn overdamped(alpha: f64) -> Result<Overdamped, ParameterError> {
    Ok(Overdamped { alpha: Alpha::new(alpha)?, beta: Beta::ONE })
}

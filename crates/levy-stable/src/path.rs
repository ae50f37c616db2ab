//! Lévy motion.

use crate::{ParameterError, Sampler};
use rand::Rng;

/// Symmetric α-stable Lévy motion on a grid of step Δt: L(0) = 0, independent increments SαS(Δt^(1/α)).
///
/// At α = 2 it is √2 times Brownian motion.
///
/// ```
/// use levy_stable::LevyMotion;
/// use rand::SeedableRng;
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// let path = LevyMotion::new(1.7, 0.01)?.path(&mut rng, 1000);
/// assert_eq!(path.len(), 1001);
/// assert_eq!(path[0], 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LevyMotion {
    increments: Sampler,
    dt: f64,
}

impl LevyMotion {
    /// Motion of tail index α on a grid of step `dt`.
    pub fn new(alpha: f64, dt: f64) -> Result<Self, ParameterError> {
        if !(dt > 0.0 && dt < f64::INFINITY) {
            return Err(ParameterError::TimeStep(dt));
        }
        Ok(Self { increments: Sampler::new(alpha, libm::pow(dt, 1.0 / alpha))?, dt })
    }

    /// The time step.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// L(0) = 0, L(Δt), …, L(nΔt): `steps + 1` values.
    pub fn path<R: Rng + ?Sized>(&self, rng: &mut R, steps: usize) -> Vec<f64> {
        let mut path = vec![0.0; steps + 1];
        self.increments.fill(rng, &mut path[1..]);
        let mut level = 0.0;
        for value in &mut path {
            level += *value;
            *value = level;
        }
        path
    }
}

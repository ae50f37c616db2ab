//! Symmetric stable Lévy motion on a regular grid in time.

use crate::{ParameterError, Sampler, SymmetricStable};
use rand::Rng;

/// Symmetric α-stable Lévy motion on a grid of step Δt: L(0) = 0, independent increments SαS(σ
/// Δt^(1/α)).
///
/// Created by [`SymmetricStable::motion`]. At α = 2 and σ = 1 it is √2 times Brownian motion.
///
/// ```
/// use levy_stable::SymmetricStable;
/// use rand::SeedableRng;
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
/// let path = SymmetricStable::new(1.7)?.motion(0.01)?.path(&mut rng, 1000);
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

impl SymmetricStable {
    /// Returns the Lévy motion that has this law after unit time, on a grid of step `dt`.
    pub fn motion(&self, dt: f64) -> Result<LevyMotion, ParameterError> {
        if !(dt > 0.0 && dt < f64::INFINITY) {
            return Err(ParameterError::TimeStep(dt));
        }
        let scale = self.scale() * libm::pow(dt, 1.0 / self.alpha());
        Ok(LevyMotion { increments: self.with_scale(scale)?.sampler(), dt })
    }
}

impl LevyMotion {
    /// Returns the time step.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Returns a random path L(0) = 0, L(Δt), …, L(nΔt), which has `steps + 1` values.
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

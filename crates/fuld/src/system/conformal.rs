//! The deterministic part of an underdamped system, split as a conformal Hamiltonian system.

use super::{Motion, System};
use crate::potential::Potential;

/// The velocity of (x, v) without noise, in two parts: one that keeps the energy f(x) + g(v), one
/// that lowers it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConformalField {
    /// dx/dt = h(v), all of it Hamiltonian.
    pub transport: Vec<f64>,
    /// The Hamiltonian part of dv/dt, −∇f(x) (times c_α for FHD).
    pub force: Vec<f64>,
    /// The dissipative part of dv/dt, −γ c(v).
    pub friction: Vec<f64>,
}

impl ConformalField {
    /// Returns dv/dt, the sum of both parts.
    pub fn acceleration(&self) -> Vec<f64> {
        self.force.iter().zip(&self.friction).map(|(force, friction)| force + friction).collect()
    }
}

impl System {
    /// Returns the field of the system at (x, v), or nothing for overdamped systems, which have no
    /// velocity.
    ///
    /// # Panics
    ///
    /// If x or v does not have the potential's dimension.
    pub fn field(&self, potential: &dyn Potential, x: &[f64], v: &[f64]) -> Option<ConformalField> {
        assert_eq!(
            (x.len(), v.len()),
            (potential.dim(), potential.dim()),
            "x and v must have the potential's dimension"
        );
        let Motion::Underdamped { kinetic, gamma, weight } = &self.motion else { return None };
        let [mut transport, mut force, mut friction] = std::array::from_fn(|_| vec![0.0; x.len()]);
        kinetic.transport(v, &mut transport);
        potential.gradient(x, &mut force);
        kinetic.friction(v, &mut friction);
        force.iter_mut().for_each(|force| *force *= -weight);
        friction.iter_mut().for_each(|friction| *friction *= -gamma);
        Some(ConformalField { transport, force, friction })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Noiseless, OverdampedGaussian, Underdamped};
    use super::*;
    use crate::parameters::{Beta, Friction};
    use crate::potential::{Cauchy, DoubleWell};
    use levy_stable::Alpha;

    #[test]
    fn parts_are_those_of_the_equations() {
        let quartic = DoubleWell::new(1, 1.0, 0.0).unwrap();
        let field = System::momentum(Noiseless { gamma: Friction::new(0.5).unwrap() })
            .unwrap()
            .field(&quartic, &[2.0], &[3.0])
            .unwrap();
        assert_eq!((field.transport[0], field.force[0], field.friction[0]), (3.0, -8.0, -1.5));
        assert_eq!(field.acceleration(), [-9.5]);
        // The stable energy at α = 1: ∇G = 2v/(1+v²), c = v.
        let cauchy = Cauchy::new(1, 1.0).unwrap();
        let parameters = Underdamped {
            alpha: Alpha::CAUCHY,
            gamma: Friction::new(2.0).unwrap(),
            beta: Beta::ONE,
        };
        let field = System::fuld(parameters).unwrap().field(&cauchy, &[1.0], &[3.0]).unwrap();
        assert!((field.transport[0] - 0.6).abs() < 1e-12 && (field.force[0] + 1.0).abs() < 1e-12);
        assert_eq!(field.friction[0], -6.0);
        let overdamped =
            System::overdamped_langevin(OverdampedGaussian { beta: Beta::ONE }).unwrap();
        assert!(overdamped.field(&cauchy, &[1.0], &[1.0]).is_none());
    }
}

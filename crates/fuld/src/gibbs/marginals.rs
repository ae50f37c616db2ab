//! Marginal laws of two coordinates: at each point an integral over the other coordinate.

use super::search::Line;
use super::{Gibbs, GibbsError};
use crate::Potential;
use std::cell::Cell;

/// Settings of the kept coordinate. They are coarser than in one dimension because every point is
/// an integral.
const OUTER: Line = Line {
    octaves: -10..40,
    per_octave: 4,
    fine: 256,
    tolerance: 1e-7,
    floor: 1e-10,
    negligible: 1e-14,
    halvings: 300,
    horizon: 3e4,
};
/// Settings of the integral over the other coordinate.
const INNER: Line = Line { per_octave: 3, fine: 64, tolerance: 1e-9, floor: 1e-11, ..OUTER };

/// Returns the law of coordinate `kept` under e^(−βf). Its energy is −log ∫ e^(−βf) over the other
/// coordinate, and its slope is the conditional mean of β∂f.
pub(super) fn marginal(
    potential: &dyn Potential,
    beta: f64,
    kept: usize,
) -> Result<Gibbs, GibbsError> {
    let point = |x: f64, y: f64| if kept == 0 { [x, y] } else { [y, x] };
    let derivative = |x: f64, y: f64, of: usize| {
        let mut gradient = [0.0; 2];
        potential.gradient(&point(x, y), &mut gradient);
        beta * gradient[of]
    };
    let conditional = |x: f64| {
        let energy = |y: f64| beta * potential.value(&point(x, y));
        Gibbs::from_energy(&energy, &|y| derivative(x, y, 1 - kept), &INNER)
    };
    // Where the integral over the other coordinate fails, the density is taken as 0. If it fails
    // everywhere, the error at 0 is the one to report.
    let problem = Cell::new(None);
    let energy = |x: f64| match conditional(x) {
        Ok(law) => law.free_energy(),
        Err(error) => {
            if x == 0.0 {
                problem.set(Some(error));
            }
            f64::INFINITY
        }
    };
    let slope =
        |x: f64| conditional(x).map_or(f64::NAN, |law| law.expectation(|y| derivative(x, y, kept)));
    let law = Gibbs::from_energy(&energy, &slope, &OUTER);
    law.map_err(|error| problem.take().unwrap_or(error))
}

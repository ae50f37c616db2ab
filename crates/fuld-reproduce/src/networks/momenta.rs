//! How large the momenta of networks become, compared with the knee of the field.

use super::MomentumRow;
use crate::study::PAPER_ALPHA;
use levy_stable::SymmetricStable;

/// Steps that are followed: more than enough to leave the plateau at the start of deep networks.
pub(super) const STEPS: u64 = 2_000;

/// A field that deviates from its tangent by less than this share is linear, and its optimizer SGD
/// with momentum.
pub(super) const LINEAR: f64 = 0.01;

/// The momenta of all networks that were followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Momenta {
    pub(super) networks: usize,
    /// Networks in which the field was linear at every step.
    pub(super) linear: usize,
    /// Steps that were followed.
    pub(super) steps: u64,
    /// Steps of a complete run.
    pub(super) iterations: u64,
    /// The median over networks of the largest |v|.
    pub(super) median: f64,
    /// The largest |v| of all networks.
    pub(super) largest: f64,
    /// Relative deviation of the field from its tangent there.
    pub(super) deviation: f64,
}

impl Momenta {
    /// Summarises rows of the paper's formula.
    pub(super) fn of(rows: &[MomentumRow]) -> Self {
        let mut all: Vec<f64> = rows.iter().map(|row| row.largest_v).collect();
        all.sort_by(f64::total_cmp);
        let largest = all.last().copied().unwrap_or(0.0);
        Self {
            networks: all.len(),
            linear: all.iter().filter(|&&v| deviation(v) < LINEAR).count(),
            steps: rows.first().map_or(0, |row| row.steps),
            iterations: rows.first().map_or(0, |row| row.iterations),
            median: all.get(all.len() / 2).copied().unwrap_or(0.0),
            largest,
            deviation: deviation(largest),
        }
    }
}

/// Returns 1 − ∇G_α(v)/(∇G_α′(0) v), which grows with |v|.
fn deviation(v: f64) -> f64 {
    match SymmetricStable::kinetic(PAPER_ALPHA) {
        _ if v == 0.0 => 0.0,
        Ok(law) if v.is_finite() => 1.0 - law.score(v) / (law.score_derivative(0.0) * v),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_linear_near_zero_and_not_beyond_its_knee() {
        assert!(deviation(0.05) < 2e-3 && deviation(1.0) > 0.03 && deviation(5.0) > 0.7);
        assert_eq!((deviation(0.0), deviation(f64::INFINITY)), (0.0, 1.0));
    }

    #[test]
    fn the_largest_momentum_of_any_network_counts() {
        let row = |largest_v| MomentumRow {
            width: 64,
            depth: 2,
            seed: 0,
            steps: STEPS,
            iterations: 10_000,
            largest_v,
        };
        let momenta = Momenta::of(&[0.1, 240.0, 0.3].map(row));
        assert_eq!((momenta.median, momenta.largest), (0.3, 240.0));
        assert_eq!((momenta.linear, momenta.networks), (2, 3));
        assert!(momenta.deviation > 0.99);
        assert_eq!((momenta.steps, momenta.iterations), (STEPS, 10_000));
    }
}

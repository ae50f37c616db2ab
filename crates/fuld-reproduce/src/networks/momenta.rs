//! How large the momenta of networks become, compared with the knee of the field.

use crate::study::treatment::PAPER_ALPHA;
use levy_stable::SymmetricStable;
use serde::{Deserialize, Serialize};

/// Steps that are followed: more than enough to leave the plateau at the start of deep networks.
pub(super) const STEPS: u64 = 2_000;

/// A field that deviates from its tangent by less than this share is linear, and its optimizer SGD with momentum.
pub(super) const LINEAR: f64 = 0.01;

/// One row of the table of momenta.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MomentumRow {
    pub(super) width: usize,
    pub(super) depth: usize,
    pub(super) seed: u64,
    /// Steps that were followed.
    pub(super) steps: u64,
    /// Steps of a complete run.
    pub(super) iterations: u64,
    /// The largest |v| of any weight at any step.
    pub(super) largest_v: f64,
}

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
    pub(super) fn of(rows: &[MomentumRow]) -> anyhow::Result<Self> {
        let mut all: Vec<f64> = rows.iter().map(|row| row.largest_v).collect();
        all.sort_by(f64::total_cmp);
        let law = SymmetricStable::kinetic(PAPER_ALPHA)?;
        // 1 − ∇G_α(v)/(∇G_α′(0) v), which grows with |v|.
        let deviation = |v: f64| match v {
            0.0 => 0.0,
            v if v.is_finite() => 1.0 - law.score(v) / (law.score_derivative(0.0) * v),
            _ => 1.0,
        };
        let largest = all.last().copied().unwrap_or(0.0);
        Ok(Self {
            networks: all.len(),
            linear: all.iter().filter(|&&v| deviation(v) < LINEAR).count(),
            steps: rows.first().map_or(0, |row| row.steps),
            iterations: rows.first().map_or(0, |row| row.iterations),
            median: all.get(all.len() / 2).copied().unwrap_or(0.0),
            largest,
            deviation: deviation(largest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn momenta(largest: &[f64]) -> Momenta {
        let row = |&largest_v| MomentumRow {
            width: 64,
            depth: 2,
            seed: 0,
            steps: STEPS,
            iterations: 10_000,
            largest_v,
        };
        Momenta::of(&largest.iter().map(row).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_field_is_linear_near_zero_and_not_beyond_its_knee() {
        let deviation = |v: f64| momenta(&[v]).deviation;
        assert!(deviation(0.05) < 2e-3 && deviation(1.0) > 0.03 && deviation(5.0) > 0.7);
        assert_eq!((deviation(0.0), deviation(f64::INFINITY)), (0.0, 1.0));
    }

    #[test]
    fn the_largest_momentum_of_any_network_counts() {
        let momenta = momenta(&[0.1, 240.0, 0.3]);
        assert_eq!((momenta.median, momenta.largest), (0.3, 240.0));
        assert_eq!((momenta.linear, momenta.networks), (2, 3));
        assert!(momenta.deviation > 0.99);
        assert_eq!((momenta.steps, momenta.iterations), (STEPS, 10_000));
    }
}

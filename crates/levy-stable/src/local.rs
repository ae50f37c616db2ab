//! What every formula for the density returns.

/// The density and its score at one x ≥ 0, unit scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Local {
    /// ψ
    pub(crate) pdf: f64,
    /// g′ = −ψ′/ψ
    pub(crate) score: f64,
    /// g″ = g′² − ψ″/ψ
    pub(crate) score_derivative: f64,
}

impl Local {
    /// From ψ and, in units of `unit`, −ψ′/ψ and ψ″/ψ: g″ is formed before the unit can make its terms overflow.
    pub(crate) fn new(pdf: f64, score: f64, curvature: f64, unit: f64) -> Self {
        let score_derivative = score.mul_add(score, -curvature) * unit * unit;
        Self { pdf, score: score * unit, score_derivative }
    }

    /// ψ″/ψ
    pub(crate) fn curvature(&self) -> f64 {
        self.score.mul_add(self.score, -self.score_derivative)
    }
}

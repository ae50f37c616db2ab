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
    /// From ψ, −ψ′/ψ and ψ″/ψ.
    pub(crate) fn new(pdf: f64, score: f64, curvature: f64) -> Self {
        Self {
            pdf,
            score,
            score_derivative: score.mul_add(score, -curvature),
        }
    }

    /// ψ″/ψ
    pub(crate) fn curvature(&self) -> f64 {
        self.score.mul_add(self.score, -self.score_derivative)
    }
}

//! The density and its derivatives at one point, as every formula returns them.

/// The density ψ and the derivatives of the energy g = −ln ψ at one x ≥ 0, at unit scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Local {
    /// ψ
    pub(crate) pdf: f64,
    /// g′ = −ψ′/ψ
    pub(crate) slope: f64,
    /// g″ = g′² − ψ″/ψ
    pub(crate) slope_derivative: f64,
}

impl Local {
    /// Builds it from ψ and, in units of `unit`, −ψ′/ψ and ψ″/ψ. g″ is computed before the unit is
    /// applied, so that its terms do not overflow.
    pub(crate) fn new(pdf: f64, slope: f64, curvature: f64, unit: f64) -> Self {
        let slope_derivative = slope.mul_add(slope, -curvature) * unit * unit;
        Self { pdf, slope: slope * unit, slope_derivative }
    }

    /// ψ″/ψ
    pub(crate) fn curvature(&self) -> f64 {
        self.slope.mul_add(self.slope, -self.slope_derivative)
    }
}

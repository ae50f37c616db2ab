//! The autocorrelation function of a series.

use super::DiagnosticError;
use super::fourier::mean_autocovariance;

/// Returns the autocorrelation ρₜ = Cₜ/C₀ at lags t = 0 … `lags` (fewer for a shorter series),
/// where Cₜ = (1/n) Σₛ (xₛ − x̄)(xₛ₊ₜ − x̄).
///
/// Division by n instead of n − t makes ρ a positive definite sequence that is small where few
/// pairs remain. For a law without variance ρ estimates nothing: use the autocorrelation of the
/// ranks or of an indicator instead.
pub fn autocorrelation(series: &[f64], lags: usize) -> Result<Vec<f64>, DiagnosticError> {
    if series.len() < 2 {
        return Err(DiagnosticError::TooFewDraws { needed: 2, got: series.len() });
    }
    if let Some(index) = series.iter().position(|x| !x.is_finite()) {
        return Err(DiagnosticError::NotFinite { index, value: series[index] });
    }
    let mut covariance = mean_autocovariance(std::iter::once(series));
    let variance = covariance[0];
    if variance == 0.0 {
        return Err(DiagnosticError::NoSpread(series[0]));
    }
    covariance.truncate(lags.saturating_add(1));
    covariance.iter_mut().for_each(|c| *c /= variance);
    Ok(covariance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternation() {
        let rho = autocorrelation(&[1.0, -1.0, 1.0, -1.0], 9).unwrap();
        for (rho, exact) in rho.iter().zip([1.0, -0.75, 0.5, -0.25]) {
            assert!((rho - exact).abs() < 1e-15);
        }
        assert_eq!(rho.len(), 4);
        assert_eq!(autocorrelation(&[2.0; 5], 1).unwrap_err(), DiagnosticError::NoSpread(2.0));
        assert!(
            autocorrelation(&[2.0], 1).is_err() && autocorrelation(&[2.0, f64::NAN], 1).is_err()
        );
    }
}

//! Mean and variance of a slice.

/// Returns the mean. The mean of equal numbers is exact, so that a constant chain has variance 0.
pub(super) fn mean(x: &[f64]) -> f64 {
    match x {
        [] => f64::NAN,
        [first, rest @ ..] if rest.iter().all(|v| v == first) => *first,
        _ => x.iter().sum::<f64>() / x.len() as f64,
    }
}

/// Returns the unbiased variance Σ(x − x̄)²/(n − 1).
pub(super) fn variance(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (x.len() as f64 - 1.0)
}

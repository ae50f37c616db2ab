//! Mean and variance of a slice.

/// The mean. That of equal numbers is this number to the last bit, so that a chain that stands still has variance 0 and
/// not rounding.
pub(super) fn mean(x: &[f64]) -> f64 {
    match x {
        [] => f64::NAN,
        [first, rest @ ..] if rest.iter().all(|v| v == first) => *first,
        _ => x.iter().sum::<f64>() / x.len() as f64,
    }
}

/// The unbiased variance Σ(x − x̄)²/(n − 1).
pub(super) fn variance(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (x.len() as f64 - 1.0)
}

//! How much of the information about a small signal in SαS noise survives clipping.
//!
//! An optimizer averages ψ(g) over steps, where g = θ + ξ is a small signal θ in noise ξ. The
//! average estimates θ as well as the best estimator with e times as many gradients:
//!
//! > e(ψ) = (E ψ′(ξ))² / (E ψ(ξ)² · I),  I = E score(ξ)²  (Fisher information)
//!
//! The score itself has e = 1 but requires α and the scale of the noise; it also falls for large g,
//! which discards the rare large gradients of skewed minibatches. Clipping requires only the
//! geometric mean exp E log|ξ|, which the [guard](super) measures.

use crate::numerics::quadrature::{Tolerance, integrate};
use levy_stable::tail_index::log_scale_of;
use levy_stable::{ParameterError, SymmetricStable};

/// Errors of the integrals, far below the digits of a table.
const TOLERANCE: Tolerance = Tolerance { relative: 1e-9, absolute: 0.0 };

/// Returns e(ψ) for ψ(x) = clamp(x, ±C), C = c·exp E log|ξ|, in SαS noise.
///
/// > e = (2F(C) − 1)² / (E min(ξ², C²) · I)
///
/// `clip` is c; as it grows, e tends to 0 for α < 2 and to 1 at α = 2.
///
/// ```
/// let efficiency = fuld::guard::efficiency::of_clipping(1.0, 1.5)?;
/// assert!((efficiency - 0.942).abs() < 1e-3);
/// # Ok::<(), levy_stable::ParameterError>(())
/// ```
pub fn of_clipping(clip: f64, alpha: f64) -> Result<f64, ParameterError> {
    let law = SymmetricStable::new(alpha)?;
    let limit = clip * libm::exp(-log_scale_of(0.0, alpha));
    let inside = 1.0 - 2.0 * law.sf(limit);
    // E min(ξ², C²), by parts: 4 ∫₀^C x sf(x) dx.
    let square = 4.0 * integral(|x| x * law.sf(x), limit);
    Ok(inside * inside / (square * information(&law)))
}

/// Returns e(ψ) for the score made monotone: ψ = −score up to its peak and constant beyond.
pub fn of_monotone_score(alpha: f64) -> Result<f64, ParameterError> {
    let law = SymmetricStable::new(alpha)?;
    if alpha == 2.0 {
        return Ok(1.0);
    }
    let peak = peak(&law);
    let height = law.score(peak);
    let inside = -2.0 * integral(|x| law.score_derivative(x) * law.pdf(x), peak);
    let square = 2.0 * integral(|x| law.score(x).powi(2) * law.pdf(x), peak)
        + 2.0 * height.powi(2) * law.sf(peak);
    Ok(inside * inside / (square * information(&law)))
}

/// Returns where the score of a law with α < 2 is lowest: score′ = 0, by bisection. The score′ is
/// negative at 0 and positive in the tail.
fn peak(law: &SymmetricStable) -> f64 {
    let mut upper = law.scale();
    while law.score_derivative(upper) < 0.0 {
        upper *= 2.0;
    }
    let mut lower = 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (lower + upper);
        if law.score_derivative(middle) < 0.0 {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    lower
}

/// Returns the Fisher information I = E score² of the location.
fn information(law: &SymmetricStable) -> f64 {
    // Beyond this score ~ (1 + α)/x and pdf ~ x^(−1−α): the rest is below 1e-9 for α ≥ 1.
    2.0 * integral(|x| law.score(x).powi(2) * law.pdf(x), 1e4)
}

/// Returns ∫₀ᵘ f, over intervals that double in length.
fn integral(f: impl Fn(f64) -> f64, upper: f64) -> f64 {
    let mut breaks = vec![0.0];
    breaks.extend(std::iter::successors(Some(0.5), |x| Some(2.0 * x)).take_while(|&x| x < upper));
    breaks.push(upper);
    integrate(&f, &breaks, TOLERANCE).value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tail indices from 1 to 2.
    fn alphas() -> impl Iterator<Item = f64> {
        (0..=20).map(|i| 1.0 + f64::from(i) / 20.0)
    }

    /// The least efficiency of clipping over all α.
    fn least(clip: f64) -> f64 {
        alphas().map(|alpha| of_clipping(clip, alpha).unwrap()).fold(1.0, f64::min)
    }

    #[test]
    fn closed_forms() {
        for (alpha, fisher) in [(1.0, 0.5), (2.0, 0.5)] {
            let law = SymmetricStable::new(alpha).unwrap();
            assert!((information(&law) - fisher).abs() < 1e-7, "{alpha}: {}", information(&law));
        }
        // Cauchy noise, whose geometric mean is 1, clipped at 1: 2F − 1 = 1/2, E min(ξ², 1) = 2/π −
        // 1/2 + 1/2.
        let cauchy = 0.25 / (2.0 / std::f64::consts::PI) / 0.5;
        assert!((of_clipping(1.0, 1.0).unwrap() - cauchy).abs() < 1e-7);
        assert!((of_clipping(100.0, 2.0).unwrap() - 1.0).abs() < 1e-7);
    }

    #[test]
    fn the_table_of_the_documentation() {
        for (alpha, expected) in
            [(1.0, 0.785), (1.2, 0.916), (1.5, 0.942), (1.8, 0.879), (2.0, 0.800)]
        {
            let efficiency = of_clipping(1.0, alpha).unwrap();
            assert!((efficiency - expected).abs() < 1e-3, "{alpha}: {efficiency}");
        }
        assert!(least(1.0) >= 0.78, "{}", least(1.0));
    }

    /// No c does better than c ≈ 1 in its worst case.
    #[test]
    fn one_is_minimax() {
        let best = (50..=200)
            .map(|c| f64::from(c) / 100.0)
            .max_by(|a, b| least(*a).total_cmp(&least(*b)))
            .unwrap();
        assert!(
            (best - 1.0).abs() < 0.1 && least(best) - least(1.0) < 0.02,
            "{best}: {}",
            least(best)
        );
    }

    #[test]
    fn the_monotone_score_keeps_more_but_requires_alpha() {
        let all: Vec<f64> = alphas().map(|alpha| of_monotone_score(alpha).unwrap()).collect();
        let least = all.iter().copied().fold(1.0, f64::min);
        assert!((least - 0.86).abs() < 0.01 && all.iter().all(|e| *e <= 1.0 + 1e-7), "{all:?}");
        // The score falls slowly beyond its peak for α near 2, where little noise is.
        let law = SymmetricStable::new(1.5).unwrap();
        assert!(
            (law.score(peak(&law))
                - (0..1000).map(|i| law.score(f64::from(i) / 100.0)).fold(0.0, f64::min))
            .abs()
                < 1e-4
        );
    }
}

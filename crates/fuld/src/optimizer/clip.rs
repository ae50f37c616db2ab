//! Gradient clipping, the usual remedy for heavy tails, as a baseline: clip, then take a step with
//! α = 2.
//!
//! ```
//! use fuld::optimizer::{Coordinates, Options, Rule, Sgd, clip};
//! # fn main() -> Result<(), fuld::optimizer::RuleError> {
//! let coordinates = Coordinates::sgd(Sgd { alpha: 2.0, learning_rate: 0.1, momentum: 0.9 })?;
//! let sgd = Rule::new(coordinates, Options::default())?;
//! let (mut x, mut b, mut g) = ([1f32, 1.0], [0.0; 2], [300.0, -400.0]);
//! let norm = clip::by_norm(&mut [&mut g], 1.0)?;
//! sgd.step(&mut x, &mut b, &g);
//! assert_eq!(norm, 500.0);
//! assert!((x[0] - 0.94).abs() < 1e-6 && (x[1] - 1.08).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```

use super::{Real, RuleError};

/// Clamps every component to [−limit, limit]. NaN stays NaN.
pub fn by_value<T: Real>(gradient: &mut [T], limit: f64) -> Result<(), RuleError> {
    let limit = T::rounded(valid(limit)?);
    for g in gradient {
        *g = g.clipped(limit);
    }
    Ok(())
}

/// Scales all gradients by the common factor min(1, limit/(norm + 1e-6)), so that their joint
/// Euclidean norm is at most the limit, and returns the norm before scaling. The constant 1e-6 is
/// torch's.
///
/// NaN makes every component NaN. If the norm is infinite, finite components become 0 and infinite
/// ones NaN. The returned norm shows both cases.
pub fn by_norm<T: Real>(gradients: &mut [&mut [T]], limit: f64) -> Result<f64, RuleError> {
    let limit = valid(limit)?;
    let norm = norm(gradients);
    let factor = limit / (norm + 1e-6);
    if factor < 1.0 || factor.is_nan() {
        let factor = T::rounded(factor);
        for g in gradients.iter_mut().flat_map(|g| g.iter_mut()) {
            *g = *g * factor;
        }
    }
    Ok(norm)
}

fn valid(limit: f64) -> Result<f64, RuleError> {
    if limit >= 0.0 && limit.is_finite() { Ok(limit) } else { Err(RuleError::Limit(limit)) }
}

/// Returns √Σg², summed in double precision in an order that depends only on the lengths.
fn norm<T: Real>(gradients: &[&mut [T]]) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0f64; LANES];
    for gradient in gradients {
        let (blocks, rest) = gradient.as_chunks::<LANES>();
        for block in blocks {
            for (sum, &g) in sums.iter_mut().zip(block) {
                let g: f64 = g.into();
                *sum += g * g;
            }
        }
        for (sum, &g) in sums.iter_mut().zip(rest) {
            let g: f64 = g.into();
            *sum += g * g;
        }
    }
    sums.iter().sum::<f64>().sqrt()
}

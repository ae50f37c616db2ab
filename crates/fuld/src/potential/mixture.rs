//! Mixtures of isotropic Gaussians.

use super::error::{at_least, finite, positive};
use super::{Potential, PotentialError};
use crate::Specification;

const NAME: &str = "the Gaussian mixture";

/// The Gaussian mixture f(x) = −ln Σₖ wₖ N(x; mₖ, sₖ² I), with weights wₖ > 0 normalised to sum 1.
/// exp(−f) is the normalised density.
///
/// The sum is computed relative to its largest term, so that f is accurate also far from every
/// mean.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianMixture {
    dim: usize,
    components: Vec<Component>,
    /// The widest component, which dominates at infinity.
    widest: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Component {
    mean: Vec<f64>,
    precision: f64,
    /// ln(wₖ (2πsₖ²)^(−d/2))
    log_norm: f64,
}

impl Component {
    /// Returns ln(wₖ N(x; mₖ, sₖ²)).
    fn log_density(&self, x: &[f64]) -> f64 {
        let square: f64 = x.iter().zip(&self.mean).map(|(x, m)| (x - m) * (x - m)).sum();
        self.log_norm - 0.5 * self.precision * square
    }

    /// Adds `factor` (x − mₖ)/sₖ².
    fn pull(&self, x: &[f64], factor: f64, gradient: &mut [f64]) {
        for ((g, x), m) in gradient.iter_mut().zip(x).zip(&self.mean) {
            *g += factor * self.precision * (x - m);
        }
    }
}

impl GaussianMixture {
    /// Creates a mixture from a weight, a mean and a standard deviation for each component. The
    /// length of the means is the dimension.
    pub fn new(weights: &[f64], means: &[Vec<f64>], sds: &[f64]) -> Result<Self, PotentialError> {
        let length = |what, expected, given| match given == expected {
            true => Ok(()),
            false => Err(PotentialError::Length { potential: NAME, what, expected, given }),
        };
        let dim = at_least(NAME, 1, means.first().map_or(0, Vec::len))?;
        length("the number of weights", means.len(), weights.len())?;
        length("the number of standard deviations", means.len(), sds.len())?;
        for &weight in weights {
            positive(NAME, "weight", weight)?;
        }
        let total = finite(NAME, "sum of the weights", weights.iter().sum())?;
        let mut components = Vec::with_capacity(means.len());
        for ((mean, &sd), weight) in means.iter().zip(sds).zip(weights) {
            length("the coordinates of a mean", dim, mean.len())?;
            for &m in mean {
                finite(NAME, "mean", m)?;
            }
            positive(NAME, "sd", sd)?;
            let precision = positive(NAME, "1/sd^2", 1.0 / (sd * sd))?;
            let log_width = 0.5 * libm::log(std::f64::consts::TAU) + libm::log(sd);
            let log_norm = libm::log(weight / total) - dim as f64 * log_width;
            components.push(Component { mean: mean.clone(), precision, log_norm });
        }
        let widest = (0..sds.len()).max_by(|&i, &j| sds[i].total_cmp(&sds[j])).unwrap_or_default();
        Ok(Self { dim, components, widest })
    }

    /// Returns the logarithm of the largest term of the sum; NaN if any term is.
    fn peak(&self, x: &[f64]) -> f64 {
        let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
        self.components.iter().map(|c| c.log_density(x)).fold(f64::NEG_INFINITY, larger)
    }
}

impl Potential for GaussianMixture {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(
            Specification::new("gaussian_mixture")
                .with("means", self.components.iter().map(|c| c.mean.clone()).collect::<Vec<_>>())
                .with("precisions", self.components.iter().map(|c| c.precision).collect::<Vec<_>>())
                .with("log_norms", self.components.iter().map(|c| c.log_norm).collect::<Vec<_>>()),
        )
    }

    fn value(&self, x: &[f64]) -> f64 {
        let peak = self.peak(x);
        if peak == f64::NEG_INFINITY {
            return f64::INFINITY;
        }
        let sum: f64 = self.components.iter().map(|c| libm::exp(c.log_density(x) - peak)).sum();
        -(peak + libm::log(sum))
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        gradient.fill(0.0);
        let peak = self.peak(x);
        if peak == f64::NEG_INFINITY {
            // The logarithms of all terms overflow; the widest component dominates.
            self.components[self.widest].pull(x, 1.0, gradient);
            return;
        }
        let mut sum = 0.0;
        for component in &self.components {
            let share = libm::exp(component.log_density(x) - peak);
            component.pull(x, share, gradient);
            sum += share;
        }
        for g in gradient {
            *g /= sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_component_is_a_gaussian() {
        let f = GaussianMixture::new(&[3.0], &[vec![1.0, -1.0]], &[2.0]).unwrap();
        let exact = std::f64::consts::TAU.ln() + 2.0 * 2f64.ln() + 0.5 * (4.0 + 1.0) / 4.0;
        assert!((f.value(&[3.0, -2.0]) - exact).abs() < 1e-14);
    }

    #[test]
    fn far_out_the_gradient_stays_finite() {
        let f = GaussianMixture::new(&[1.0, 1.0], &[vec![-5.0], vec![5.0]], &[1.0, 2.0]).unwrap();
        let mut g = [0.0];
        for (x, expected) in [(1e3, (1e3 - 5.0) / 4.0), (1e250, 1e250 / 4.0)] {
            f.gradient(&[x], &mut g);
            assert!((g[0] / expected - 1.0).abs() < 1e-12, "{x}: {}", g[0]);
        }
        assert_eq!(f.value(&[f64::INFINITY]), f64::INFINITY);
        assert!(f.value(&[f64::NAN]).is_nan());
    }

    #[test]
    fn bad_components_are_named() {
        let two = [vec![0.0], vec![1.0]];
        let text = |weights: &[f64], means: &[Vec<f64>], sds: &[f64]| {
            GaussianMixture::new(weights, means, sds).unwrap_err().to_string()
        };
        assert!(text(&[1.0], &two, &[1.0, 1.0]).contains("expected 2, got 1"));
        assert!(text(&[1.0, -2.0], &two, &[1.0, 1.0]).contains("got -2"));
        assert!(text(&[1.0, 1.0], &[vec![0.0], vec![]], &[1.0, 1.0]).contains("expected 1, got 0"));
        assert!(text(&[1.0, 1.0], &two, &[1.0, 0.0]).contains("sd"));
        assert!(text(&[], &[], &[]).contains("dimension"));
        assert!(text(&[1.0, f64::NAN], &two, &[1.0, 1.0]).contains("NaN"));
    }
}

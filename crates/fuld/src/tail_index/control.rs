//! What the estimator says of Gaussian data.

use super::{Estimate, Sample, TailIndexError, TailIndexEstimator};
use crate::random::{Purpose, Stream, fill};
use levy_stable::Sampler;

/// Interquartile range of SαS(1) at α = 2, the Gaussian law of variance 2: 2√2 Φ⁻¹(3/4).
const GAUSSIAN_RANGE: f64 = 1.907_745_104_817_88;

impl Sample {
    /// Independent Gaussian numbers in the shape of this sample, each coordinate with the median and interquartile range
    /// that it has here.
    pub fn gaussian_twin(&self, seed: u64) -> Result<Self, TailIndexError> {
        self.twin(&Sampler::new(2.0, 1.0)?, GAUSSIAN_RANGE, seed)
    }

    /// Independent draws from SαS in the shape of this sample, each coordinate with the median and interquartile range that it has
    /// here: what the sample would be like if it were stable.
    pub fn stable_twin(&self, alpha: f64, seed: u64) -> Result<Self, TailIndexError> {
        let law = Sampler::new(alpha, 1.0)?;
        self.twin(&law, 2.0 * law.law().isf(0.25), seed)
    }

    /// Draws from a law with this interquartile range.
    fn twin(&self, law: &Sampler, range: f64, seed: u64) -> Result<Self, TailIndexError> {
        let spreads = self.spreads()?;
        let mut words = vec![0; self.len()];
        self.like(|coordinate, column| {
            fill(&[Stream::new(seed, coordinate as u64, Purpose::Control)], 0, words.len(), &mut words);
            law.transform(&words, column);
            let factor = spreads[coordinate] / range;
            column.iter_mut().for_each(|x| *x *= factor);
        })
    }
}

/// Runs the estimator on as many Gaussian numbers as there are in `x`, of the same median and interquartile range.
///
/// What comes back is how the method reads data without a tail at this n, bias and noise included: an α̂ from `x` that is not
/// clearly below it is no evidence of one. For vectors, fit the [`gaussian_twin`](Sample::gaussian_twin) of the sample.
///
/// ```
/// use fuld::tail_index::{BlockLogMoments, TailIndexError, TailIndexEstimator, gaussian_control};
/// use levy_stable::Sampler;
/// use rand::SeedableRng;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut x = vec![0.0; 10_000];
/// Sampler::new(1.5, 1.0)?.fill(&mut rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1), &mut x);
/// let method = BlockLogMoments::default();
/// assert!(method.estimate(&x)?.alpha < gaussian_control(&x, &method, 7)?.alpha - 0.2);
/// # Ok(())
/// # }
/// ```
pub fn gaussian_control<E>(x: &[f64], estimator: &E, seed: u64) -> Result<Estimate, TailIndexError>
where
    E: TailIndexEstimator + ?Sized,
{
    estimator.fit(&Sample::scalars(x)?.gaussian_twin(seed)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use levy_stable::SymmetricStable;

    #[test]
    fn the_range_is_the_gaussian_one() {
        let range = 2.0 * SymmetricStable::new(2.0).unwrap().isf(0.25);
        assert!((range - GAUSSIAN_RANGE).abs() < 1e-12, "{range}");
    }

    /// A twin has the quartiles of its sample, to five of their standard deviations (1e-6 to fail by chance, seeds fixed), whatever its α.
    #[test]
    fn twins_have_the_same_quartiles() {
        let x: Vec<f64> = (0..20_000).map(|i| 3.0 + 0.01 * f64::from(i)).collect();
        let sample = Sample::scalars(&x).unwrap();
        for twin in [sample.gaussian_twin(1), sample.stable_twin(0.8, 2), sample.stable_twin(1.7, 3)] {
            let inside = twin.unwrap().pooled().iter().filter(|x| x.abs() < 50.0).count();
            assert!(inside.abs_diff(10_000) < 500, "{inside}");
        }
    }
}

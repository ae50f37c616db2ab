//! The Gaussian control: the estimates to expect if the data had no heavy tail.

use super::interval::{ResampleFit, first_estimate};
use super::sample::sorted;
use super::{Bootstrap, Estimate, Interval, TailIndexError, TailIndexEstimator, TailSample};
use crate::quantiles::quantile_of_sorted;
use crate::random::{Purpose, Stream};
use crate::{Sampler, SymmetricStable};

/// Interquartile range of SαS(1) at α = 2, the Gaussian law of variance 2: 2√2 Φ⁻¹(3/4).
const GAUSSIAN_RANGE: f64 = 1.907_745_104_817_88;

impl TailSample {
    /// Returns a sample of independent Gaussian numbers with the shape of this one. Each coordinate
    /// has the same median and interquartile range as here.
    pub fn gaussian_twin(&self, seed: u64) -> Result<Self, TailIndexError> {
        Twins::of(self, 2.0, seed)?.nth(0, 0)
    }
}

/// Samples of independent SαS draws with the shape of another sample and its median and
/// interquartile range of each coordinate.
struct Twins<'a> {
    of: &'a TailSample,
    law: Sampler,
    /// The scale of the draws of each coordinate.
    factors: Vec<f64>,
    seed: u64,
}

impl<'a> Twins<'a> {
    fn of(sample: &'a TailSample, alpha: f64, seed: u64) -> Result<Self, TailIndexError> {
        let law = SymmetricStable::new(alpha)?.sampler();
        let range = if alpha == 2.0 { GAUSSIAN_RANGE } else { 2.0 * law.law().isf(0.25) };
        let factors = sample.spreads()?.iter().map(|spread| spread / range).collect();
        Ok(Self { of: sample, law, factors, seed })
    }

    /// Returns the sample with this index; every `attempt` gives another one.
    fn nth(&self, index: usize, attempt: u64) -> Result<TailSample, TailIndexError> {
        let mut words = vec![0; self.of.len()];
        let first = attempt * words.len() as u64;
        self.of.like(|coordinate, column| {
            let chain = index * self.factors.len() + coordinate;
            Stream::new(self.seed, chain as u64, Purpose::Control).fill(first, &mut words);
            self.law.transform(&words, column);
            column.iter_mut().for_each(|x| *x *= self.factors[coordinate]);
        })
    }
}

/// The distribution of an estimate for draws of a known law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The median of α̂.
    pub alpha: f64,
    /// The interval that contains α̂ with probability [`Bootstrap::level`].
    pub interval: Interval,
}

impl Bootstrap {
    /// Returns the estimates to expect if `sample` consisted of independent SαS draws. They come
    /// from `resamples` such samples of the same shape and quartiles. A sample without an estimate
    /// is drawn again, as resamples are.
    ///
    /// `run` calls the fits as in [`intervals`](Self::intervals).
    ///
    /// With α = 2 this is the Gaussian control with its noise: an interval for the data that lies
    /// below this one is evidence of a heavy tail.
    pub fn if_stable<E>(
        &self,
        alpha: f64,
        estimator: &E,
        sample: &TailSample,
        run: impl FnOnce(usize, &ResampleFit<'_>) -> Result<Vec<Estimate>, TailIndexError>,
    ) -> Result<Expected, TailIndexError>
    where
        E: TailIndexEstimator + ?Sized,
    {
        self.check()?;
        let twins = Twins::of(sample, alpha, self.seed)?;
        let fits = run(self.resamples, &|index| {
            first_estimate(|attempt| estimator.fit(&twins.nth(index, attempt)?))
        })?;
        let alphas: Vec<f64> = fits.iter().map(|fit| fit.alpha).collect();
        Ok(Expected {
            alpha: quantile_of_sorted(&sorted(&alphas), 0.5),
            interval: self.interval(&alphas),
        })
    }
}

/// Runs the estimator on as many Gaussian numbers as there are in `x`, of the same median and
/// interquartile range.
///
/// The result shows what the method estimates for data without a heavy tail at this n, with its
/// bias and noise. The data show a heavy tail only if the α̂ from `x` is clearly smaller. For
/// vectors, fit the [`gaussian_twin`](TailSample::gaussian_twin) of the sample.
///
/// ```
/// use levy_stable::tail_index::{BlockLogMoments, TailIndexError, TailIndexEstimator, gaussian_control};
/// use levy_stable::SymmetricStable;
/// use rand::SeedableRng;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut x = vec![0.0; 10_000];
/// SymmetricStable::new(1.5)?.sampler().fill(&mut rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1), &mut x);
/// let method = BlockLogMoments::default();
/// assert!(method.estimate(&x)?.alpha < gaussian_control(&x, &method, 7)?.alpha - 0.2);
/// # Ok(())
/// # }
/// ```
pub fn gaussian_control<E>(x: &[f64], estimator: &E, seed: u64) -> Result<Estimate, TailIndexError>
where
    E: TailIndexEstimator + ?Sized,
{
    estimator.fit(&TailSample::scalars(x)?.gaussian_twin(seed)?)
}

#[cfg(test)]
mod tests {
    use super::super::CharacteristicRegression;
    use super::super::interval::in_order;
    use super::*;
    use crate::SymmetricStable;

    #[test]
    fn the_range_is_the_gaussian_one() {
        let range = 2.0 * SymmetricStable::new(2.0).unwrap().isf(0.25);
        assert!((range - GAUSSIAN_RANGE).abs() < 1e-12, "{range}");
    }

    /// For every α, a control sample has the quartiles of its sample within five standard
    /// deviations. A correct one fails with probability 1e-6; seeds are fixed.
    #[test]
    fn twins_have_the_same_quartiles() {
        let x: Vec<f64> = (0..20_000).map(|i| 3.0 + 0.01 * f64::from(i)).collect();
        let sample = TailSample::scalars(&x).unwrap();
        for (alpha, index) in [(2.0, 0), (0.8, 1), (1.7, 2)] {
            let twin = Twins::of(&sample, alpha, 1).unwrap().nth(index, 0).unwrap();
            let inside = twin.pooled().iter().filter(|x| x.abs() < 50.0).count();
            assert!(inside.abs_diff(10_000) < 500, "{inside}");
        }
    }

    /// Estimates of stable samples scatter about α, less for larger samples. Other seeds give other
    /// samples.
    #[test]
    fn expected_estimates_scatter_about_alpha() {
        let expected = |n: i32, seed| {
            let x: Vec<f64> = (0..n).map(f64::from).collect();
            let bootstrap = Bootstrap { resamples: 99, level: 0.9, seed };
            let sample = TailSample::scalars(&x).unwrap();
            bootstrap
                .if_stable(1.2, &CharacteristicRegression::default(), &sample, in_order)
                .unwrap()
        };
        let (few, many) = (expected(300, 1), expected(3_000, 1));
        let width = |expected: &Expected| expected.interval.high - expected.interval.low;
        assert!((many.alpha - 1.2).abs() < 0.02 && many.interval.contains(1.2), "{many:?}");
        assert!(width(&few) > 2.0 * width(&many) && width(&many) > 0.03, "{few:?} {many:?}");
        assert_ne!(few, expected(300, 2));
    }
}

//! Estimators of the tail index α and the scale σ from symmetric stable data, with characteristic
//! function exp(−|σω|^α).
//!
//! ```
//! use levy_stable::tail_index::{Bootstrap, CharacteristicRegression, TailSample, TailIndexEstimator, gaussian_control};
//! use levy_stable::SymmetricStable;
//! use rand::SeedableRng;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut x = vec![0.0; 2000];
//! SymmetricStable::new(1.7)?.with_scale(0.5)?.sampler().fill(&mut rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1), &mut x);
//! let method = CharacteristicRegression::default();
//! let found = method.with_interval(&TailSample::scalars(&x)?, &Bootstrap { resamples: 99, ..Bootstrap::default() })?;
//! println!("alpha = {:.2}, from {:.2} to {:.2}", found.estimate.alpha, found.alpha.low, found.alpha.high);
//! println!("Gaussian data would give {:.2}", gaussian_control(&x, &method, 1)?.alpha);
//! assert!(found.alpha.contains(1.7));
//! # Ok(())
//! # }
//! ```
//!
//! # Choosing an estimator
//!
//! | | suited to | not suited to | standard deviation of α̂ at α = 1, 1.5, 1.9 |
//! |---|---|---|---|
//! | [`CharacteristicRegression`] | stable data: most accurate for α and σ | other data: it describes the bulk | 0.03, 0.04, 0.03 |
//! | [`BlockLogMoments`] | independent data whose sums become stable; α < 2 against α = 2 | correlated data | 0.03, 0.05, 0.05 |
//! | [`LogMoments`] | streams of stable data: it requires only two sums; most accurate for α < 0.7 | zeros, mixed scales; noisy for α > 1.7 | 0.03, 0.08, 0.11 |
//! | [`Hill`] | power tails, stable or not, α below 1.5 | α near 2: it estimates 3.6 at α = 1.9 | 0.11, 0.19, 0.52 |
//!
//! Standard deviations are for n = 2000. They fall as n^(−1/2), Hill's as n^(−1/3). The bias of the
//! first three is below half a standard deviation, except at α = 2, where the cut-off at 2 gives a
//! bias of about minus one. Hill's bias is +0.01, +0.13, +1.7. The example `tail_index_table`
//! prints these numbers and the coverage of the intervals.
//!
//! All of them assume that numbers are independent, of one law, and symmetric about their median.
//! They cannot distinguish a mixture of scales from a heavy tail; [`Scaling::PerCoordinate`]
//! removes differences of scale between coordinates. Always compare the interval with the estimate
//! of [`gaussian_control`].

mod blocks;
mod characteristic;
mod control;
mod error;
mod hill;
mod interval;
mod log_moments;
mod method;
mod quadruples;
mod sample;

use interval::in_order;

pub use blocks::BlockLogMoments;
pub use characteristic::CharacteristicRegression;
pub use control::{Expected, gaussian_control};
pub use error::TailIndexError;
pub use hill::Hill;
pub use interval::{Bootstrap, Interval, IntervalEstimate, ResampleFit};
pub use log_moments::LogMoments;
pub use log_moments::{log_scale_of, log_variance};
pub use method::Method;
pub use quadruples::{QuadrupleEstimate, Quadruples};
pub use sample::{Scaling, TailSample};

/// The estimate of a tail index and scale from a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The tail index, in (0, 2] except for [`Hill`], which does not assume stability.
    pub alpha: f64,
    /// The scale σ, if the method estimates it.
    pub scale: Option<f64>,
    /// How many numbers equal the median and were excluded because 0 has no logarithm. For odd n
    /// there is at least one.
    pub zeros: usize,
}

/// A method that estimates the tail index.
pub trait TailIndexEstimator: Sync {
    /// Returns the estimate from a checked and centred sample.
    fn fit(&self, sample: &TailSample) -> Result<Estimate, TailIndexError>;

    /// Returns the estimate from numbers.
    fn estimate(&self, x: &[f64]) -> Result<Estimate, TailIndexError> {
        self.fit(&TailSample::scalars(x)?)
    }

    /// Returns the estimate with bootstrap intervals for α and σ.
    fn with_interval(
        &self,
        sample: &TailSample,
        bootstrap: &Bootstrap,
    ) -> Result<IntervalEstimate, TailIndexError> {
        bootstrap.intervals(self, sample, in_order)
    }
}

//! Estimates of all methods for the data and for Gaussian numbers of the same shape.

use levy_stable::tail_index::{
    Bootstrap, Expected, Hill, Interval, IntervalEstimate, Method, ResampleFit, TailIndexError,
    TailSample,
};
use rayon::prelude::*;
use serde::Serialize;

/// The estimate of one method for the data, and its expected estimate for Gaussian numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct MethodEstimate {
    pub(super) data: IntervalEstimate,
    pub(super) gaussian: Expected,
}

impl MethodEstimate {
    /// Returns whether the interval of α is entirely below that for Gaussian numbers.
    pub(super) fn heavy(&self) -> bool {
        self.data.alpha.high < self.gaussian.interval.low
    }
}

/// The estimates of all methods for one sample.
pub(super) struct SampleEstimates {
    pub(super) all: Vec<(Method, Result<MethodEstimate, TailIndexError>)>,
    /// The interval of Hill's estimate for as many draws from the stable law fitted by the
    /// characteristic function, over its interval of α.
    pub(super) hill_if_stable: Option<Interval>,
}

impl SampleEstimates {
    /// Returns the number of fits for a sample, which is the number of calls of `on_fit`.
    pub(super) fn fits(bootstrap: &Bootstrap) -> u64 {
        ((2 * Method::ALL.len() + 2) * bootstrap.resamples) as u64
    }

    /// Computes all estimates. Returns an error if all methods fail. Calls `on_fit` after each fit.
    pub(super) fn of(
        sample: &TailSample,
        bootstrap: &Bootstrap,
        on_fit: &(dyn Fn() + Sync),
    ) -> Result<Self, TailIndexError> {
        let in_parallel = |count: usize, fit: &ResampleFit<'_>| {
            (0..count).into_par_iter().map(|index| fit(index).inspect(|_| on_fit())).collect()
        };
        let find = |method: Method| {
            let estimator = method.estimator();
            let find = || {
                let data = bootstrap.intervals(&*estimator, sample, in_parallel)?;
                Ok(MethodEstimate {
                    data,
                    gaussian: bootstrap.if_stable(2.0, &*estimator, sample, in_parallel)?,
                })
            };
            (method, find())
        };
        let all: Vec<_> = Method::ALL.into_iter().map(find).collect();
        match all.iter().find_map(|(_, found)| found.as_ref().err()) {
            Some(&error) if all.iter().all(|(_, found)| found.is_err()) => return Err(error),
            _ => {}
        }
        let mut estimates = Self { all, hill_if_stable: None };
        if let Some(MethodEstimate { data, .. }) = estimates.by(Method::Characteristic) {
            let hill =
                |alpha| bootstrap.if_stable(alpha, &Hill::default(), sample, in_parallel).ok();
            let ends = hill(data.alpha.low).zip(hill(data.alpha.high));
            estimates.hill_if_stable = ends.map(|(a, b)| Interval {
                low: a.interval.low.min(b.interval.low),
                high: a.interval.high.max(b.interval.high),
            });
        }
        Ok(estimates)
    }

    /// Returns the estimate of a method, if it succeeded.
    pub(super) fn by(&self, method: Method) -> Option<&MethodEstimate> {
        self.all.iter().find(|(by, _)| *by == method).and_then(|(_, found)| found.as_ref().ok())
    }
}

/// A number with its interval, for JSON.
#[derive(Serialize)]
pub(super) struct ValueWithInterval {
    value: f64,
    low: f64,
    high: f64,
}

impl ValueWithInterval {
    pub(super) fn new(value: f64, Interval { low, high }: Interval) -> Self {
        Self { value, low, high }
    }
}

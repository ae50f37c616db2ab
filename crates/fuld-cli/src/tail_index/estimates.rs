//! Every estimator on the data and on Gaussian numbers in its shape.

use levy_stable::tail_index::{
    Bootstrap, Expected, Fit, Hill, Interval, IntervalEstimate, Method, Sample, TailIndexError,
};
use rayon::prelude::*;
use serde::Serialize;

/// What a method says of the data, and would say of Gaussian numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    pub(super) data: IntervalEstimate,
    pub(super) gaussian: Expected,
}

impl Finding {
    /// Whether α is below what Gaussian numbers are taken to have, intervals apart.
    pub(super) fn heavy(&self) -> bool {
        self.data.alpha.high < self.gaussian.interval.low
    }
}

/// What every method says.
pub(super) struct Findings {
    pub(super) all: Vec<(Method, Result<Finding, TailIndexError>)>,
    /// What Hill would say of as many draws from the stable law that the characteristic function found, over its interval of α.
    pub(super) hill_if_stable: Option<Interval>,
}

impl Findings {
    /// So many fits a sample takes, as `heard` counts them.
    pub(super) fn fits(bootstrap: &Bootstrap) -> u64 {
        ((2 * Method::ALL.len() + 2) * bootstrap.resamples) as u64
    }

    pub(super) fn of(
        sample: &Sample,
        bootstrap: &Bootstrap,
        heard: &(dyn Fn() + Sync),
    ) -> Result<Self, TailIndexError> {
        let in_parallel = |count: usize, fit: &Fit<'_>| {
            (0..count).into_par_iter().map(|index| fit(index).inspect(|_| heard())).collect()
        };
        let find = |method: Method| {
            let estimator = method.estimator();
            let find = || {
                let data = bootstrap.intervals(&*estimator, sample, in_parallel)?;
                Ok(Finding { data, gaussian: bootstrap.if_stable(2.0, &*estimator, sample, in_parallel)? })
            };
            (method, find())
        };
        let all: Vec<_> = Method::ALL.into_iter().map(find).collect();
        match all.iter().find_map(|(_, found)| found.as_ref().err()) {
            Some(&error) if all.iter().all(|(_, found)| found.is_err()) => return Err(error),
            _ => {}
        }
        let mut findings = Self { all, hill_if_stable: None };
        if let Some(Finding { data, .. }) = findings.by(Method::Characteristic) {
            let hill = |alpha| bootstrap.if_stable(alpha, &Hill::default(), sample, in_parallel).ok();
            let ends = hill(data.alpha.low).zip(hill(data.alpha.high));
            findings.hill_if_stable = ends.map(|(a, b)| Interval {
                low: a.interval.low.min(b.interval.low),
                high: a.interval.high.max(b.interval.high),
            });
        }
        Ok(findings)
    }

    pub(super) fn by(&self, method: Method) -> Option<&Finding> {
        self.all.iter().find(|(by, _)| *by == method).and_then(|(_, found)| found.as_ref().ok())
    }
}

/// A number with its interval, for machines.
#[derive(Serialize)]
pub(super) struct Told {
    value: f64,
    low: f64,
    high: f64,
}

impl Told {
    pub(super) fn new(value: f64, Interval { low, high }: Interval) -> Self {
        Self { value, low, high }
    }
}

//! Summary statistics of each coordinate, restricted to the moments that exist for its tails.

use crate::adapted::Adapted;
use crate::draw_source::DrawSource;
use crate::exact::Exact;
use crate::proposals::Proposals;
use crate::remark::{ESS, R_HAT, Remark, Section};
use crate::spec::SampleSpec;
use fuld::SystemKind;
use fuld::diagnostics::{Chains, Sample, Tail};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Draws per chain up to which R̂ is larger than 1.01 for chains that agree: its halves should have
/// 50 effective draws (Vehtari et al. 2021).
const SHORT: usize = 100;
/// R̂ from which chains are in different places: the variance between them is 0.44 times that
/// within them.
const APART: f64 = 1.2;
/// 95 % quantile of √n times the Kolmogorov–Smirnov distance of n independent draws.
const KOLMOGOROV_95: f64 = 1.3581;
/// A Kolmogorov–Smirnov distance is far if it is this many times the 95 % quantile of chance …
const TIMES_NOISE: f64 = 3.0;
/// … and above this, unless proposals are accepted or rejected: a usual step may explain less.
const FAR: f64 = 0.1;
/// Numbers held in memory at a time: as many coordinates are read together as fit.
const HELD: usize = 1 << 25;

/// The caller stopped the summary before it was complete.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Which moments exist: those below the exponent a of P(|x| > r) ~ r^(−a).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tails {
    /// a > 2: mean and variance.
    Light,
    /// 1 < a ≤ 2: a mean, but no variance and so no standard error of the mean.
    NoVariance,
    /// a ≤ 1: no mean.
    NoMean,
}

impl Tails {
    /// Classifies a tail exponent, which is known to about 0.01.
    pub fn new(exponent: f64) -> Self {
        if exponent <= 1.01 {
            Self::NoMean
        } else if exponent <= 2.02 {
            Self::NoVariance
        } else {
            // Also NaN: too few different draws to estimate the exponent.
            Self::Light
        }
    }
}

/// The distance of draws from their exact law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The Kolmogorov–Smirnov distance.
    pub distance: f64,
    /// The 95 % quantile of the distance for as many independent draws as the effective sample
    /// size.
    pub noise: f64,
}

/// Statistics of one coordinate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coordinate {
    /// Its name.
    pub name: String,
    /// The moments that exist.
    pub tails: Tails,
    /// The exponent of the heavier tail: that of the exact law if it is known and the dynamics
    /// targets it, otherwise estimated from a generalised Pareto law fitted to the draws.
    pub tail_exponent: f64,
    /// The mean, if it exists.
    pub mean: Option<f64>,
    /// The standard deviation, if it exists.
    pub sd: Option<f64>,
    /// The Monte Carlo standard error of the mean, if it exists.
    pub mcse_mean: Option<f64>,
    /// The median.
    pub median: f64,
    /// The 5 % quantile.
    pub q05: f64,
    /// The 95 % quantile.
    pub q95: f64,
    /// The standard error of the median.
    pub mcse_median: f64,
    /// Half of the interquartile range.
    pub half_iqr: f64,
    /// Effective sample size of the bulk.
    pub ess_bulk: f64,
    /// Effective sample size of the tails.
    pub ess_tail: f64,
    /// R̂.
    pub r_hat: f64,
    /// What decides whether there is a warning: R̂, or the smaller of it and
    /// [`Chains::lasting_r_hat`] if chains are short.
    pub lasting_r_hat: f64,
    /// The distance from the exact law, if that is known.
    pub ks: Option<Agreement>,
}

impl Coordinate {
    /// Computes the statistics from the chains that stayed finite.
    fn new(
        name: &str,
        draws: &[Vec<f64>],
        exact: &Exact,
        index: usize,
        spec: &SampleSpec,
    ) -> anyhow::Result<Self> {
        let chains = Chains::new(draws)?;
        let sample = Sample::new(chains.pooled())?;
        let (ess_bulk, ess_tail, r_hat) = (chains.ess_bulk(), chains.ess_tail(), chains.r_hat());
        let count = sample.len() as f64;
        let effective = ess_bulk.min(ess_tail).min(count);
        let relative = Some(effective / count).filter(|r| *r > 0.0).unwrap_or(1.0);
        let fitted =
            || sample.pareto_k(Tail::Both, relative).map_or(f64::NAN, |k| 1.0 / k.max(0.0));
        let lasting_r_hat =
            if chains.draws() <= SHORT { chains.lasting_r_hat().min(r_hat) } else { r_hat };
        let tail_exponent = match exact.of(index).filter(|_| spec.is_exact()) {
            Some(law) => law.tail_exponent(),
            // Without noise chains come to rest, and have no tails. If chains are in different
            // places, far draws are those of single chains.
            None if !spec.system.has_beta() || lasting_r_hat > APART => f64::NAN,
            None => fitted(),
        };
        let tails = Tails::new(tail_exponent);
        let mean = sample.sorted().iter().sum::<f64>() / count;
        let square = sample.sorted().iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let light = tails == Tails::Light;
        let ks = match exact.of(index) {
            Some(law) => Some(Agreement {
                distance: sample.kolmogorov_smirnov(|x| law.cdf(x))?.distance,
                noise: KOLMOGOROV_95 / effective.sqrt(),
            }),
            None => None,
        };
        Ok(Self {
            name: name.into(),
            tails,
            tail_exponent,
            mean: (tails != Tails::NoMean).then_some(mean),
            sd: light.then(|| (square / (count - 1.0)).sqrt()),
            mcse_mean: light.then(|| chains.mcse_mean()),
            median: sample.quantile(0.5)?,
            q05: sample.quantile(0.05)?,
            q95: sample.quantile(0.95)?,
            mcse_median: chains.mcse_quantile(0.5)?,
            half_iqr: 0.5 * (sample.quantile(0.75)? - sample.quantile(0.25)?),
            ess_bulk,
            ess_tail,
            r_hat,
            lasting_r_hat,
            ks,
        })
    }

    /// Returns whether the draws are further from the exact law than chance and a step size that
    /// causes a bias explain.
    fn is_far(&self, biased: bool) -> bool {
        let least = if biased { FAR } else { 0.0 };
        self.ks.is_some_and(|ks| ks.distance > least && ks.distance > TIMES_NOISE * ks.noise)
    }
}

/// The statistics of all coordinates, and the number of diverged chains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// One entry per coordinate; empty if every chain diverged, or if there are fewer draws than
    /// [`Chains::LEAST_DRAWS`].
    pub coordinates: Vec<Coordinate>,
    /// Number of chains.
    pub chains: usize,
    /// Number of chains that diverged; the statistics leave them out.
    pub diverged: usize,
    /// Draws per chain.
    pub draws: usize,
    /// Whether the stationary law of the dynamics is e^(−βf).
    pub exact_dynamics: bool,
    /// Statistics of the proposals of exact sampling.
    pub proposals: Option<Proposals>,
    /// Why e^(−βf) cannot be normalised, if quadrature or the formula shows that.
    pub not_normalised: Option<String>,
}

impl Summary {
    /// Reads the draws and summarises them, by the `names` of their coordinates; `diverged` chains
    /// are lost.
    ///
    /// Calls `stop` with the number of coordinates that are complete, from several threads; the
    /// error is [`Interrupted`] if it returns true.
    pub fn new(
        draws: &dyn DrawSource,
        diverged: usize,
        adapted: Option<Adapted>,
        spec: &SampleSpec,
        names: &[String],
        exact: &Exact,
        stop: &(dyn Fn(usize) -> bool + Sync),
    ) -> anyhow::Result<Self> {
        let coordinates = if diverged < draws.chains() && draws.draws() >= Chains::LEAST_DRAWS {
            let done = AtomicUsize::new(0);
            let coordinate = |(i, chains): (usize, Vec<Vec<f64>>)| {
                if stop(done.load(Ordering::Relaxed)) {
                    return Err(Interrupted.into());
                }
                let made = Coordinate::new(&names[i], &finite(chains), exact, i, spec);
                done.fetch_add(1, Ordering::Relaxed);
                made
            };
            let together = (HELD / (draws.chains() * draws.draws()).max(1)).max(1);
            let mut all = Vec::with_capacity(draws.dim());
            for first in (0..draws.dim()).step_by(together) {
                let group = first..(first + together).min(draws.dim());
                let read = draws.coordinates(group.clone())?;
                let numbered: Vec<_> = group.zip(read).collect();
                let made: Vec<_> =
                    numbered.into_par_iter().map(coordinate).collect::<anyhow::Result<_>>()?;
                all.extend(made);
            }
            all
        } else {
            Vec::new()
        };
        Ok(Self {
            coordinates,
            chains: draws.chains(),
            diverged,
            draws: draws.draws(),
            exact_dynamics: spec.is_exact(),
            proposals: Proposals::new(draws, adapted, spec)?,
            not_normalised: match exact {
                Exact::Unknown(reason) => reason.clone(),
                _ => None,
            },
        })
    }

    /// Returns whether every chain diverged.
    pub fn is_lost(&self) -> bool {
        self.diverged == self.chains
    }

    /// Returns warnings and notes about the draws.
    pub fn remarks(&self, spec: &SampleSpec) -> Vec<Remark> {
        let not_normalised =
            |reason: &String| Remark::warning(Section::NotNormalised, reason.clone());
        let mut remarks: Vec<Remark> = self.not_normalised.iter().map(not_normalised).collect();
        if self.diverged > 0 {
            let text = format!(
                "{} of {} chains left for infinity: their draws are NaN from there on, and statistics of the others may be biased; \
                 take a smaller step",
                self.diverged, self.chains
            );
            remarks.push(Remark::warning(Section::LostChains, text));
        }
        if self.coordinates.is_empty() {
            return remarks;
        }
        let heavy = |tails: Tails| self.coordinates.iter().filter(move |c| c.tails == tails);
        for (tails, what) in [
            (Tails::NoVariance, "no variance, and no standard error of a mean"),
            (Tails::NoMean, "no mean"),
        ] {
            if let Some(first) = heavy(tails).next() {
                let text = format!(
                    "{}: the tails, P(|x| > r) ~ r^-{:.2}, are so heavy that there is {what}; the median stands for it",
                    names(heavy(tails)),
                    first.tail_exponent,
                );
                remarks.push(Remark::note(Section::HeavyTails, text));
            }
        }
        if !self.exact_dynamics {
            let why = match spec.system {
                SystemKind::Momentum => "has no noise and ends in minima of f",
                SystemKind::FuldBetaFree => "targets exp(-beta f) only at beta = 1 or alpha = 2",
                _ => "does not target exp(-beta f) unless alpha = 2, whatever the step",
            };
            remarks.push(Remark::note(Section::OtherLaw, format!("{} {why}", spec.system)));
        }
        let far = || self.coordinates.iter().filter(|c| c.is_far(self.proposals.is_none()));
        if self.exact_dynamics && far().next().is_some() {
            let most = far().filter_map(|c| c.ks).map(|ks| ks.distance).fold(0.0, f64::max);
            let text = format!(
                "{}: a KS distance of {most:.2} is far more than chance, so these are not draws from exp(-beta f): chains have not \
                 found all of it yet (more warmup), or left the domain of f (another start, a smaller step)",
                names(far())
            );
            remarks.push(Remark::warning(Section::FarFromExactLaw, text));
        }
        remarks.extend(self.proposals.iter().flat_map(Proposals::warnings));
        // A system without noise does not mix. NaN counts as too large and as too small.
        let apart = |c: &&Coordinate| {
            spec.system.has_beta() && (c.lasting_r_hat > R_HAT || c.lasting_r_hat.is_nan())
        };
        let few =
            |c: &&Coordinate| spec.system.has_beta() && !(c.ess_bulk >= ESS && c.ess_tail >= ESS);
        if self.coordinates.iter().any(|c| apart(&c)) {
            let advice = if self.coordinates.iter().any(|c| c.lasting_r_hat > APART) {
                "temper if there are several modes, transform the variables, or check that f is minus the log density and that \
                 exp(-f) can be normalised"
            } else {
                "take more warmup or draws, transform the variables, or temper if there are several modes"
            };
            let text = format!(
                "{}: R-hat above {R_HAT}: the chains disagree, so do not trust these numbers; {advice}",
                names(self.coordinates.iter().filter(apart))
            );
            remarks.push(Remark::warning(Section::RHat, text));
        }
        if self.coordinates.iter().any(|c| few(&c)) {
            let text = format!(
                "{}: fewer than {ESS} effective draws, so do not trust these numbers yet; take more draws or chains",
                names(self.coordinates.iter().filter(few))
            );
            remarks.push(Remark::warning(Section::EffectiveSampleSize, text));
        }
        remarks
    }

    /// Returns tables, distances from the exact law, and what was adapted, as text.
    pub fn text(&self) -> String {
        if self.coordinates.is_empty() {
            let least = Chains::LEAST_DRAWS;
            return format!(
                "no statistics: every chain left for infinity, or has fewer than {least} draws\n"
            );
        }
        let mut text = self.table();
        if self.hidden() > 0 {
            text += &format!(
                "shown are the first coordinates and those with the largest R-hat; {} more are left out\n",
                self.hidden()
            );
        }
        let distances = self.distances();
        let adapted = self.proposals.iter().map(|proposals| proposals.line() + "\n");
        for part in Some(distances).into_iter().filter(|part| !part.is_empty()).chain(adapted) {
            text += &format!("\n{part}");
        }
        text
    }

    /// Returns the statistics as CSV, one row per coordinate. Moments that do not exist are left
    /// empty.
    pub fn csv(&self) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.coordinates.iter().try_for_each(|c| writer.serialize(Row::of(c)))?;
        Ok(String::from_utf8(writer.into_inner()?)?)
    }
}

/// A row of summary.csv.
#[derive(Serialize)]
struct Row<'a> {
    coordinate: &'a str,
    tails: Tails,
    tail_exponent: f64,
    mean: Option<f64>,
    sd: Option<f64>,
    mcse_mean: Option<f64>,
    median: f64,
    mcse_median: f64,
    half_iqr: f64,
    q05: f64,
    q95: f64,
    ess_bulk: f64,
    ess_tail: f64,
    r_hat: f64,
    ks: Option<f64>,
    ks_noise: Option<f64>,
}

impl<'a> Row<'a> {
    fn of(c: &'a Coordinate) -> Self {
        Self {
            coordinate: &c.name,
            tails: c.tails,
            tail_exponent: c.tail_exponent,
            mean: c.mean,
            sd: c.sd,
            mcse_mean: c.mcse_mean,
            median: c.median,
            mcse_median: c.mcse_median,
            half_iqr: c.half_iqr,
            q05: c.q05,
            q95: c.q95,
            ess_bulk: c.ess_bulk,
            ess_tail: c.ess_tail,
            r_hat: c.r_hat,
            ks: c.ks.map(|ks| ks.distance),
            ks_noise: c.ks.map(|ks| ks.noise),
        }
    }
}

/// Returns the chains that did not diverge.
pub fn finite(chains: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    chains.into_iter().filter(|chain| chain.iter().all(|x| x.is_finite())).collect()
}

/// Returns the first names, and the number of further ones.
fn names<'a>(coordinates: impl Iterator<Item = &'a Coordinate>) -> String {
    const SHOWN: usize = 4;
    let all: Vec<&str> = coordinates.map(|c| c.name.as_str()).collect();
    let shown = all[..all.len().min(SHOWN)].join(", ");
    if all.len() > SHOWN { format!("{shown} and {} more", all.len() - SHOWN) } else { shown }
}

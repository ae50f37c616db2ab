//! What the draws say: a row of numbers for each coordinate, those that exist for its tails.

use crate::exact::Exact;
use crate::settings::Settings;
use crate::target::Target;
use fuld::ZarrDraws;
use fuld::chains::Outcome;
use fuld::diagnostics::{Chains, Sample, Tail};
use fuld::{StopFlag, SystemKind};
use rayon::prelude::*;
use serde::Serialize;

/// R̂ above which chains do not agree yet, and effective draws below which diagnostics cannot be trusted.
const R_HAT: f64 = 1.01;
const ESS: f64 = 400.0;
/// The Kolmogorov–Smirnov distance of n independent draws is below this over √n in 19 of 20 cases.
const KOLMOGOROV_95: f64 = 1.3581;
/// A distance from the exact law that no usual step explains, if it is also so many times what noise is.
const FAR: f64 = 0.1;
const TIMES_NOISE: f64 = 3.0;
/// Numbers that are held in memory at a time: coordinates of as many draws as fit are read together.
const HELD: usize = 1 << 25;

/// Someone asked to stop before all was summed up.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Which moments the tails of a law leave: those below the exponent a of P(|x| > r) ~ r^(−a).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tails {
    /// a > 2: mean and variance.
    Light,
    /// 1 < a ≤ 2: a mean, but no variance and so no standard error of the mean.
    NoVariance,
    /// a ≤ 1: no mean.
    NoMean,
}

impl Tails {
    /// By the exponent, which is known to a hundredth.
    pub fn new(exponent: f64) -> Self {
        if exponent <= 1.01 {
            Self::NoMean
        } else if exponent <= 2.02 {
            Self::NoVariance
        } else {
            // Also where there are too few different draws to tell.
            Self::Light
        }
    }
}

/// How far draws are from the law they should have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The Kolmogorov–Smirnov distance.
    pub distance: f64,
    /// What as many independent draws as these are worth stay below in 19 of 20 cases.
    pub noise: f64,
}

/// A coordinate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coordinate {
    /// Its name.
    pub name: String,
    /// Which moments there are.
    pub tails: Tails,
    /// The exponent of the heavier tail: of the exact law if it is known and the dynamics targets it, else by the shape of a
    /// generalised Pareto law fitted to the draws.
    pub tail_exponent: f64,
    /// Where there is one.
    pub mean: Option<f64>,
    /// The standard deviation, where there is one.
    pub sd: Option<f64>,
    /// The standard error of the mean, where there is one.
    pub mcse_mean: Option<f64>,
    /// The median, and quantiles 5 % and 95 %.
    pub median: f64,
    #[expect(missing_docs)]
    pub q05: f64,
    #[expect(missing_docs)]
    pub q95: f64,
    /// The standard error of the median.
    pub mcse_median: f64,
    /// Half of the interquartile range.
    pub half_iqr: f64,
    /// Effective draws for the centre.
    pub ess_bulk: f64,
    /// Effective draws for the tails.
    pub ess_tail: f64,
    /// R̂.
    pub r_hat: f64,
    /// The distance from the exact law, where that is known.
    pub ks: Option<Agreement>,
}

impl Coordinate {
    /// From the draws of all chains that stayed finite.
    fn new(
        name: &str,
        draws: &[Vec<f64>],
        exact: &Exact,
        index: usize,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let chains = Chains::new(draws)?;
        let sample = Sample::new(chains.pooled())?;
        let (ess_bulk, ess_tail) = (chains.ess_bulk(), chains.ess_tail());
        let count = sample.len() as f64;
        let effective = ess_bulk.min(ess_tail).min(count);
        let relative = Some(effective / count).filter(|r| *r > 0.0).unwrap_or(1.0);
        let fitted = || sample.pareto_k(Tail::Both, relative).map_or(f64::NAN, |k| 1.0 / k.max(0.0));
        let tail_exponent = match exact.of(index).filter(|_| settings.recipe.is_exact()) {
            Some(law) => law.tail_exponent(),
            // Points of rest have no tails.
            None if !settings.recipe.system.has_beta() => f64::NAN,
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
            r_hat: chains.r_hat(),
            ks,
        })
    }

    /// Whether the draws are far from the exact law, by more than a step or chance would do.
    fn is_far(&self) -> bool {
        self.ks.is_some_and(|ks| ks.distance > FAR && ks.distance > TIMES_NOISE * ks.noise)
    }

    fn is_suspect(&self) -> bool {
        // NaN is suspect.
        !(self.r_hat <= R_HAT && self.ess_bulk >= ESS && self.ess_tail >= ESS)
    }
}

/// All coordinates, and what became of the chains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// In order; none if every chain diverged.
    pub coordinates: Vec<Coordinate>,
    /// Chains that were run, and those of them that diverged and are left out.
    pub chains: usize,
    #[expect(missing_docs)]
    pub diverged: usize,
    /// Draws of each chain.
    pub draws: usize,
    /// Whether the dynamics leaves e^(−βf) invariant.
    pub exact_dynamics: bool,
}

impl Summary {
    /// Reads the draws back, some coordinates at a time. The error is [`Interrupted`] if someone asks to stop.
    pub fn new(
        draws: &ZarrDraws,
        outcome: &Outcome,
        settings: &Settings,
        target: &Target,
        exact: &Exact,
        stop: &StopFlag,
    ) -> anyhow::Result<Self> {
        let coordinates = if outcome.divergences.len() < draws.chains() {
            let coordinate = |(i, chains): (usize, Vec<Vec<f64>>)| {
                if stop.is_requested() {
                    return Err(Interrupted.into());
                }
                Coordinate::new(target.name(i), &finite(chains), exact, i, settings)
            };
            let together = (HELD / (draws.chains() * draws.draws()).max(1)).max(1);
            let mut all = Vec::with_capacity(draws.dim());
            for first in (0..draws.dim()).step_by(together) {
                let group = first..(first + together).min(draws.dim());
                let read = draws.coordinates(group.clone())?;
                let numbered: Vec<_> = group.zip(read).collect();
                let made: Vec<_> = numbered.into_par_iter().map(coordinate).collect::<anyhow::Result<_>>()?;
                all.extend(made);
            }
            all
        } else {
            Vec::new()
        };
        Ok(Self {
            coordinates,
            chains: draws.chains(),
            diverged: outcome.divergences.len(),
            draws: draws.draws(),
            exact_dynamics: settings.recipe.is_exact(),
        })
    }

    /// Whether every chain diverged.
    pub fn is_lost(&self) -> bool {
        self.diverged == self.chains
    }

    /// What a reader of the numbers should know, a line each.
    pub fn remarks(&self, settings: &Settings) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.diverged > 0 && !self.is_lost() {
            remarks.push(format!(
                "{} of {} chains diverged and are left out, which may bias what is left: try a smaller --step",
                self.diverged, self.chains
            ));
        }
        let heavy = |tails: Tails| self.coordinates.iter().filter(move |c| c.tails == tails);
        for (tails, what) in
            [(Tails::NoVariance, "no variance, and no standard error of a mean"), (Tails::NoMean, "no mean")]
        {
            if let Some(first) = heavy(tails).next() {
                remarks.push(format!(
                    "{}: tails so heavy, P(|x| > r) ~ r^-{:.2}, that there is {what}; the median stands for it",
                    names(heavy(tails)),
                    first.tail_exponent,
                ));
            }
        }
        if !self.exact_dynamics && !self.coordinates.is_empty() {
            let why = match settings.recipe.system {
                SystemKind::Momentum => "has no noise and ends in minima of f",
                SystemKind::FuldBetaFree => "targets exp(-beta f) only at beta = 1 or alpha = 2",
                _ => "does not target exp(-beta f) unless alpha = 2, whatever the step",
            };
            remarks.push(format!("{} {why}", settings.recipe.system));
        }
        if self.exact_dynamics && self.coordinates.iter().any(Coordinate::is_far) {
            let far = || self.coordinates.iter().filter(|c| c.is_far());
            let most = far().filter_map(|c| c.ks).map(|ks| ks.distance).fold(0.0, f64::max);
            remarks.push(format!(
                "warning: {}: a KS distance of {most:.2} is far more than chance, so these are not draws from exp(-beta f): chains \
                 have not found all of it yet (more --warmup), or left the domain of f (another --start, a smaller --step)",
                names(far())
            ));
        }
        // What has no noise is not meant to mix.
        if settings.recipe.system.has_beta() && self.coordinates.iter().any(Coordinate::is_suspect) {
            let suspects = self.coordinates.iter().filter(|c| c.is_suspect());
            remarks.push(format!(
                "warning: {}: R-hat above {R_HAT} or fewer than {ESS} effective draws, so do not trust these numbers yet; more \
                 --warmup, --draws or --thin help",
                names(suspects)
            ));
        }
        remarks
    }

    /// One row a coordinate; what does not exist is left empty.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "coordinate,tails,tail_exponent,mean,sd,mcse_mean,median,mcse_median,half_iqr,q05,q95,ess_bulk,ess_tail,r_hat,\
             ks,ks_noise\n",
        );
        for c in &self.coordinates {
            let or_empty = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
            let tails = serde_json::to_value(c.tails).ok().and_then(|v| v.as_str().map(str::to_owned));
            let cells = [
                c.name.clone(),
                tails.unwrap_or_default(),
                c.tail_exponent.to_string(),
                or_empty(c.mean),
                or_empty(c.sd),
                or_empty(c.mcse_mean),
                c.median.to_string(),
                c.mcse_median.to_string(),
                c.half_iqr.to_string(),
                c.q05.to_string(),
                c.q95.to_string(),
                c.ess_bulk.to_string(),
                c.ess_tail.to_string(),
                c.r_hat.to_string(),
                or_empty(c.ks.map(|ks| ks.distance)),
                or_empty(c.ks.map(|ks| ks.noise)),
            ];
            text += &(cells.join(",") + "\n");
        }
        text
    }
}

/// The chains that did not diverge.
pub fn finite(chains: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    chains.into_iter().filter(|chain| chain.iter().all(|x| x.is_finite())).collect()
}

/// The first names, and how many more there are.
fn names<'a>(coordinates: impl Iterator<Item = &'a Coordinate>) -> String {
    const SHOWN: usize = 4;
    let all: Vec<&str> = coordinates.map(|c| c.name.as_str()).collect();
    let shown = all[..all.len().min(SHOWN)].join(", ");
    if all.len() > SHOWN { format!("{shown} and {} more", all.len() - SHOWN) } else { shown }
}

//! What the parts that train networks share: on which data, on how many threads, what is told on the way, and going on after a kill.

mod crew;
mod speed;
mod work;

pub(super) use speed::Speed;
pub(super) use work::{Planned, Work};

use anyhow::Context;
use fuld::Control;
use fuld_train::data::{DataError, DataSet, Presence, presence};
use fuld_train::spec::{TRAINING_VERSION, TrainRequest};
use fuld_train::stored::{self, Stored};
use fuld_train::sweep::SweepRun;
use fuld_train::train::RunResult;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What every part that trains networks needs to know.
#[derive(Clone, Debug)]
pub struct Training {
    /// A folder with MNIST or CIFAR-10 or both, to be trained on beside the digits that the program carries.
    pub data: Option<PathBuf>,
    /// The paper's whole grids and lengths instead of a part of them.
    pub full: bool,
    /// The first seed.
    pub seed: u64,
    /// Threads, each of which trains a run.
    pub threads: usize,
}

/// What is told on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum News<'a> {
    /// What comes now, and how long it will take.
    Plan(&'a str),
    /// So much of the work is done, from 0 to 1.
    Done(f64),
}

/// Who hears the news, and may say stop.
pub type Watch<'a> = dyn Fn(News<'_>) -> Control + Sync + 'a;

/// The paper measures every 100 iterations and reports the mean of the last two measurements.
const BETWEEN_MEASUREMENTS: u64 = 100;

/// A run of so many steps. Only the last two measurements are reported, so the others are not made.
pub(super) fn steps(iterations: u64) -> TrainRequest {
    TrainRequest {
        iterations: Some(iterations),
        measure_every: Some(iterations.saturating_sub(BETWEEN_MEASUREMENTS).max(1)),
        ..TrainRequest::default()
    }
}

/// The first of so many seeds, each of which there is: the last ones, if there are not as many after the one asked for.
pub(super) fn first_seed(asked: u64, count: u64) -> u64 {
    asked.min(u64::MAX - count)
}

impl Training {
    /// The data sets in a folder; an error if there is none.
    pub fn find(folder: &Path) -> Result<Vec<&'static str>, DataError> {
        let mut found = Vec::new();
        for set in ["mnist", "cifar10"] {
            if presence(set, folder)? != Presence::Absent {
                found.push(set);
            }
        }
        if found.is_empty() { Err(DataError::Nothing(folder.into())) } else { Ok(found) }
    }

    /// The digits, and what else there is, each by the name that the program knows it by.
    pub(super) fn sets(&self) -> Result<Vec<DataSet>, DataError> {
        let mut sets = vec![DataSet::load("digits", Path::new(""))?];
        if let Some(folder) = &self.data {
            for set in Self::find(folder)? {
                sets.push(DataSet::load(set, folder)?);
            }
        }
        Ok(sets)
    }

    /// Trains what is missing of some jobs. `plan` says what comes, of how long it will take in all and of how many runs are missing;
    /// `after` is the time of what follows the training, in seconds on one core. None if `watch` said stop: the runs are saved, and the
    /// same call goes on from there. Else the share of the work that is done.
    pub(super) fn complete(
        &self,
        jobs: &[SweepRun],
        data: &HashMap<String, DataSet>,
        out: &Path,
        (speed, after): (&Speed, f64),
        plan: &dyn Fn(Left) -> String,
        watch: &Watch<'_>,
    ) -> anyhow::Result<Option<f64>> {
        let (mut missing, mut seen) = (Vec::new(), HashSet::new());
        for job in jobs {
            // Two studies may ask for one run.
            if seen.insert(&job.folder) && stored(job)?.is_none() {
                missing.push((job.clone(), speed.seconds(&job.spec)));
            }
        }
        let training: f64 = missing.iter().map(|(_, seconds)| seconds).sum();
        let total = training + after;
        let left = Left { runs: seen.len(), missing: missing.len(), time: self.told(total) };
        watch(News::Plan(&plan(left)));
        let hear = |done: f64| watch(News::Done(done / total));
        let whole = crew::train(missing, data, out, self.threads, &hear)?;
        Ok(whole.then(|| if total > 0.0 { training / total } else { 1.0 }))
    }

    /// Seconds on one core as time on all threads, in words.
    fn told(&self, seconds: f64) -> String {
        format!("about {} on {} threads", duration(seconds / self.threads.max(1) as f64), self.threads)
    }
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Left {
    runs: usize,
    missing: usize,
    time: String,
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { runs, missing, time } = self;
        match runs - missing {
            0 => write!(f, "{runs} runs; {time}"),
            before => write!(f, "{runs} runs, {before} of them done before; {time}"),
        }
    }
}

/// The result of this very run by this version of the rule, if its folder holds it.
fn stored(job: &SweepRun) -> anyhow::Result<Option<RunResult>> {
    let path = job.folder.join("result.toml");
    Ok(match stored::read(&path, TRAINING_VERSION, &job.spec)? {
        Stored::Current(result) => Some(result),
        _ => None,
    })
}

/// What a run left; it was trained.
pub(super) fn result(job: &SweepRun) -> anyhow::Result<RunResult> {
    stored(job)?
        .with_context(|| format!("{} has no result; give the same command again", job.folder.display()))
}

/// In the largest unit that leaves a number above one.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} hours", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_fits() {
        let told = [12.0, 600.0, 7_200.0, 400_000.0].map(duration);
        assert_eq!(told, ["12 s", "10 minutes", "2.0 hours", "4.6 days"]);
    }

    #[test]
    fn every_seed_has_others_to_go_with_it() {
        assert_eq!((first_seed(7, 5), first_seed(u64::MAX, 5)), (7, u64::MAX - 5));
    }
}

//! The paper's networks (Figs. 5–8 and the supplement) with their controls: what of the gain is the tail, and what the learning rate.

mod arm;
mod claims;
mod exhibit;
mod figures;
mod gap;
#[cfg(test)]
mod made;
mod plan;
mod reach;
mod results;
mod set;
mod speed;
mod training;

use crate::data::{DataError, DataSet, Presence, presence};
use crate::reproduce::Exhibit;
use crate::run_folder::read_result;
use crate::settings::{Settings, Subject};
use crate::sweep::{self, Job};
use crate::train::Status;
use anyhow::Context;
use arm::Arm;
use fuld::Control;
use plan::Plan;
use reach::Reach;
use results::{Outcome, Results};
use set::Set;
use speed::Speed;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Which networks to train.
#[derive(Clone, Debug)]
pub struct Networks {
    /// A folder with MNIST or CIFAR-10 or both, to be trained on beside the digits that the program carries.
    pub data: Option<PathBuf>,
    /// The paper's whole grid instead of a part of it.
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

/// A data set and its runs.
struct Work {
    data: DataSet,
    subject: Subject,
    plan: Plan,
    runs: Vec<(Arm, Settings)>,
    jobs: Vec<Job>,
}

impl Work {
    fn new(data: DataSet, plan: Plan, out: &Path) -> anyhow::Result<Self> {
        let subject = data.subject();
        let runs = plan.runs(&subject)?;
        let jobs = sweep::jobs(runs.iter().map(|(_, settings)| settings.clone()).collect(), out, None);
        Ok(Self { data, subject, plan, runs, jobs })
    }
}

impl Networks {
    /// Trains what is missing in the folder and gives a section for each data set. None if `watch` said stop: the runs are saved, and the
    /// same call goes on from there.
    pub fn run(
        &self,
        folder: &Path,
        watch: &(dyn Fn(News<'_>) -> Control + Sync),
    ) -> anyhow::Result<Option<Vec<Exhibit>>> {
        let out = folder.join("networks");
        self.complete(&self.works(&out)?, &out, watch)
    }

    /// Trains what is missing of these, and shows what there is.
    fn complete(
        &self,
        works: &[Work],
        out: &Path,
        watch: &(dyn Fn(News<'_>) -> Control + Sync),
    ) -> anyhow::Result<Option<Vec<Exhibit>>> {
        let (mut jobs, mut looks) = (Vec::new(), Vec::new());
        for Work { data, subject, plan, jobs: all, .. } in works {
            let Some(speed) = Speed::measured(plan, data, subject, &|| watch(News::Done(0.0)))? else {
                return Ok(None);
            };
            for job in all {
                if read_result(&job.folder)?.is_none() {
                    jobs.push((job.clone(), speed.seconds((job.settings.width, job.settings.depth))));
                }
            }
            looks.push(Reach::seconds(plan, &speed));
        }
        let training: f64 = jobs.iter().map(|(_, seconds)| seconds).sum();
        let total = training + looks.iter().sum::<f64>();
        watch(News::Plan(&self.told(works, jobs.len(), total)));
        let data: HashMap<String, DataSet> =
            works.iter().map(|work| (work.subject.fingerprint.clone(), work.data.clone())).collect();
        if !training::train(jobs, &data, out, self.threads, &|done| watch(News::Done(done / total)))? {
            return Ok(None);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build()?;
        let (mut exhibits, mut done) = (Vec::new(), training);
        for (Work { data, subject, plan, runs, jobs }, seconds) in works.iter().zip(looks) {
            let hear = |share: f64| watch(News::Done((done + share * seconds) / total));
            let Some(reach) = pool.install(|| Reach::measured(plan, data, subject, &hear))? else {
                return Ok(None);
            };
            done += seconds;
            exhibits.push(exhibit::exhibit(plan, subject, runs, &read(runs, jobs)?, reach));
        }
        Ok(Some(exhibits))
    }

    /// The data sets that there are, and what is to be trained on each.
    fn works(&self, out: &Path) -> anyhow::Result<Vec<Work>> {
        let work = |source: &str, folder: &Path| {
            Work::new(DataSet::load(source, folder)?, Plan::of(source, self.full, self.seed), out)
        };
        let mut works = vec![work("digits", Path::new(""))?];
        if let Some(folder) = &self.data {
            for set in Self::find(folder)? {
                works.push(work(set, folder)?);
            }
        }
        Ok(works)
    }

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

    /// What will be done, and how long it takes.
    fn told(&self, works: &[Work], missing: usize, seconds: f64) -> String {
        let all: usize = works.iter().map(|work| work.jobs.len()).sum();
        let sets: Vec<&str> = works.iter().map(|work| Set::of(&work.subject.name).name()).collect();
        let before = match all - missing {
            0 => String::new(),
            done => format!(", {done} of them done before"),
        };
        let (time, threads) = (duration(seconds / self.threads.max(1) as f64), self.threads);
        format!("networks on {}: {all} runs{before}; about {time} on {threads} threads", sets.join(", "))
    }
}

/// What became of the runs.
fn read(runs: &[(Arm, Settings)], jobs: &[Job]) -> anyhow::Result<Results> {
    let mut outcomes = Vec::new();
    for ((arm, settings), job) in runs.iter().zip(jobs) {
        let result = read_result(&job.folder)?.with_context(|| {
            format!("{} has no result; give the same command again", job.folder.display())
        })?;
        let summary = result.summary.filter(|_| result.status == Status::Finished);
        let Settings { width, depth, seed, .. } = *settings;
        outcomes.push(Outcome { arm: *arm, width, depth, seed, summary, reached: result.reached() });
    }
    // In an order for people: that of the training is another.
    outcomes.sort_by_key(|run: &Outcome| (run.arm, run.width, run.depth, run.seed));
    Ok(Results { outcomes })
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
mod tests;

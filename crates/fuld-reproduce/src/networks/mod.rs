//! The paper's networks (Figs. 5–8 and the supplement) with their controls: what of the gain is the tail, and what the learning rate.

mod arm;
mod claims;
mod exhibit;
mod figures;
#[cfg(test)]
mod made;
mod plan;
mod reach;
mod results;

use super::context::{Context, Interrupted};
use super::set::Set;
use super::training::{self, News, Planned, Speed, Training, Watch, result};
use super::unported::Exhibit;
use arm::Arm;
use fuld_train::data::DataSet;
use fuld_train::spec::{DataDescription, TrainSpec};
use fuld_train::sweep::SweepRun;
use fuld_train::train::RunStatus;
use plan::Plan;
use reach::Reach;
use results::{Outcome, Results};
use std::collections::HashMap;
use std::path::Path;

impl Planned for Plan {
    type Run = (Arm, TrainSpec);

    fn of(set: &str, full: bool, seed: u64) -> Self {
        Self::of(set, full, seed)
    }

    fn runs(&self, subject: &DataDescription) -> anyhow::Result<Vec<Self::Run>> {
        Ok(self.runs(subject)?)
    }

    fn spec((_, spec): &(Arm, TrainSpec)) -> &TrainSpec {
        spec
    }
}

type Work = training::Work<Plan>;

/// Trains what is missing and makes the exhibit of a data set.
pub(super) fn make(context: &Context<'_>) -> anyhow::Result<Exhibit> {
    let out = context.folder().join("training");
    let training =
        Training { full: context.is_full(), seed: context.seed(), threads: context.threads(), data: None };
    let data = context.data()?.clone();
    let work = Work::new(data.clone(), Plan::of(data.name, training.full, training.seed), &out)?;
    let watch = |news: News<'_>| {
        match news {
            News::Plan(text) => context.note(text),
            News::Done(share) => context.progress(share),
        }
        context.stop().control()
    };
    let made = complete(&training, &[work], &out, &watch)?.and_then(|mut exhibits| exhibits.pop());
    made.ok_or(Interrupted.into())
}

/// Trains what is missing of these, and shows what there is.
fn complete(
    training: &Training,
    works: &[Work],
    out: &Path,
    watch: &Watch<'_>,
) -> anyhow::Result<Option<Vec<Exhibit>>> {
    let data: HashMap<String, DataSet> =
        works.iter().map(|work| (work.subject.fingerprint.clone(), work.data.clone())).collect();
    let jobs: Vec<SweepRun> = works.iter().flat_map(|work| work.jobs.iter().cloned()).collect();
    let spec = jobs.iter().map(|job| &job.spec);
    let Some(speed) = Speed::measured(spec, &data, &|| watch(News::Done(0.0)))? else {
        return Ok(None);
    };
    let looks = works.iter().map(|Work { plan, subject, .. }| Reach::seconds(plan, subject, &speed));
    let looks = looks.collect::<anyhow::Result<Vec<f64>>>()?;
    let looking: f64 = looks.iter().sum();
    let sets: Vec<&str> = works.iter().map(|work| Set::of(&work.subject.name).name()).collect();
    let plan = |left| format!("networks on {}: {left}", sets.join(", "));
    let Some(mut done) = training.complete(&jobs, &data, out, (&speed, looking), &plan, watch)? else {
        return Ok(None);
    };
    let rest = 1.0 - done;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(training.threads).build()?;
    let mut exhibits = Vec::new();
    for (Work { data, subject, plan, runs, jobs }, seconds) in works.iter().zip(looks) {
        let part = rest * seconds / looking;
        let hear = |share: f64| watch(News::Done(done + share * part));
        let Some(reach) = pool.install(|| Reach::measured(plan, data, subject, &hear))? else {
            return Ok(None);
        };
        done += part;
        exhibits.push(exhibit::exhibit(plan, subject, runs, &read(runs, jobs)?, reach));
    }
    Ok(Some(exhibits))
}

/// What became of the runs.
fn read(runs: &[(Arm, TrainSpec)], jobs: &[SweepRun]) -> anyhow::Result<Results> {
    let mut outcomes = Vec::new();
    for ((arm, spec), job) in runs.iter().zip(jobs) {
        let result = result(job)?;
        let summary = result.summary.filter(|_| result.status == RunStatus::Finished);
        let TrainSpec { width, depth, seed, .. } = *spec;
        outcomes.push(Outcome { arm: *arm, width, depth, seed, summary, reached: result.iterations() });
    }
    // In an order for people: that of the training is another.
    outcomes.sort_by_key(|run: &Outcome| (run.arm, run.width, run.depth, run.seed));
    Ok(Results { outcomes })
}

#[cfg(test)]
mod tests;

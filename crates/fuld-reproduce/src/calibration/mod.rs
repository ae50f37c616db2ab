//! What auto finds and does: α and scale from the gradients themselves, against rules that are told them or tuned by hand.

mod arm;
mod clean;
mod edge;
mod errors;
mod estimates;
mod exhibit;
mod gaussian;
#[cfg(test)]
mod made;
mod noise;
mod outcome;
mod plan;
mod rates;
mod words;

use super::context::{Context, Interrupted};
use super::set::Set;
use super::training::{self, News, Planned, Speed, Training, Watch, result};
use super::unported::Exhibit;
use fuld_train::data::DataSet;
use fuld_train::spec::{DataDescription, TrainSpec};
use fuld_train::sweep::SweepRun;
use outcome::{Outcome, Results};
use plan::{Plan, Run};
use std::collections::HashMap;
use std::path::Path;

impl Planned for Plan {
    type Run = Run;

    fn of(set: &str, full: bool, seed: u64) -> Self {
        Self::of(set, full, seed)
    }

    fn runs(&self, subject: &DataDescription) -> anyhow::Result<Vec<Self::Run>> {
        Ok(self.runs(subject)?)
    }

    fn spec(run: &Run) -> &TrainSpec {
        &run.spec
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
    let mut jobs: Vec<SweepRun> = works.iter().flat_map(|work| work.jobs.iter().cloned()).collect();
    let spec = jobs.iter().map(|job| &job.spec);
    let Some(speed) = Speed::measured(spec, &data, &|| watch(News::Done(0.0)))? else {
        return Ok(None);
    };
    // The longest first: they should not be what everything waits for in the end.
    jobs.sort_by(|a, b| speed.seconds(&b.spec).total_cmp(&speed.seconds(&a.spec)));
    let sets: Vec<&str> = works.iter().map(|work| Set::of(&work.subject.name).name()).collect();
    let plan = |left| format!("calibration on {}: {left}", sets.join(", "));
    if training.complete(&jobs, &data, out, (&speed, 0.0), &plan, watch)?.is_none() {
        return Ok(None);
    }
    let exhibit = |work: &Work| Ok(exhibit::exhibit(&work.plan, &work.subject, &work.runs, &read(work)?));
    works.iter().map(exhibit).collect::<anyhow::Result<_>>().map(Some)
}

/// What became of the runs.
fn read(work: &Work) -> anyhow::Result<Results> {
    let outcome = |(run, job)| Ok(Outcome::of(run, &result(job)?));
    let outcomes = work.runs.iter().zip(&work.jobs).map(outcome).collect::<anyhow::Result<_>>()?;
    Ok(Results { outcomes })
}

#[cfg(test)]
mod tests;

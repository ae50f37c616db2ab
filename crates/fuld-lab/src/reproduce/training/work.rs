//! A data set and what is trained on it.

use super::Training;
use crate::data::DataSet;
use crate::settings::{Settings, Subject};
use crate::sweep::{self, Job};
use std::path::Path;

/// What a part trains on a data set.
pub(in crate::reproduce) trait Planned: Sized {
    /// A run, and what it is there for.
    type Run;

    /// On the set of this name: the whole of it or a part, from a seed on.
    fn of(set: &str, full: bool, seed: u64) -> Self;

    /// All runs.
    fn runs(&self, subject: &Subject) -> anyhow::Result<Vec<Self::Run>>;

    /// All that determines a run.
    fn settings(run: &Self::Run) -> &Settings;
}

/// A data set and its runs.
pub(in crate::reproduce) struct Work<P: Planned> {
    pub(in crate::reproduce) data: DataSet,
    pub(in crate::reproduce) subject: Subject,
    pub(in crate::reproduce) plan: P,
    pub(in crate::reproduce) runs: Vec<P::Run>,
    pub(in crate::reproduce) jobs: Vec<Job>,
}

impl<P: Planned> Work<P> {
    pub(in crate::reproduce) fn new(data: DataSet, plan: P, out: &Path) -> anyhow::Result<Self> {
        let subject = data.subject();
        let runs = plan.runs(&subject)?;
        let jobs = sweep::jobs(runs.iter().map(|run| P::settings(run).clone()).collect(), out, None);
        Ok(Self { data, subject, plan, runs, jobs })
    }
}

impl Training {
    /// What there is to train on every data set at hand.
    pub(in crate::reproduce) fn works<P: Planned>(&self, out: &Path) -> anyhow::Result<Vec<Work<P>>> {
        let work = |data: DataSet| {
            let plan = P::of(data.name, self.full, self.seed);
            Work::new(data, plan, out)
        };
        self.sets()?.into_iter().map(work).collect()
    }
}

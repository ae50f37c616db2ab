//! A data set and what is trained on it.

use super::Training;
use fuld_train::data::DataSet;
use fuld_train::spec::{DataDescription, TrainSpec};
use fuld_train::sweep::{self, SweepRun};
use std::path::Path;

/// What a part trains on a data set.
pub(crate) trait Planned: Sized {
    /// A run, and what it is there for.
    type Run;

    /// On the set of this name: the whole of it or a part, from a seed on.
    fn of(set: &str, full: bool, seed: u64) -> Self;

    /// All runs.
    fn runs(&self, subject: &DataDescription) -> anyhow::Result<Vec<Self::Run>>;

    /// All that determines a run.
    fn spec(run: &Self::Run) -> &TrainSpec;
}

/// A data set and its runs.
pub(crate) struct Work<P: Planned> {
    pub(crate) data: DataSet,
    pub(crate) subject: DataDescription,
    pub(crate) plan: P,
    pub(crate) runs: Vec<P::Run>,
    pub(crate) jobs: Vec<SweepRun>,
}

impl<P: Planned> Work<P> {
    pub(crate) fn new(data: DataSet, plan: P, out: &Path) -> anyhow::Result<Self> {
        let subject = data.description();
        let runs = plan.runs(&subject)?;
        let jobs = sweep::sweep_runs(runs.iter().map(|run| P::spec(run).clone()).collect(), out, None);
        Ok(Self { data, subject, plan, runs, jobs })
    }
}

impl Training {
    /// What there is to train on every data set at hand.
    pub(crate) fn works<P: Planned>(&self, out: &Path) -> anyhow::Result<Vec<Work<P>>> {
        let work = |data: DataSet| {
            let plan = P::of(data.name, self.full, self.seed);
            Work::new(data, plan, out)
        };
        self.sets()?.into_iter().map(work).collect()
    }
}

//! What an experiment is given: the seed, the threads, the data set, its folder, and a way to report progress and to stop.

use fuld::chains::{MemoryDraws, MemorySink, Outcome};
use fuld::random::{Purpose, Stream};
use fuld::{Run, StopFlag};
use fuld_sample::SampleRequest;
use fuld_train::data::DataSet;
use levy_stable::SymmetricStable;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The surroundings of one experiment.
pub struct Context<'a> {
    seed: u64,
    threads: usize,
    full: bool,
    data: Option<&'a DataSet>,
    folder: PathBuf,
    stop: StopFlag,
    progress: Box<dyn Fn(f64) + Send + Sync + 'a>,
    note: Box<dyn Fn(&str) + Send + Sync + 'a>,
    runs: Mutex<Vec<SampleRequest>>,
}

/// The experiment was asked to stop. What it saved is used when the same command runs again.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl<'a> Context<'a> {
    /// Creates a context with a seed, all cores and no data set, whose folder is `folder`.
    pub fn new(seed: u64, folder: impl Into<PathBuf>) -> Self {
        Self {
            seed,
            threads: 0,
            full: false,
            data: None,
            folder: folder.into(),
            stop: StopFlag::default(),
            progress: Box::new(|_| {}),
            note: Box::new(|_| {}),
            runs: Mutex::default(),
        }
    }

    /// Sets the number of threads; 0 means all cores.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Asks for the paper's whole grid instead of a part of it.
    pub fn with_full(self, full: bool) -> Self {
        Self { full, ..self }
    }

    /// Sets the data set.
    pub fn with_data(self, data: Option<&'a DataSet>) -> Self {
        Self { data, ..self }
    }

    /// Sets the flag that stops the experiment.
    pub fn with_stop(self, stop: StopFlag) -> Self {
        Self { stop, ..self }
    }

    /// Sets the function that receives the finished share of the experiment, from 0 to 1.
    pub fn on_progress(self, progress: impl Fn(f64) + Send + Sync + 'a) -> Self {
        Self { progress: Box::new(progress), ..self }
    }

    /// Sets the function that receives notes for the user, such as how long the training will take.
    pub fn on_note(self, note: impl Fn(&str) + Send + Sync + 'a) -> Self {
        Self { note: Box::new(note), ..self }
    }

    /// Returns the seed of all randomness.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of threads; 0 means all cores.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns whether the paper's whole grid is wanted.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Returns the data set of an exhibit that trains networks.
    pub fn data(&self) -> anyhow::Result<&'a DataSet> {
        self.data.ok_or_else(|| anyhow::anyhow!("the exhibit has no data set"))
    }

    /// Returns the exhibit's folder. Training runs are kept in its subfolder `training`, which outlives stale tables.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the flag that stops the experiment.
    pub fn stop(&self) -> &StopFlag {
        &self.stop
    }

    /// Fails if the experiment was asked to stop.
    pub fn check_stop(&self) -> Result<(), Interrupted> {
        if self.stop.is_requested() { Err(Interrupted) } else { Ok(()) }
    }

    /// Reports the finished share of the experiment, from 0 to 1.
    pub fn progress(&self, share: f64) {
        (self.progress)(share);
    }

    /// Tells the user something.
    pub fn note(&self, text: &str) {
        (self.note)(text);
    }

    /// Samples as `fuld sample` does, with the seed of the context, and records the settings.
    pub fn sample(&self, request: SampleRequest) -> anyhow::Result<(MemoryDraws, Outcome)> {
        self.sample_with(request, |run| run)
    }

    /// Samples like [`sample`](Self::sample) with a run that is changed first, to compute averages on the way.
    pub fn sample_with(
        &self,
        request: SampleRequest,
        change: impl FnOnce(Run) -> Run,
    ) -> anyhow::Result<(MemoryDraws, Outcome)> {
        let (settings, target) = SampleRequest { seed: Some(self.seed), ..request }.complete()?;
        let run = change(settings.run(&target)?);
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).push(settings.request());
        let run = Run { threads: self.threads, ..run };
        let mut sink = MemorySink::default();
        let outcome = run.stream(target.potential(), &mut sink, &mut |_| self.stop.control())?;
        self.check_stop()?;
        Ok((sink.into_draws().ok_or(Interrupted)?, outcome))
    }

    /// Returns the settings of all chains that were sampled, in the form that `fuld sample --config` reads.
    pub(crate) fn runs(&self) -> Vec<SampleRequest> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns random words.
    pub fn words(&self, count: usize) -> Vec<u64> {
        Stream::new(self.seed, 0, Purpose::Measurement).words().take(count).collect()
    }

    /// Returns draws of SαS(1). Every `path` has its own.
    pub fn noise(&self, alpha: f64, path: u64, count: usize) -> anyhow::Result<Vec<f64>> {
        let (mut words, mut draws) = (vec![0; count], vec![0.0; count]);
        Stream::new(self.seed, path, Purpose::Noise).fill(0, &mut words);
        SymmetricStable::new(alpha)?.sampler().transform(&words, &mut draws);
        Ok(draws)
    }
}

//! What an experiment is given: the seed, the threads, the data set, its folder, and a way to
//! report progress and to stop.

use fuld::chains::{Average, MemoryDraws, MemorySink, Outcome};
use fuld::durable::replace;
use fuld::random::{Purpose, Stream};
use fuld::{Run, StopFlag};
use fuld_sample::SampleRequest;
use fuld_train::data::DataSet;
use fuld_train::spec::Device;
use levy_stable::SymmetricStable;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The surroundings of one experiment.
pub(crate) struct Context<'a> {
    /// The seed of all randomness.
    pub(crate) seed: u64,
    /// The number of threads; 0 means all cores.
    pub(crate) threads: usize,
    /// Whether the paper's whole grid is wanted.
    pub(crate) full: bool,
    /// The hardware that trains networks.
    pub(crate) device: Device,
    /// The data set of an exhibit that trains networks.
    pub(crate) data: Option<&'a DataSet>,
    /// Divides the number of sampled chains, for tests.
    pub(crate) fewer_chains: usize,
    /// The exhibit's folder. Training runs are kept in its subfolder `training`, which outlives
    /// stale tables.
    pub(crate) folder: PathBuf,
    pub(crate) stop: StopFlag,
    /// Receives the finished share of the experiment, from 0 to 1.
    pub(crate) on_progress: Box<dyn Fn(f64) + Send + Sync + 'a>,
    /// Receives the seconds that the experiment will take, once they are measured.
    pub(crate) on_expected: Box<dyn Fn(f64) + Send + Sync + 'a>,
    /// Receives notes for the user, such as how long the training will take.
    pub(crate) on_note: Box<dyn Fn(&str) + Send + Sync + 'a>,
    pub(crate) sampled: Mutex<Vec<SampleRequest>>,
}

/// The experiment was asked to stop. What it saved is used when the same command runs again.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// Returns a number of threads, which is that of the cores for 0.
pub(crate) fn cores(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

impl<'a> Context<'a> {
    /// Creates a context with a seed, all cores and no data set, whose folder is `folder`.
    pub(crate) fn new(seed: u64, folder: impl Into<PathBuf>) -> Self {
        Self {
            seed,
            threads: 0,
            full: false,
            device: Device::Cpu,
            data: None,
            fewer_chains: 1,
            folder: folder.into(),
            stop: StopFlag::default(),
            on_progress: Box::new(|_| {}),
            on_expected: Box::new(|_| {}),
            on_note: Box::new(|_| {}),
            sampled: Mutex::default(),
        }
    }

    /// Returns the data set of an exhibit that trains networks.
    pub(crate) fn data(&self) -> anyhow::Result<&'a DataSet> {
        self.data.ok_or_else(|| anyhow::anyhow!("the exhibit has no data set"))
    }

    /// Returns the number of threads, which is that of the cores if none was given.
    pub(crate) fn cores(&self) -> usize {
        cores(self.threads)
    }

    /// Reports the finished share of the experiment, from 0 to 1.
    pub(crate) fn progress(&self, share: f64) {
        (self.on_progress)(share);
    }

    /// Returns [`Interrupted`] after a request to stop.
    pub(crate) fn check_stop(&self) -> Result<(), Interrupted> {
        if self.stop.is_requested() { Err(Interrupted) } else { Ok(()) }
    }

    /// Samples as `fuld sample` does, with the seed of the context, and records the settings.
    pub(crate) fn sample(&self, request: SampleRequest) -> anyhow::Result<(MemoryDraws, Outcome)> {
        self.sample_with(request, |run| run)
    }

    /// Samples like [`sample`](Self::sample) and also computes the average of x² of each chain over
    /// all steps.
    pub(crate) fn second_moments(&self, request: SampleRequest) -> anyhow::Result<Average> {
        let (_, mut outcome) =
            self.sample_with(request, |run| run.averaging("x²", |x| x[0] * x[0]))?;
        Ok(outcome.averages.remove(0))
    }

    fn sample_with(
        &self,
        request: SampleRequest,
        change: impl FnOnce(Run) -> Run,
    ) -> anyhow::Result<(MemoryDraws, Outcome)> {
        let chains = request.chains.map(|chains| chains / self.fewer_chains);
        let (settings, target) =
            SampleRequest { seed: Some(self.seed), chains, ..request }.complete()?;
        let run = change(settings.run(&target)?);
        self.sampled.lock().unwrap_or_else(PoisonError::into_inner).push(settings.request());
        let run = Run { threads: self.threads, ..run };
        let mut sink = MemorySink::default();
        let outcome = run.stream(target.potential(), &mut sink, &mut |_| self.stop.control())?;
        self.check_stop()?;
        Ok((sink.into_draws().ok_or(Interrupted)?, outcome))
    }

    /// Returns the settings of all chains that were sampled, in the form that `fuld sample
    /// --config` reads.
    pub(crate) fn runs(&self) -> Vec<SampleRequest> {
        self.sampled.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes these settings as `runs/1.toml`, `runs/2.toml`, …
    pub(crate) fn write_runs(&self, folder: &Path) -> io::Result<Vec<String>> {
        let (runs, folder) = (self.runs(), folder.join("runs"));
        if !runs.is_empty() {
            std::fs::create_dir_all(&folder)?;
        }
        let mut files = Vec::new();
        for (number, run) in (1..).zip(runs) {
            let text =
                format!("# fuld sample --config {number}.toml runs these chains.\n{}", run.text());
            replace(&folder.join(format!("{number}.toml")), text.as_bytes())?;
            files.push(format!("runs/{number}.toml"));
        }
        Ok(files)
    }

    /// Returns draws of SαS(1). Every `path` has its own.
    pub(crate) fn noise(&self, alpha: f64, path: u64, count: usize) -> anyhow::Result<Vec<f64>> {
        let (mut words, mut draws) = (vec![0; count], vec![0.0; count]);
        Stream::new(self.seed, path, Purpose::Noise).fill(0, &mut words);
        SymmetricStable::new(alpha)?.sampler().transform(&words, &mut draws);
        Ok(draws)
    }
}

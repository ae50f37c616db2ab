//! Where exhibits are made: from which seed, on how many threads, until someone says stop.

use super::exhibit::Exhibit;
use fuld::chains::{MemoryDraws, MemorySink, Outcome};
use fuld::random::{Purpose, Stream};
use fuld::{Potential, Run, StopFlag};
use levy_stable::SymmetricStable;
use std::cell::RefCell;

/// What every exhibit needs to know.
pub struct Lab {
    seed: u64,
    threads: usize,
    stop: StopFlag,
    /// Who is told what share of an exhibit is made.
    hear: Box<dyn Fn(f64) + Send + Sync>,
    /// What was run, for the record.
    runs: RefCell<Vec<String>>,
}

/// Someone pressed Ctrl-C.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Lab {
    /// All randomness comes from the seed; threads are all cores if 0.
    pub fn new(seed: u64, threads: usize) -> Self {
        Self { seed, threads, stop: StopFlag::default(), hear: Box::new(|_| {}), runs: RefCell::default() }
    }

    /// Tells of the share of an exhibit that is made, from 0 to 1, where it takes long.
    pub fn heard_by(self, hear: impl Fn(f64) + Send + Sync + 'static) -> Self {
        Self { hear: Box::new(hear), ..self }
    }

    /// Stops long work when this flag asks for it.
    pub fn stopped_by(self, stop: StopFlag) -> Self {
        Self { stop, ..self }
    }

    /// Asks to stop.
    pub fn stop(&self) -> &StopFlag {
        &self.stop
    }

    /// Of all randomness.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// All cores if 0.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// To be told of the share that is made.
    pub fn hear(&self) -> &(dyn Fn(f64) + Sync) {
        &*self.hear
    }

    /// Makes an exhibit, and adds the seed and every run to its settings.
    pub fn make(&self, make: fn(&Self) -> anyhow::Result<Exhibit>) -> anyhow::Result<Exhibit> {
        self.runs.borrow_mut().clear();
        let mut exhibit = make(self)?;
        exhibit.settings.insert("seed".into(), self.seed.to_string().into());
        let runs = self.runs.take();
        if !runs.is_empty() {
            exhibit.settings.insert("runs".into(), runs.into());
        }
        Ok(exhibit)
    }

    /// Runs chains in memory, with the seed of the lab.
    pub fn run(&self, run: Run, potential: &dyn Potential) -> anyhow::Result<(MemoryDraws, Outcome)> {
        let run = Run { seed: self.seed, threads: self.threads, ..run };
        self.runs.borrow_mut().push(format!("{run:?}, start {:?}", run.start));
        let mut sink = MemorySink::default();
        let outcome = run.stream(potential, &mut sink, &mut |_| self.stop.control())?;
        if outcome.stopped {
            return Err(Interrupted.into());
        }
        let samples = sink.into_draws().ok_or(Interrupted)?;
        Ok((samples, outcome))
    }

    /// Random words.
    pub fn words(&self, count: usize) -> Vec<u64> {
        Stream::new(self.seed, 0, Purpose::Measurement).words().take(count).collect()
    }

    /// Draws of SαS(1); another `path` gives others.
    pub fn noise(&self, alpha: f64, path: u64, count: usize) -> anyhow::Result<Vec<f64>> {
        let (mut words, mut draws) = (vec![0; count], vec![0.0; count]);
        Stream::new(self.seed, path, Purpose::Noise).fill(0, &mut words);
        SymmetricStable::new(alpha)?.sampler().transform(&words, &mut draws);
        Ok(draws)
    }
}

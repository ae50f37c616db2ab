//! Where exhibits are made: from which seed, on how many threads, until someone says stop.

use crate::interrupt;
use fuld::chains::{Outcome, Samples};
use fuld::random::{Purpose, Stream, fill};
use fuld::{Control, Potential, Run};
use levy_stable::Sampler;

/// What every exhibit needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Lab {
    /// All randomness comes from it.
    pub seed: u64,
    /// Threads; all cores if 0.
    pub threads: usize,
}

/// Someone pressed Ctrl-C.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Lab {
    /// Runs chains in memory, with the seed of the lab.
    pub fn run(&self, run: Run, potential: &dyn Potential) -> anyhow::Result<(Samples, Outcome)> {
        let run = Run { seed: self.seed, threads: self.threads, ..run };
        let mut samples = Samples::default();
        let mut go_on = |_: &_| if interrupt::asked() { Control::Stop } else { Control::Continue };
        let outcome = run.stream(potential, &mut samples, &mut go_on)?;
        if outcome.stopped {
            return Err(Interrupted.into());
        }
        Ok((samples, outcome))
    }

    /// Draws of SαS(1); another `path` gives others.
    pub fn noise(&self, alpha: f64, path: u64, count: usize) -> anyhow::Result<Vec<f64>> {
        let (mut words, mut draws) = (vec![0; count], vec![0.0; count]);
        fill(&[Stream::new(self.seed, path, Purpose::Noise)], 0, count, &mut words);
        Sampler::new(alpha, 1.0)?.transform(&words, &mut draws);
        Ok(draws)
    }
}

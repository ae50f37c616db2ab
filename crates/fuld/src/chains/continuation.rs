//! The parts of an execution that save its state, and continue from a saved one.

use super::checkpoint::Checkpoint;
use super::error::RunError;
use super::execution::Execution;
use super::worker::Worker;
use crate::batch::Batch;
use crate::exact::{Levels, Transition};

/// Coordinates per batch, so that its arrays stay in the first-level cache.
const COORDINATES: usize = 512;

impl Execution<'_> {
    /// Creates the workers, with a `given` state or that of the checkpoint if there is one; returns
    /// whether there was.
    pub(super) fn restore(&mut self, given: Option<Checkpoint>) -> Result<bool, RunError> {
        let (run, dim) = (self.run, self.layout.dim);
        let saved = match (given, &run.checkpoint) {
            (Some(given), _) => Some(given),
            (None, Some(path)) if path.exists() => {
                Some(Checkpoint::read(path)?.of(path, &self.layout)?)
            }
            _ => None,
        };
        let size = if self.potential.takes_all_chains() {
            run.chains
        } else {
            (COORDINATES / dim).clamp(1, run.chains.div_ceil(self.pool.current_num_threads()))
        };
        let functions = run.functions.len();
        let batches = (0..run.temper)
            .flat_map(|level| (0..run.chains).step_by(size).map(move |at| (level, at)));
        for (level, first) in batches {
            let chains = first..(first + size).min(run.chains);
            let start = (level * run.chains + first) * dim;
            let coordinates = start..start + chains.len() * dim;
            let (x, v) = match &saved {
                Some(saved) => {
                    (saved.x[coordinates.clone()].to_vec(), saved.v[coordinates].to_vec())
                }
                None => (run.start_of(chains.clone(), dim), vec![0.0; coordinates.len()]),
            };
            let number = run.stream_number(first, level);
            let mut worker =
                Worker::new(first, level, Batch::new(dim, number, x, v, run.seed), functions);
            if let Some((kinetic, _)) = self.exact {
                worker.transition =
                    Some(Transition::new(chains.len(), dim, number, run.seed, kinetic.beta()));
            }
            if let Some(saved) = saved.as_ref().filter(|_| level == 0) {
                worker.weight = saved.weight;
                worker
                    .sums
                    .copy_from_slice(&saved.sums[chains.start * functions..chains.end * functions]);
                worker
                    .divergences
                    .extend(saved.divergences.iter().filter(|d| chains.contains(&d.chain)));
            }
            self.workers.push(worker);
        }
        let Some(saved) = saved else { return Ok(false) };
        self.step = saved.step;
        if self.exact.is_some() && run.adapt {
            self.levels =
                Levels::from_numbers(&saved.adaptation, run.warmup, [run.temper, run.chains, dim]);
        }
        let count = saved.begun.len() / run.chains;
        if count > 0 {
            let room = self.layout.segment * self.layout.width();
            for (chain, draws) in
                self.begun.chunks_exact_mut(room).zip(saved.begun.chunks_exact(count))
            {
                chain[..count].copy_from_slice(draws);
            }
        }
        Ok(true)
    }

    pub(super) fn save(&self) -> Result<(), RunError> {
        let Some(path) = &self.run.checkpoint else { return Ok(()) };
        Ok(self.checkpoint().write(path)?)
    }

    /// Returns everything that the run requires to continue.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            spec: self.layout.spec.to_json(),
            step: self.step,
            weight: self.workers[0].weight,
            x: self.gather(|w| &w.batch.x),
            v: self.gather(|w| &w.batch.v),
            sums: self.gather(|w| &w.sums),
            begun: self.packed(self.segment_start()),
            divergences: self.divergences(),
            adaptation: self.levels.as_ref().map(Levels::to_numbers).unwrap_or_default(),
        }
    }

    /// Concatenates an array of all workers.
    fn gather<T: Copy>(&self, of: fn(&Worker) -> &[T]) -> Vec<T> {
        self.workers.iter().flat_map(of).copied().collect()
    }
}

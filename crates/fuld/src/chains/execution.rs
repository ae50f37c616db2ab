//! The execution of a run: batches of chains over threads, segments to the sink.

use super::checkpoint::Checkpoint;
use super::error::RunError;
use super::memory::{MemorySink, Samples};
use super::outcome::{Average, Control, Divergence, Outcome, Progress};
use super::run::{Run, TestFunction};
use super::sink::{Layout, Sink};
use super::worker::Worker;
use crate::dynamics::{ExactKinetic, Newtonian};
use crate::exact::Levels;
use crate::system::Motion;
use crate::{Alpha, Beta, Integrator, ParameterError, Potential};
use levy_stable::{Sampler, SymmetricStable};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two calls of the progress callback.
const INTERVAL: Duration = Duration::from_millis(50);

/// Values that a worker and a checkpoint hold per coordinate of each chain.
const STATE: usize = 8;

impl Run {
    /// Runs in memory. The checkpoint is neither read nor written, because memory cannot be
    /// resumed.
    pub fn sample(&self, potential: &dyn Potential) -> Result<Samples, RunError> {
        let mut sink = MemorySink::default();
        let run = Self { checkpoint: None, ..self.clone() };
        let outcome = run.stream(potential, &mut sink, &mut |_| Control::Continue)?;
        let no_draws =
            || RunError::Sink(std::io::Error::other("the run ended before its first draw"));
        Ok(Samples { draws: sink.into_draws().ok_or_else(no_draws)?, outcome })
    }

    /// Runs into a sink and reports to `progress` several times a second. If a checkpoint of this
    /// run exists, the run continues from there.
    pub fn stream(
        &self,
        potential: &dyn Potential,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Outcome, RunError> {
        self.check(potential.dim())?;
        if self.checkpoint.is_some() && potential.specification().is_none() {
            return Err(RunError::Unspecified);
        }
        let execution = match Execution::begin(self, None, potential, sink) {
            // The potential may fail because the run is being stopped.
            Err(RunError::Potential(_)) if progress(&Progress::default()) == Control::Stop => {
                return Ok(Outcome { stopped: true, ..Outcome::default() });
            }
            begun => begun?,
        };
        execution.finish(sink, progress)
    }
}

/// A run with its state.
pub(super) struct Execution<'a> {
    pub(super) run: &'a Run,
    pub(super) potential: &'a dyn Potential,
    pub(super) sampler: Arc<Sampler>,
    pub(super) pool: rayon::ThreadPool,
    pub(super) layout: Layout,
    /// Steps taken.
    pub(super) step: u64,
    /// Batches of chains, for each temperature the same.
    pub(super) workers: Vec<Worker>,
    /// Draws of the unfinished segment, with space for a whole segment per chain.
    pub(super) begun: Vec<f64>,
    /// Kinetic energy and friction of exact sampling.
    pub(super) exact: Option<(&'a dyn ExactKinetic, f64)>,
    /// Gaussian kinetic energy and noise, with which its adaptation begins.
    pub(super) gaussian: Option<(Newtonian, Arc<Sampler>)>,
    /// Mean acceptance probability of recent iterations, for the reports of progress.
    acceptance: Option<f64>,
    /// State of its adaptation, which is complete after the warmup.
    pub(super) levels: Option<Levels>,
}

impl<'a> Execution<'a> {
    /// Begins a run, or continues it from a `given` state or from its checkpoint.
    pub(super) fn begin(
        run: &'a Run,
        given: Option<Checkpoint>,
        potential: &'a dyn Potential,
        sink: &mut dyn Sink,
    ) -> Result<Self, RunError> {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(run.threads).build().map_err(|error| {
                RunError::Threads { threads: run.threads, reason: error.to_string() }
            })?;
        let layout = run.layout(potential)?;
        let mut begun = Vec::new();
        let room = layout.chains * layout.segment * layout.width();
        begun.try_reserve_exact(room).map_err(|_| RunError::TooMany("the numbers of a segment"))?;
        begun.resize(room, 0.0);
        // Reserves the memory of the chains once and frees it, because the many allocations that
        // follow cannot return an error.
        let state = [run.temper, layout.chains, layout.dim]
            .iter()
            .fold(STATE, |n, count| n.saturating_mul(*count));
        let mut trial = Vec::<f64>::new();
        trial
            .try_reserve_exact(state)
            .map_err(|_| RunError::TooMany("the coordinates of all chains"))?;
        drop(trial);

        let exact = match &run.system.motion {
            Motion::Underdamped { kinetic, gamma, .. } if run.integrator == Integrator::Exact => {
                kinetic.exact().map(|kinetic| (kinetic, *gamma))
            }
            _ => None,
        };
        if exact.is_some() && potential.is_stochastic() {
            return Err(RunError::Stochastic);
        }
        let alpha = exact.map_or(run.system.alpha(), |(kinetic, _)| kinetic.refreshing_alpha());
        let sampler_of = |alpha: Alpha| -> Result<_, ParameterError> {
            Ok(Arc::new(SymmetricStable::new(alpha.get()).map_err(ParameterError::from)?.sampler()))
        };
        let sampler = sampler_of(alpha)?;
        let gaussian = match exact.filter(|_| run.adapt) {
            Some((kinetic, _)) => {
                let energy = Newtonian::new(Alpha::GAUSS, Beta::new(kinetic.beta())?)?;
                Some((energy, sampler_of(Alpha::GAUSS)?))
            }
            None => None,
        };
        let mut this = Self {
            run,
            potential,
            sampler,
            pool,
            layout,
            step: 0,
            workers: Vec::new(),
            begun,
            exact,
            gaussian,
            acceptance: None,
            levels: None,
        };
        let resumed = this.restore(given)?;
        if !resumed {
            this.place_chains()?;
            // The checkpoint comes first, so that a run killed before its first draw recognises its
            // sink.
            sink.vacant()?;
            this.save()?;
        }
        sink.begin(&this.layout, this.delivered())?;
        Ok(this)
    }

    /// Runs to the end, or until `progress` stops it.
    pub(super) fn finish(
        mut self,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Outcome, RunError> {
        let began = Instant::now();
        let (mut saved, mut pace, total) = (began, Pace::default(), self.layout.spec.total_steps());
        let mut stopped = false;
        while self.step < total && !stopped {
            let end = self.segment_end();
            let steps = self.step..end.min(self.step.saturating_add(pace.steps));
            if let Err(error) = pace.time(|| self.advance_for_interval(steps)) {
                // The step that failed is lost; the draws before it are not.
                self.deliver(sink, end)?;
                sink.flush()?;
                // A potential may fail because the run is being stopped. An unfinished step cannot
                // be saved, so the last checkpoint stays.
                let refused = matches!(error, RunError::Potential(_));
                if refused && progress(&self.progress(began.elapsed())) == Control::Stop {
                    return Ok(self.outcome(true));
                }
                return Err(error);
            }
            let mut control = progress(&self.progress(began.elapsed()));
            while control == Control::Deliver {
                self.deliver(sink, end)?;
                sink.flush()?;
                control = progress(&self.progress(began.elapsed()));
            }
            stopped = control == Control::Stop && self.step < total;
            if self.step == end || stopped {
                self.deliver(sink, end)?;
            }
            if stopped || self.step == total || saved.elapsed() > self.run.checkpoint_every {
                sink.flush()?;
                self.save()?;
                saved = Instant::now();
            }
        }
        Ok(self.outcome(stopped))
    }

    /// Returns the number of draws per chain before the present segment.
    pub(super) fn segment_start(&self) -> u64 {
        let segment = self.layout.segment as u64;
        self.layout.spec.draws_at(self.step) / segment * segment
    }

    /// Returns the number of draws per chain that the sink has in whole segments; the others are in
    /// the checkpoint.
    fn delivered(&self) -> u64 {
        if self.step == self.layout.spec.total_steps() {
            self.run.draws
        } else {
            self.segment_start()
        }
    }

    /// Returns the step at which the present segment, or the warmup, is complete.
    fn segment_end(&self) -> u64 {
        if self.step < self.run.warmup {
            return self.run.warmup;
        }
        let draws = (self.segment_start() + self.layout.segment as u64).min(self.run.draws);
        self.run.warmup + draws * self.run.thin
    }

    /// Takes the steps. A potential that takes all chains may suddenly be slow, so the clock is
    /// read after each step, and the remaining steps are left for later.
    pub(super) fn advance_for_interval(
        &mut self,
        steps: std::ops::Range<u64>,
    ) -> Result<(), RunError> {
        if !self.potential.takes_all_chains() {
            return self.advance(steps);
        }
        let began = Instant::now();
        for k in steps {
            self.advance(k..k + 1)?;
            if began.elapsed() >= INTERVAL {
                break;
            }
        }
        Ok(())
    }

    fn advance(&mut self, steps: std::ops::Range<u64>) -> Result<(), RunError> {
        if self.exact.is_some() {
            return self.advance_exact(steps);
        }
        let (run, potential, sampler) = (self.run, self.potential, Arc::clone(&self.sampler));
        let draw = self.draw_in_segment(steps.start);
        self.with_workers(|worker, part| {
            worker.advance(run, potential, &sampler, steps.clone(), draw, part)
        })?;
        self.step = steps.end;
        Ok(())
    }

    /// Returns the number of draws of the present segment before a step.
    pub(super) fn draw_in_segment(&self, step: u64) -> usize {
        (self.layout.spec.draws_at(step) - self.segment_start()) as usize
    }

    /// Calls a function with every worker and its part of the segment: in parallel, unless the
    /// potential takes all chains at once.
    pub(super) fn with_workers(
        &mut self,
        work: impl Fn(&mut Worker, &mut [f64]) -> Result<(), RunError> + Sync,
    ) -> Result<(), RunError> {
        let room = self.layout.segment * self.layout.width();
        let mut rest = &mut self.begun[..];
        let mut parts = Vec::with_capacity(self.workers.len());
        for worker in &self.workers {
            let recorded = if worker.level == 0 { worker.batch.chains() * room } else { 0 };
            let (part, others) = rest.split_at_mut(recorded);
            parts.push(part);
            rest = others;
        }
        let workers = &mut self.workers;
        if self.potential.takes_all_chains() {
            return workers.iter_mut().zip(parts).try_for_each(|(worker, part)| work(worker, part));
        }
        self.pool.install(|| {
            workers.par_iter_mut().zip(parts).try_for_each(|(worker, part)| work(worker, part))
        })
    }

    /// Returns the draws of the present segment so far, without unused space; `first` is the first
    /// draw of the segment.
    pub(super) fn packed(&self, first: u64) -> Vec<f64> {
        let width = self.layout.width();
        let count = (self.layout.spec.draws_at(self.step) - first) as usize * width;
        self.begun
            .chunks_exact(self.layout.segment * width)
            .flat_map(|chain| &chain[..count])
            .copied()
            .collect()
    }

    /// Passes the segment that ends, or would end, at step `end` to the sink.
    fn deliver(&self, sink: &mut dyn Sink, end: u64) -> Result<(), RunError> {
        let segment = self.layout.segment as u64;
        let first = self.layout.spec.draws_at(end).saturating_sub(1) / segment * segment;
        let made = self.layout.spec.draws_at(self.step);
        if made == first {
            Ok(())
        } else if made - first == segment {
            Ok(sink.segment(first, &self.begun)?)
        } else {
            Ok(sink.segment(first, &self.packed(first))?)
        }
    }

    pub(super) fn progress(&mut self, elapsed: Duration) -> Progress {
        self.acceptance = self.recent_acceptance();
        Progress {
            steps: self.step,
            total: self.layout.spec.total_steps(),
            draws: self.layout.spec.draws_at(self.step),
            diverged: self.workers.iter().map(|w| w.divergences.len()).sum(),
            acceptance: self.acceptance,
            elapsed,
        }
    }

    /// Returns the mean acceptance probability of all chains in the last iteration, averaged with
    /// the means of earlier reports: the weights of those fall by e per second.
    fn recent_acceptance(&self) -> Option<f64> {
        let recorded = self.workers.iter().filter(|worker| worker.level == 0);
        let transitions = recorded.filter_map(|worker| worker.transition.as_ref());
        let sum: f64 = transitions.flat_map(|transition| &transition.acceptance).sum();
        let mean = self.exact.map(|_| sum / self.run.chains as f64)?;
        let before = self.acceptance.unwrap_or(mean);
        Some(before + INTERVAL.as_secs_f64() * (mean - before))
    }

    pub(super) fn divergences(&self) -> Vec<Divergence> {
        let mut all: Vec<_> = self.workers.iter().flat_map(|w| &w.divergences).copied().collect();
        all.sort_by_key(|d| d.chain);
        all
    }

    fn outcome(&self, stopped: bool) -> Outcome {
        let divergences = self.divergences();
        let average = |(i, (name, _)): (usize, &TestFunction)| {
            let sums =
                self.workers.iter().flat_map(|w| &w.sums).skip(i).step_by(self.run.functions.len());
            let mut chains: Vec<f64> = sums.map(|sum| sum / self.workers[0].weight).collect();
            for divergence in &divergences {
                chains[divergence.chain] = f64::NAN;
            }
            Average { name: name.clone(), chains }
        };
        let averages = self.run.functions.iter().enumerate().map(average).collect();
        let tuning = self.levels.as_ref().map(|levels| levels.adaptations[0].tuning.clone());
        let tempering = self.tempering();
        let draws = self.layout.spec.draws_at(self.step);
        Outcome { draws, stopped, divergences, averages, tuning, tempering }
    }
}

/// Number of steps per interval, adapted to their duration. It does not affect the draws.
pub(super) struct Pace {
    pub(super) steps: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { steps: 16 }
    }
}

impl Pace {
    /// Measures the duration of the present number of steps, and chooses the next number.
    pub(super) fn time(
        &mut self,
        work: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let start = Instant::now();
        work()?;
        let ratio = INTERVAL.as_secs_f64() / start.elapsed().as_secs_f64().max(1e-9);
        self.steps = ((self.steps as f64 * ratio.clamp(0.25, 4.0)) as u64).clamp(1, 1 << 24);
        Ok(())
    }
}

//! The parts of an execution that only exact sampling has: starting points, descent, adaptation and iterations.

use super::error::RunError;
use super::execution::Execution;
use super::worker::Worker;
use crate::exact::{Adaptation, Iteration, descend};
use crate::{Schedule, Tuning};
use std::sync::Arc;

impl Execution<'_> {
    /// Replaces random starting points of exact sampling at which f or its gradient is not finite.
    pub(super) fn place_chains(&mut self) -> Result<(), RunError> {
        if self.exact.is_none() {
            return Ok(());
        }
        let (run, potential, dim) = (self.run, self.potential, self.layout.dim);
        for worker in &mut self.workers {
            let Some(transition) = &mut worker.transition else { continue };
            transition.evaluate(potential, &mut worker.batch);
            for chain in 0..worker.batch.chains() {
                let here = chain * dim..(chain + 1) * dim;
                let finite = |value: f64, gradient: &[f64]| {
                    value.is_finite() && gradient.iter().all(|g| g.is_finite())
                };
                if finite(transition.values[chain], &worker.batch.gradient[here.clone()]) {
                    continue;
                }
                let number = run.first_chain + worker.first + chain;
                let found = run.start.others(run.seed, number, dim).find(|point| {
                    let (mut value, mut gradient) = ([0.0], vec![0.0; dim]);
                    potential.evaluate(point, &mut value, &mut gradient);
                    finite(value[0], &gradient)
                });
                let first = worker.batch.x[here.clone()].to_vec();
                let point = found.ok_or(RunError::NotFinite { chain: number, at: first })?;
                worker.batch.x[here].copy_from_slice(&point);
            }
        }
        if potential.has_failed() { Err(RunError::Potential(0)) } else { Ok(()) }
    }

    /// Moves the chains to the neighbourhood of the typical set, and begins the adaptation there.
    fn begin_adaptation(&mut self) -> Result<(), RunError> {
        let Some((kinetic, _)) = self.exact.filter(|_| self.run.adapt) else { return Ok(()) };
        let potential = self.potential;
        self.with_workers(|worker, _| {
            descend(potential, kinetic.beta(), &mut worker.batch.x);
            Ok(())
        })?;
        if potential.has_failed() {
            return Err(RunError::Potential(0));
        }
        let tuning = Tuning::plain(self.run.schedule.at(0)?, self.run.path.max(1.0), self.layout.dim);
        self.adaptation = Some(Adaptation::new(tuning, self.run.warmup, self.run.chains));
        Ok(())
    }

    /// Performs iterations of exact sampling. While step, scales and path are adapted, all chains learn from each other after each.
    pub(super) fn advance_exact(&mut self, steps: std::ops::Range<u64>) -> Result<(), RunError> {
        if steps.start == 0 {
            self.begin_adaptation()?;
        }
        let mut k = steps.start;
        while k < steps.end {
            let adapting = self.adaptation.is_some() && k < self.run.warmup;
            // All iterations of one call have the same step.
            let varies = self.adaptation.is_none() && !matches!(self.run.schedule, Schedule::Constant(_));
            let end = if adapting || varies { k + 1 } else { steps.end };
            self.iterate(k..end, adapting)?;
            if let Some(adaptation) = self.adaptation.as_mut().filter(|_| adapting) {
                let transitions = || self.workers.iter().filter_map(|worker| worker.transition.as_ref());
                let acceptance = transitions().flat_map(|transition| &transition.acceptance).copied();
                let turns = transitions().flat_map(|transition| &transition.turns).copied();
                let positions = self.workers.iter().map(|w| &w.batch.x[..]);
                for [chain, other] in adaptation.update(k, acceptance, turns, positions) {
                    self.put(chain, other);
                }
            }
            k = end;
        }
        Ok(())
    }

    /// Puts a chain where another one is.
    fn put(&mut self, chain: usize, other: usize) {
        let dim = self.layout.dim;
        let find = |workers: &[Worker], chain: usize| {
            let worker = workers.partition_point(|worker| worker.first <= chain) - 1;
            let start = (chain - workers[worker].first) * dim;
            (worker, start..start + dim)
        };
        let (from, there) = find(&self.workers, other);
        let (to, here) = find(&self.workers, chain);
        let x = self.workers[from].batch.x[there].to_vec();
        self.workers[to].batch.x[here].copy_from_slice(&x);
        self.workers[to].carries_gradient = false;
    }

    /// Performs iterations with the present tuning.
    fn iterate(&mut self, iterations: std::ops::Range<u64>, adapting: bool) -> Result<(), RunError> {
        let Some((mut kinetic, gamma)) = self.exact else { return Ok(()) };
        let (run, potential) = (self.run, self.potential);
        let mut sampler = Arc::clone(&self.sampler);
        let gaussian = self.gaussian.clone();
        let is_gaussian = |adaptation: &&Adaptation| adaptation.has_gaussian_velocities(iterations.start);
        if let (Some((energy, law)), Some(_)) = (&gaussian, self.adaptation.as_ref().filter(is_gaussian)) {
            kinetic = energy;
            sampler = Arc::clone(law);
        }
        let tuning = match &self.adaptation {
            Some(adaptation) => adaptation.tuning.clone(),
            None => Tuning::plain(run.schedule.at(iterations.start)?, run.path, self.layout.dim),
        };
        let k = iterations.start;
        let measures_turns = adapting && self.adaptation.as_ref().is_some_and(|a| a.measures_turns(k));
        let iteration =
            Iteration { potential, kinetic, sampler: &sampler, gamma, tuning: &tuning, measures_turns, k };
        let draw = self.draw_in_segment(k);
        self.with_workers(|worker, part| worker.iterate(run, &iteration, iterations.clone(), draw, part))?;
        self.step = iterations.end;
        Ok(())
    }
}

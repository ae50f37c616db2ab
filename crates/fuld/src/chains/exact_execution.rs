//! The parts of an execution that only exact sampling has: starting points, descent, adaptation,
//! iterations and exchanges.

use super::error::RunError;
use super::execution::Execution;
use super::outcome::Tempering;
use super::worker::Worker;
use crate::dynamics::ExactKinetic;
use crate::exact::{Iteration, Levels, descend, happens};
use crate::random::{Purpose, Stream};
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
            // A function that failed, or is no longer called, returns NaN.
            if potential.has_failed() {
                return Err(RunError::Potential(0));
            }
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
                if potential.has_failed() {
                    return Err(RunError::Potential(0));
                }
                let first = worker.batch.x[here.clone()].to_vec();
                let point = found.ok_or(RunError::NotFinite { chain: number, at: first })?;
                worker.batch.x[here].copy_from_slice(&point);
            }
        }
        Ok(())
    }

    /// Moves the chains to the neighbourhood of the typical set, and begins the adaptation there.
    fn begin_adaptation(&mut self) -> Result<(), RunError> {
        let Some((kinetic, _)) = self.exact.filter(|_| self.run.adapt) else { return Ok(()) };
        let (run, potential) = (self.run, self.potential);
        let tuning = Tuning::plain(run.schedule.at(0)?, run.path.max(1.0), self.layout.dim);
        let levels = Levels::new(&tuning, run.warmup, run.chains, run.temper);
        let factors = levels.ladder.factors();
        self.with_workers(|worker, _| {
            descend(potential, factors[worker.level] * kinetic.beta(), &mut worker.batch.x);
            Ok(())
        })?;
        if potential.has_failed() {
            return Err(RunError::Potential(0));
        }
        self.levels = Some(levels);
        Ok(())
    }

    /// Performs iterations of exact sampling. While step, scales and path are adapted, all chains
    /// of a temperature learn from each other after each.
    pub(super) fn advance_exact(&mut self, steps: std::ops::Range<u64>) -> Result<(), RunError> {
        if steps.start == 0 {
            self.begin_adaptation()?;
        }
        let mut k = steps.start;
        while k < steps.end {
            let adapting = self.levels.is_some() && k < self.run.warmup;
            // All iterations of one call have the same step.
            let varies =
                self.levels.is_none() && !matches!(self.run.schedule, Schedule::Constant(_));
            let end = if adapting || varies || self.run.temper > 1 { k + 1 } else { steps.end };
            self.iterate(k..end, adapting)?;
            if adapting {
                self.adapt(k);
            }
            self.exchange(k, adapting);
            k = end;
        }
        Ok(())
    }

    /// Adapts the tuning of all temperatures after iteration k.
    fn adapt(&mut self, k: u64) {
        let Some(levels) = &mut self.levels else { return };
        let size = self.workers.len() / levels.adaptations.len();
        for (adaptation, workers) in
            levels.adaptations.iter_mut().zip(self.workers.chunks_exact_mut(size))
        {
            let transitions = || workers.iter().filter_map(|worker| worker.transition.as_ref());
            let acceptance = transitions().flat_map(|transition| &transition.acceptance).copied();
            let turns = transitions().flat_map(|transition| &transition.turns).copied();
            let positions = workers.iter().map(|worker| &worker.batch.x[..]);
            for [chain, other] in adaptation.update(k, acceptance, turns, positions) {
                put(workers, chain, other);
            }
        }
    }

    /// Exchanges positions between temperatures after iteration k.
    fn exchange(&mut self, k: u64, adapting: bool) {
        let (Some(levels), Some((kinetic, _))) = (&mut self.levels, self.exact) else { return };
        let (run, beta, factors) = (self.run, kinetic.beta(), levels.ladder.factors());
        let size = self.workers.len() / factors.len();
        for level in levels.ladder.pairs() {
            let difference = (factors[level] - factors[level + 1]) * beta;
            let (cold, hot) = self.workers[level * size..][..2 * size].split_at_mut(size);
            let mut sum = 0.0;
            for (cold, hot) in cold.iter_mut().zip(hot) {
                let number = run.stream_number(cold.first, level) as u64;
                let (Some(here), Some(there)) = (&mut cold.transition, &mut hot.transition) else {
                    continue;
                };
                for chain in 0..here.values.len() {
                    let rise = difference * (here.values[chain] - there.values[chain]);
                    let probability = libm::exp(rise.min(0.0));
                    sum += probability;
                    let word =
                        Stream::new(run.seed, number + chain as u64, Purpose::Exchange).word(k);
                    if happens(probability, word) {
                        here.exchange(&mut cold.batch, (&mut *there, &mut hot.batch), chain);
                        levels.trips.exchange(level, cold.first + chain);
                    }
                }
            }
            levels.ladder.update(level, sum / run.chains as f64, adapting);
        }
        if adapting {
            levels.widen(&factors);
        } else {
            levels.trips.count();
        }
    }

    /// Returns the temperatures; None unless there are several.
    pub(super) fn tempering(&self) -> Option<Tempering> {
        let levels = self.levels.as_ref().filter(|_| self.run.temper > 1)?;
        let hotter =
            levels.adaptations[1..].iter().map(|adaptation| adaptation.tuning.mean_steps());
        let (factors, acceptance) = (levels.ladder.factors(), levels.ladder.acceptance());
        Some(Tempering {
            factors,
            acceptance,
            round_trips: levels.trips.complete(),
            gradients: hotter.sum(),
        })
    }

    /// Performs iterations with the present tuning.
    fn iterate(
        &mut self,
        iterations: std::ops::Range<u64>,
        adapting: bool,
    ) -> Result<(), RunError> {
        let Some((kinetic, gamma)) = self.exact else { return Ok(()) };
        let (run, potential, k) = (self.run, self.potential, iterations.start);
        let (sampler, gaussian) = (Arc::clone(&self.sampler), self.gaussian.clone());
        let tunings = match &self.levels {
            Some(levels) => {
                levels.adaptations.iter().map(|adaptation| adaptation.tuning.clone()).collect()
            }
            None => vec![Tuning::plain(run.schedule.at(k)?, run.path, self.layout.dim)],
        };
        let factors =
            self.levels.as_ref().map_or_else(|| vec![1.0], |levels| levels.ladder.factors());
        // The phases of the adaptation are the same at all temperatures.
        let adaptation =
            self.levels.as_ref().filter(|_| adapting).map(|levels| &levels.adaptations[0]);
        let measures_turns = adaptation.is_some_and(|adaptation| adaptation.measures_turns(k));
        let begins = adaptation.is_some_and(|adaptation| adaptation.has_gaussian_velocities(k));
        let (kinetic, sampler) = match &gaussian {
            Some((energy, law)) if begins => (energy as &dyn ExactKinetic, law),
            _ => (kinetic, &sampler),
        };
        let draw = self.draw_in_segment(k);
        self.with_workers(|worker, part| {
            let (tuning, factor) = (&tunings[worker.level], factors[worker.level]);
            let iteration =
                Iteration { potential, kinetic, sampler, gamma, tuning, factor, measures_turns, k };
            worker.iterate(run, &iteration, iterations.clone(), draw, part)
        })?;
        self.step = iterations.end;
        Ok(())
    }
}

/// Puts a chain where another one is. The workers are all those of one temperature.
fn put(workers: &mut [Worker], chain: usize, other: usize) {
    let find = |chain: usize| {
        let worker = workers.partition_point(|worker| worker.first <= chain) - 1;
        (worker, chain - workers[worker].first)
    };
    let ((to, here), (from, there)) = (find(chain), find(other));
    let dim = workers[to].batch.dim;
    let source = &workers[from];
    let [x, gradient] =
        [&source.batch.x, &source.batch.gradient].map(|all| all[there * dim..][..dim].to_vec());
    let value = source.transition.as_ref().map(|transition| transition.values[there]);
    let Worker { batch, transition, .. } = &mut workers[to];
    batch.x[here * dim..][..dim].copy_from_slice(&x);
    batch.gradient[here * dim..][..dim].copy_from_slice(&gradient);
    if let (Some(transition), Some(value)) = (transition, value) {
        transition.values[here] = value;
    }
}

//! One run of FULD on one target: its effective draws, its errors and its warnings.

use super::counted::Counted;
use super::targets::Problem;
use super::{Cost, Measured, PlannedRun};
use crate::Context;
use crate::context::Interrupted;
use fuld::chains::MemorySink;
use fuld::{Control, Run};
use fuld_sample::{Adapted, SampleRequest, Summary, Target, largest};
use fuld_train::run_all::{Workers, run_all};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Makes all runs, each on one core, the longest first.
pub(super) fn all(
    context: &Context<'_>,
    runs: &[PlannedRun<'_>],
) -> anyhow::Result<Vec<(Measured, Cost)>> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| runs[b].work().total_cmp(&runs[a].work()));
    let total: f64 = runs.iter().map(PlannedRun::work).sum();
    let made = Mutex::new((0.0, vec![None; runs.len()]));
    let make = |_: usize, &place: &usize| -> anyhow::Result<Control> {
        let result = fuld(context, &runs[place])?;
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        made.0 += runs[place].work();
        made.1[place] = Some(result);
        context.progress(made.0 / total);
        Ok(context.stop.control())
    };
    run_all(&order, Workers::single_threaded(context.cores()), &make)?;
    let (_, results) = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(results.into_iter().collect::<Option<_>>().ok_or(Interrupted)?)
}

/// Samples with the defaults of `fuld sample` at a tail index, and with temperatures if given.
fn fuld(context: &Context<'_>, planned: &PlannedRun<'_>) -> anyhow::Result<(Measured, Cost)> {
    let &PlannedRun { problem, ref exact, settings: (alpha, temper), seed } = planned;
    let counted = Counted::new(Arc::clone(&problem.potential));
    let target = Target::from_potential(Box::new(counted.clone()));
    let request =
        SampleRequest { alpha: Some(alpha), temper, seed: Some(seed), ..SampleRequest::default() };
    let mut spec = request.complete_on(&target)?;
    // Tests are shorter in every respect.
    let less = context.fewer_chains;
    spec.chains = spec.chains.div_ceil(less);
    (spec.warmup, spec.draws) = (spec.warmup / less as u64, spec.draws / less as u64);
    let run = Run { threads: 1, ..spec.run(&target)? };
    let (mut sink, mut before, began) = (MemorySink::default(), 0, Instant::now());
    let outcome = run.stream(target.potential(), &mut sink, &mut |progress| {
        if progress.steps == spec.warmup {
            before = counted.count();
        }
        if context.stop.is_requested() { Control::Stop } else { Control::Continue }
    })?;
    let (seconds, gradients) = (began.elapsed().as_secs_f64(), counted.count() - before);
    context.check_stop()?;
    let draws = sink.into_draws().ok_or(Interrupted)?;
    let (lost, adapted) = (outcome.divergences.len(), Adapted::new(&outcome));
    let stop = |_| context.stop.is_requested();
    let summary = Summary::new(&draws, lost, adapted, &spec, target.names(), exact, &stop)?;
    let remarks = summary.remarks(&spec);
    let warnings: Vec<&str> = remarks
        .iter()
        .filter(|remark| remark.is_warning)
        .map(|remark| remark.section.short())
        .collect();
    let coordinates: Vec<_> = (0..target.dim()).map(|i| draws.coordinate(i)).collect();
    let measured = Measured {
        target: problem.name.into(),
        method: spec.system.name().into(),
        alpha: Some(alpha),
        seed,
        gradients,
        ess: summary.coordinates.iter().map(|c| c.ess_bulk).fold(f64::INFINITY, f64::min),
        r_hat: summary.coordinates.iter().map(|c| c.r_hat).fold(1.0, f64::max),
        z: worst(problem, &coordinates)?,
        warnings: warnings.join(", "),
    };
    Ok((measured.clone(), measured.cost(seconds)))
}

/// Returns the largest error over all coordinates, in units of its Monte Carlo standard error.
pub(super) fn worst(problem: &Problem, coordinates: &[Vec<Vec<f64>>]) -> anyhow::Result<f64> {
    let each = problem.answers.par_iter().zip(coordinates).map(|(answer, draws)| answer.z(draws));
    let all: Vec<f64> = each.collect::<Result<_, _>>()?;
    // NaN comes from draws that are all equal.
    Ok(largest(all))
}

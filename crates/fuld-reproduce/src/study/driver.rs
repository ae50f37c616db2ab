//! The driver of all studies: trains the runs whose results are not kept yet, and returns all results.
//!
//! Results are kept in the subfolder `training` of the exhibit's folder, by specification and version, so an interrupted study
//! continues and a finished one is never trained twice.

use super::image_set::ImageSet;
use super::network_runs::{NetworkRow, PlannedRun};
use super::step_time::StepTimes;
use super::{grid, step_time};
use crate::context::{Context, Interrupted};
use anyhow::Context as _;
use fuld::Control;
use fuld_train::run_all::{StoredRun, run_stored};
use fuld_train::spec::TrainRequest;
use fuld_train::stored::Stored;
use fuld_train::train::{MomentumRun, NetworkRun, RunResult};
use std::collections::HashMap;
use std::ops::Range;

/// The paper measures every 100 iterations and reports the mean of the last two measurements.
const BETWEEN_MEASUREMENTS: u64 = 100;

/// Returns a request for a run of so many steps that is measured only twice, at the end.
pub(crate) fn steps(iterations: u64) -> TrainRequest {
    TrainRequest {
        iterations: Some(iterations),
        measure_every: Some(iterations.saturating_sub(BETWEEN_MEASUREMENTS).max(1)),
        ..TrainRequest::default()
    }
}

/// Returns `count` seeds from `first` on, or the last ones there are.
pub(crate) fn seeds(first: u64, count: u64) -> Range<u64> {
    let first = first.min(u64::MAX - count);
    first..first + count
}

/// Trains the missing runs of a study and returns the results of all runs in order. Equal runs are trained once. `what` names the runs
/// in the note to the user; `progress` is the part of the exhibit's progress that this training makes up.
pub(crate) fn train<R: StoredRun + Clone>(
    context: &Context<'_>,
    what: &str,
    runs: &[R],
    progress: Range<f64>,
) -> anyhow::Result<Vec<R::Outcome>>
where
    R::Outcome: Clone,
{
    let folder = context.folder().join("training");
    let mut unique: Vec<R> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    // The longest first: the last run should not keep one core busy alone.
    let mut order: Vec<&R> = runs.iter().collect();
    order.sort_by(|a, b| b.work().total_cmp(&a.work()));
    for run in order {
        places.entry(run.name()).or_insert_with(|| {
            unique.push(run.clone());
            unique.len() - 1
        });
    }
    let (mut missing, mut stale, mut seconds) = (0, 0, 0.0);
    for run in &unique {
        match run.stored(&folder)? {
            Stored::Current(_) => continue,
            Stored::Missing => {}
            Stored::OtherVersion(_) | Stored::OtherSpec(_) => stale += 1,
        }
        missing += 1;
        seconds += run.work();
    }
    let threads = match context.threads() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let work = announcement(unique.len(), missing, stale, seconds / threads as f64, threads);
    context.note(&format!("{what}: {work}"));
    let watch = |done: f64| {
        let share = if seconds > 0.0 { done / seconds } else { 1.0 };
        context.progress(progress.start + share * (progress.end - progress.start));
        context.stop().control()
    };
    if watch(0.0) == Control::Stop {
        return Err(Interrupted.into());
    }
    let results = run_stored(&unique, &folder, threads, &watch)
        .with_context(|| format!("training in {}", folder.display()))?
        .ok_or(Interrupted)?;
    Ok(runs.iter().map(|run| results[places[&run.name()]].clone()).collect())
}

/// Returns the sentence that says what will be trained.
fn announcement(runs: usize, missing: usize, stale: usize, seconds: f64, threads: usize) -> String {
    let before = match runs - missing {
        0 => String::new(),
        before => format!(", {before} of them trained before"),
    };
    let stale = match stale {
        0 => String::new(),
        stale => {
            format!(", {stale} of them trained again because another version or specification made them")
        }
    };
    format!("{runs} runs{before}{stale}; about {} on {threads} threads", duration(seconds))
}

/// Returns a time in the largest unit that leaves a number above one.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} hours", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// The runs of a study of networks, trained.
pub(crate) struct Trained {
    /// One row per run.
    pub(crate) rows: Vec<NetworkRow>,
    /// The complete results, in the same order.
    pub(crate) results: Vec<RunResult>,
    /// The largest momenta, in the order of the followed runs.
    pub(crate) largest_v: Vec<f64>,
}

/// Trains the runs of a study of networks, follows the momenta of some runs for so many steps, and writes the runs as a sweep.
pub(crate) fn train_networks(
    context: &Context<'_>,
    study: &str,
    planned: &[PlannedRun],
    followed: &[(PlannedRun, u64)],
) -> anyhow::Result<Trained> {
    let data = context.data()?;
    let specs = planned.iter().chain(followed.iter().map(|(run, _)| run)).map(|run| &run.spec);
    let times = StepTimes::measure(specs, data, &|| context.stop().control())?.ok_or(Interrupted)?;
    let runs: Vec<NetworkRun<'_>> = planned
        .iter()
        .map(|run| NetworkRun { spec: run.spec.clone(), data, seconds: times.seconds(&run.spec) })
        .collect();
    let follow: Vec<MomentumRun<'_>> = followed
        .iter()
        .map(|(run, steps)| {
            let seconds = times.seconds(&run.spec) * *steps as f64 / run.spec.iterations as f64;
            MomentumRun { spec: run.spec.clone(), data, steps: *steps, seconds }
        })
        .collect();
    let [main, rest] = [step_time::total(&runs), step_time::total(&follow)];
    let split = if main + rest > 0.0 { main / (main + rest) } else { 1.0 };
    grid::write(context.folder(), planned)?;
    let what = format!("{study} on {}", ImageSet::named(data.name).title());
    let results = train(context, &what, &runs, 0.0..split)?;
    let momenta = format!("momenta of {what}");
    let largest = if follow.is_empty() { Vec::new() } else { train(context, &momenta, &follow, split..1.0)? };
    Ok(Trained {
        rows: planned.iter().zip(&results).map(|(run, result)| NetworkRow::new(run, result)).collect(),
        results,
        largest_v: largest.into_iter().map(|momentum| momentum.largest_v).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_fits() {
        let texts = [12.0, 600.0, 7_200.0, 400_000.0].map(duration);
        assert_eq!(texts, ["12 s", "10 minutes", "2.0 hours", "4.6 days"]);
    }

    #[test]
    fn every_first_seed_has_others_after_it() {
        assert_eq!((seeds(7, 5), seeds(u64::MAX, 5)), (7..12, u64::MAX - 5..u64::MAX));
    }

    #[test]
    fn stale_results_are_announced() {
        assert_eq!(announcement(20, 20, 0, 12.0, 2), "20 runs; about 12 s on 2 threads");
        let text = announcement(20, 8, 3, 12.0, 2);
        assert!(text.starts_with("20 runs, 12 of them trained before, 3 of them trained again"), "{text}");
    }
}

//! The driver of all studies: trains the runs whose results are not kept yet, and returns all
//! results.
//!
//! Results are kept in the subfolder `training` of the exhibit's folder, by specification and
//! version, so an interrupted study continues and a finished one is never trained twice.

use super::grid;
use super::image_set::ImageSet;
use super::network_row::{LabelledRun, NetworkRow};
use super::step_time::StepTimes;
use crate::context::{Context, Interrupted};
use anyhow::Context as _;
use fuld::Control;
use fuld_train::run_all::Workers;
use fuld_train::run_stored::{StoredRun, checkpoint_file, run_stored};
use fuld_train::spec::TrainSpec;
use fuld_train::stored::Stored;
use fuld_train::train::{MomentumRun, NetworkRun, RunResult, RunStatus};
use std::collections::HashMap;
use std::ops::Range;

/// The subfolder of an exhibit with the results of its runs.
pub(crate) const TRAINING: &str = "training";

/// Trains the missing runs of a study and returns the results of all runs in order. Equal runs are
/// trained once. `what` names the runs in the note to the user; `progress` is the part of the
/// exhibit's progress that this training makes up.
pub(crate) fn train<R: StoredRun + Clone>(
    context: &Context<'_>,
    what: &str,
    runs: &[R],
    progress: Range<f64>,
) -> anyhow::Result<Vec<R::Outcome>>
where
    R::Outcome: Clone,
{
    let folder = context.folder.join(TRAINING);
    let mut unique: Vec<R> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for run in longest_first(runs) {
        places.entry(run.name()).or_insert_with(|| {
            unique.push(run.clone());
            unique.len() - 1
        });
    }
    let (mut missing, mut stale, mut seconds) = (0, 0, 0.0);
    for run in &unique {
        match run.stored(&folder)? {
            Stored::Current(_) => continue,
            Stored::Missing => {
                let checkpoint = checkpoint_file(&folder, &run.name());
                stale += usize::from(run.stale_checkpoint(&checkpoint).is_some());
            }
            Stored::OtherVersion(_) | Stored::OtherSpec(_) => stale += 1,
        }
        missing += 1;
        seconds += run.work();
    }
    let threads = context.cores();
    let workers = Workers::on(context.device, threads);
    let expected = seconds / workers.count as f64;
    if missing > 0 {
        (context.on_expected)(expected / (progress.end - progress.start));
    }
    let work = announcement(unique.len(), missing, stale, expected, threads);
    (context.on_note)(&format!("{what}: {work}"));
    let watch = |done: f64| {
        let share = if seconds > 0.0 { done / seconds } else { 1.0 };
        context.progress(progress.start + share * (progress.end - progress.start));
        context.stop.control()
    };
    if watch(0.0) == Control::Stop {
        return Err(Interrupted.into());
    }
    let results = run_stored(&unique, &folder, workers, &watch)
        .with_context(|| format!("training in {}", folder.display()))?
        .ok_or(Interrupted)?;
    Ok(runs.iter().map(|run| results[places[&run.name()]].clone()).collect())
}

/// Returns the runs in the order in which they are trained: the last one should not keep one core
/// busy alone.
pub(crate) fn longest_first<R: StoredRun>(runs: &[R]) -> Vec<&R> {
    let mut order: Vec<&R> = runs.iter().collect();
    order.sort_by(|a, b| b.work().total_cmp(&a.work()));
    order
}

/// Returns the sentence that says what will be trained.
fn announcement(runs: usize, missing: usize, stale: usize, seconds: f64, threads: usize) -> String {
    let part = |count: usize, what: &str| {
        if count == 0 { String::new() } else { format!(", {count} of them trained {what}") }
    };
    format!(
        "{runs} runs{}{}; about {} on {threads} threads",
        part(runs - missing, "before"),
        part(stale, "again because another version or specification made them"),
        duration(seconds)
    )
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
    /// The largest momenta, in the order of the followed runs.
    pub(crate) largest_v: Vec<f64>,
}

/// Trains the runs of a study of networks, follows the momenta of some runs for `followed_steps`
/// steps, and writes the runs as a sweep.
pub(crate) fn train_networks(
    context: &Context<'_>,
    study: &str,
    planned: &[LabelledRun],
    followed: &[LabelledRun],
    followed_steps: u64,
) -> anyhow::Result<Trained> {
    let data = context.data()?;
    let spec = |run: &LabelledRun| TrainSpec { device: context.device, ..run.spec.clone() };
    let specs: Vec<TrainSpec> = planned.iter().chain(followed).map(spec).collect();
    let times = StepTimes::measure(&specs, data, &|| context.stop.control())?.ok_or(Interrupted)?;
    let run =
        |run: &LabelledRun| NetworkRun { spec: spec(run), data, seconds: times.seconds(&run.spec) };
    let runs: Vec<NetworkRun<'_>> = planned.iter().map(run).collect();
    let follow = |run: &LabelledRun| {
        let seconds = times.seconds(&run.spec) * followed_steps as f64 / run.spec.iterations as f64;
        MomentumRun { spec: spec(run), data, steps: followed_steps, seconds }
    };
    let follow: Vec<MomentumRun<'_>> = followed.iter().map(follow).collect();
    let main: f64 = runs.iter().map(|run| run.seconds).sum();
    let rest: f64 = follow.iter().map(|run| run.seconds).sum();
    let split = if main + rest > 0.0 { main / (main + rest) } else { 1.0 };
    grid::write(&context.folder, planned)?;
    let what = format!("{study} on {}", ImageSet::named(data.name).title());
    let results = train(context, &what, &runs, 0.0..split)?;
    let momenta = format!("momenta of {what}");
    let largest =
        if follow.is_empty() { Vec::new() } else { train(context, &momenta, &follow, split..1.0)? };
    let row = |(run, result): (&LabelledRun, &RunResult)| {
        let means = result.summary.filter(|_| result.status == RunStatus::Finished);
        NetworkRow::new(run, result.iterations(), means)
    };
    Ok(Trained {
        rows: planned.iter().zip(&results).map(row).collect(),
        largest_v: largest.into_iter().map(|momentum| momentum.largest_v).collect(),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fuld::StopFlag;
    use fuld_train::data::DataSet;
    use fuld_train::spec::{Device, TrainRequest};
    use std::path::Path;
    use std::sync::Mutex;
    use tempfile::TempDir;

    pub(crate) fn digits() -> DataSet {
        DataSet::load("digits", Path::new("")).unwrap()
    }

    /// Continues a study of the digits in a folder until this share is done. Returns the notes, and
    /// the results if it came to the end.
    pub(crate) fn run_until<R>(
        folder: &TempDir,
        until: f64,
        study: impl Fn(&Context<'_>) -> anyhow::Result<R>,
    ) -> (String, Option<R>) {
        let (data, notes, stop) = (digits(), Mutex::new(String::new()), StopFlag::default());
        let watch = |share: f64| {
            if share >= until {
                stop.request();
            }
        };
        let results = study(&Context {
            threads: 2,
            data: Some(&data),
            stop: stop.clone(),
            on_note: Box::new(|note| notes.lock().unwrap().push_str(note)),
            on_progress: Box::new(watch),
            ..Context::new(3, folder.path())
        });
        (notes.into_inner().unwrap(), results.ok())
    }

    /// Checks that a study that is interrupted continues to the same results, and is not trained
    /// again when it is finished.
    pub(crate) fn continues<R: PartialEq + std::fmt::Debug>(
        name: &str,
        runs: usize,
        study: impl Fn(&Context<'_>) -> anyhow::Result<R>,
    ) {
        let (whole, parted) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (notes, results) = run_until(&whole, f64::INFINITY, &study);
        assert!(
            notes.starts_with(&format!("{name} on the digits: {runs} runs; about ")),
            "{notes}"
        );
        assert!(run_until(&parted, 0.4, &study).1.is_none());
        let (notes, continued) = run_until(&parted, f64::INFINITY, &study);
        let before: usize =
            notes.split([' ', ',']).filter_map(|word| word.parse().ok()).nth(1).unwrap();
        assert!((1..runs).contains(&before) && notes.contains("trained before"), "{notes}");
        assert_eq!(continued, results);
        // Everything is kept: nothing is trained again.
        let (notes, again) = run_until(&parted, f64::INFINITY, &study);
        assert!(
            notes.contains(&format!("{runs} of them trained before")) && again == results,
            "{notes}"
        );
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        let texts = [12.0, 600.0, 7_200.0, 400_000.0].map(duration);
        assert_eq!(texts, ["12 s", "10 minutes", "2.0 hours", "4.6 days"]);
    }

    /// The checkpoint of an interrupted run, changed to one of another version of the training
    /// rule.
    #[test]
    fn stale_checkpoints_are_announced() {
        let (folder, data) = (TempDir::new().unwrap(), digits());
        let request =
            TrainRequest { width: Some(8), iterations: Some(2000), ..TrainRequest::default() };
        let spec = request.spec(&data.description(), Device::Cpu).unwrap();
        let runs = [NetworkRun { spec, data: &data, seconds: 1.0 }];
        let study = |context: &Context<'_>| train(context, "a run", &runs, 0.0..1.0);
        let stop_early = || run_until(&folder, 1e-6, study);
        assert!(stop_early().1.is_none());
        let (notes, results) = stop_early();
        assert!(notes.starts_with("a run: 1 runs; about ") && results.is_none(), "{notes}");
        let path = checkpoint_file(&folder.path().join(TRAINING), &runs[0].name());
        let mut bytes = std::fs::read(&path).unwrap();
        let version = format!("version = {}", NetworkRun::VERSION);
        let at =
            bytes.windows(version.len()).position(|window| window == version.as_bytes()).unwrap();
        bytes[at + version.len() - 1] = b'1';
        bytes.truncate(bytes.len() - 8);
        let checksum = fuld::durable::fingerprint(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let (notes, _) = stop_early();
        assert!(
            notes.starts_with("a run: 1 runs, 1 of them trained again because another version"),
            "{notes}"
        );
    }

    #[test]
    fn stale_results_are_announced() {
        assert_eq!(announcement(20, 20, 0, 12.0, 2), "20 runs; about 12 s on 2 threads");
        let text = announcement(20, 8, 3, 12.0, 2);
        assert!(
            text.starts_with("20 runs, 12 of them trained before, 3 of them trained again"),
            "{text}"
        );
    }
}

//! The runs of all data sets as one sweep: resumable, and told of by the share of the work that is done.

use anyhow::{Context, bail};
use burn::backend::Flex;
use fuld::Control;
use fuld_train::data::DataSet;
use fuld_train::run_folder::DataLocation;
use fuld_train::sweep::{self, SweepEvent, SweepRun};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Between two checkpoints of a run.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

/// Trains jobs, each given with the seconds that it may take. `watch` hears how many of these are done; false if it said stop.
pub(super) fn train(
    jobs: Vec<(SweepRun, f64)>,
    data: &HashMap<String, DataSet>,
    out: &Path,
    threads: usize,
    watch: &(dyn Fn(f64) -> Control + Sync),
) -> anyhow::Result<bool> {
    std::fs::create_dir_all(out).with_context(|| format!("making {}", out.display()))?;
    let cost: HashMap<_, f64> = jobs.iter().map(|(job, cost)| (job.folder.clone(), *cost)).collect();
    let stacks: Vec<Vec<SweepRun>> = jobs.into_iter().map(|(job, _)| vec![job]).collect();
    let located = |(key, set): (&String, &DataSet)| {
        let location = DataLocation { source: set.name.into(), directory: "".into() };
        (key.clone(), (set.clone(), location))
    };
    let data = &data.iter().map(located).collect();
    let ledger = Ledger { cost, state: Mutex::default() };
    let hear = |event: SweepEvent<'_>| watch(ledger.enter(event));
    let tally = sweep::sweep::<Flex>(&stacks, data, out, threads, CHECKPOINT_EVERY, &hear)
        .with_context(|| format!("training in {}", out.display()))?;
    if tally.stopped {
        return Ok(false);
    }
    if tally.failed > 0 {
        let state = ledger.state.lock().unwrap_or_else(PoisonError::into_inner);
        bail!("{} runs failed, and the same command tries them again; {}", tally.failed, state.failure);
    }
    if tally.elsewhere > 0 {
        bail!(
            "another process is training {} of the runs in {}: wait for it, and give the same command again",
            tally.elsewhere,
            out.display()
        );
    }
    Ok(true)
}

/// How much of the work is done.
struct Ledger {
    cost: HashMap<std::path::PathBuf, f64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Of runs that ended, in seconds.
    ended: f64,
    /// Of runs under way, by worker.
    under_way: HashMap<usize, f64>,
    /// What went wrong first.
    failure: String,
}

impl Ledger {
    /// Takes note, and gives the seconds of work that are done.
    fn enter(&self, event: SweepEvent<'_>) -> f64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let cost = |job: &SweepRun| self.cost.get(&job.folder).copied().unwrap_or(0.0);
        match event {
            SweepEvent::Began { worker, .. } => drop(state.under_way.insert(worker, 0.0)),
            SweepEvent::Progress { worker, runs: [job, ..], iteration, .. } => {
                let share = iteration as f64 / job.spec.iterations as f64;
                state.under_way.insert(worker, share * cost(job));
            }
            SweepEvent::Progress { .. } | SweepEvent::Stale { .. } => {}
            SweepEvent::Ended { worker, run: job, result } => {
                state.under_way.remove(&worker);
                state.ended += cost(job);
                match result {
                    // No one looks at the weights, and those of the full grid are gigabytes.
                    Ok(_) => drop(std::fs::remove_file(job.folder.join("weights.safetensors"))),
                    Err(error) if state.failure.is_empty() => {
                        state.failure = format!("{}: {error}", job.spec.name());
                    }
                    Err(_) => {}
                }
            }
            SweepEvent::Skipped { run: job, .. } => state.ended += cost(job),
        }
        state.ended + state.under_way.values().sum::<f64>()
    }
}

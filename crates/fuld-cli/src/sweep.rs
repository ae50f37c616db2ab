//! `fuld sweep`: a grid of runs.

use super::checkpoints::Checkpoints;
use super::device::Where;
use super::live::Live;
use super::output::Output;
use super::summary::summary;
use super::{INTERRUPTED, Usage};
use crate::interrupt;
use anyhow::Context;
use burn::backend::Flex;
use burn::tensor::backend::Backend;
use fuld_train::data::DataSet;
use fuld_train::settings::{Device, Settings};
use fuld_train::sweep::{self, Job, Shard, Tally};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Train every combination of a grid of settings.
///
/// The grid is a TOML file whose keys are the settings of fuld train (measure_every for --measure-every), where a list makes an axis.
/// Tables [[grid]] are grids of their own on top of what stands above them. What an optimizer has no use for is left out for it.
///
/// Runs are independent jobs, one a core, in a folder of their own; the same command goes on where it was stopped or killed. results.csv and
/// results.parquet hold one row a run, failed ones with their error. Several processes may work in one folder, each on its --shard of
/// the jobs or all on the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A grid:
  data = \"digits\"
  width = [32, 64]
  depth = [2, 3, 4]
  alpha = [2, 1.75]
  seed = \"0..5\"

Examples:
  fuld sweep grid.toml                          all runs, on all cores
  fuld sweep grid.toml --dry-run                what would be run
  fuld sweep grid.toml --shard $SLURM_ARRAY_TASK_ID/16 --out /shared/sweep
                                                a sixteenth of them, in a cluster's job array
  fuld sweep grid.toml --device cuda            runs of equal shape together on a GPU

Exit codes: 0 all runs ended, 1 some failed or an error, 2 wrong usage, 130 interrupted and saved.")]
pub(super) struct Sweep {
    /// The grid
    grid: PathBuf,
    /// Folder for the results [default: sweeps/NAME-OF-THE-GRID]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only the I-th of N parts of the jobs, I from 1
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Say what would be run, and stop
    #[arg(long)]
    dry_run: bool,
    /// The most runs to train together on a GPU
    #[arg(long, value_name = "N", default_value_t = 128)]
    stack: usize,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    checkpoints: Checkpoints,
}

impl Sweep {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        self.place.check()?;
        Usage::unless(self.stack > 0, || "--stack must be at least 1, got 0".into())?;
        let (settings, data) = self.settings()?;
        let out = self.out.clone().unwrap_or_else(|| {
            PathBuf::from("sweeps").join(self.grid.file_stem().unwrap_or(self.grid.as_os_str()))
        });
        let jobs = sweep::jobs(settings, &out, self.shard);
        if jobs.is_empty() {
            output.note(|| "there is nothing to run in this shard of the grid".into());
        }
        if self.dry_run {
            let names: Vec<String> = jobs.iter().map(|job| job.settings.name()).collect();
            let value = || json!({ "folder": out.display().to_string(), "runs": names });
            output.result(value, || names.iter().for_each(|name| println!("{name}")))?;
            output.note(|| format!("{} runs, in {}", jobs.len(), out.display()));
            return Ok(ExitCode::SUCCESS);
        }
        std::fs::create_dir_all(&out).with_context(|| format!("making {}", out.display()))?;
        let stop = interrupt::listen()?;
        let sitting = Sitting { stop, data: &data, out: &out, checkpoints: self.checkpoints, output };
        match self.place.device {
            Device::Cpu => sitting.go::<Flex>(sweep::stacks(jobs, 1), self.place.threads()),
            #[cfg(feature = "cuda")]
            Device::Cuda => sitting.go::<burn::backend::Cuda>(sweep::stacks(jobs, self.stack), 1),
            #[cfg(not(feature = "cuda"))]
            Device::Cuda => unreachable!("refused above"),
        }
    }

    /// Every run of the grid, checked, and the data sets they need, by their fingerprints.
    fn settings(&self) -> anyhow::Result<(Vec<Settings>, HashMap<String, DataSet>)> {
        let directory = self.place.data_directory()?;
        let in_grid = || self.grid.display().to_string();
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        let (mut subjects, mut sets) = (HashMap::new(), HashMap::new());
        for request in sweep::read(&self.grid)? {
            let source = request.data.clone().unwrap_or_else(|| "digits".into());
            if !subjects.contains_key(&source) {
                let set = DataSet::load(&source, &directory).with_context(in_grid)?;
                subjects.insert(source.clone(), (set.subject(), set));
            }
            let settings = request.settings(&subjects[&source].0, self.place.device).with_context(in_grid)?;
            if seen.insert(settings.identity()) {
                all.push(settings);
            }
        }
        for (subject, set) in subjects.into_values() {
            sets.insert(subject.fingerprint, set);
        }
        Ok((all, sets))
    }
}

/// What a sitting at a sweep works on.
struct Sitting<'a> {
    stop: fuld::StopFlag,
    data: &'a HashMap<String, DataSet>,
    out: &'a Path,
    checkpoints: Checkpoints,
    output: &'a Output,
}

impl Sitting<'_> {
    fn go<B: Backend>(&self, stacks: Vec<Vec<Job>>, workers: usize) -> anyhow::Result<ExitCode> {
        let &Self { data, out, checkpoints, output, .. } = self;
        output.detail(|| {
            let jobs: usize = stacks.iter().map(Vec::len).sum();
            format!("{jobs} runs of {} data sets in {}, {workers} at a time", data.len(), out.display())
        });
        let live = Live::new(out, &stacks, workers, output, self.stop.clone());
        let every = checkpoints.checkpoint_every;
        let tally = sweep::sweep::<B>(&stacks, data, out, workers, every, &|event| live.hear(event))
            .with_context(|| format!("sweeping in {}", out.display()))?;
        live.finish();
        let rows = sweep::write(out).with_context(|| format!("writing the table in {}", out.display()))?;
        let seconds = live.seconds();
        let table = out.join("results.csv").display().to_string();
        let value = || json!({ "rows": rows, "tally": tally, "seconds": seconds, "table": table });
        output.result(value, || {
            print!("{}", summary(&rows));
            println!("\n{}", sentence(tally, seconds));
            println!("table in {table}");
        })?;
        Ok(match tally {
            Tally { stopped: true, .. } => ExitCode::from(INTERRUPTED),
            Tally { failed: 0, .. } => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        })
    }
}

fn sentence(tally: Tally, seconds: f64) -> String {
    let Tally { done, before, failed, elsewhere, stopped } = tally;
    let mut text = format!("{done} runs in {seconds:.1} s");
    if done > 0 {
        text += &format!(" ({:.2} runs/s)", done as f64 / seconds);
    }
    for (count, what) in [
        (before, "done before"),
        (failed, "failed: see the column error"),
        (elsewhere, "left to another process"),
    ] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    if stopped {
        text += "; stopped and saved: the same command goes on from there";
    }
    text
}

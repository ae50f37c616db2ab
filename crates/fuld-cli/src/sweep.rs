//! `fuld sweep`: trains a grid of runs.

use super::checkpoint_args::CheckpointArgs;
use super::compute_args::ComputeArgs;
use super::data_args::DataArgs;
use super::folder_args::FolderArgs;
use super::output::Output;
use super::sweep_progress::SweepProgress;
use super::sweep_summary::sweep_summary;
use crate::exit_code::INTERRUPTED;
use crate::interrupt;
use anyhow::Context;
use clap::builder::TypedValueParser;
use fuld_train::data::DataSet;
use fuld_train::run_all::Workers;
use fuld_train::run_folder::{DataLocation, RunFolderError};
use fuld_train::spec::{Device, TrainRequest, TrainSpec};
use fuld_train::stored::Difference;
use fuld_train::sweep::{
    self, GridError, Shard, StoredGrid, SweepCounts, SweepFolder, SweepRun, grid_requests,
    into_stacks, read_grid, sweep_runs, write_table,
};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Train every combination of a grid of settings.
///
/// The grid is a TOML file whose keys are the settings of fuld train (measure_every for
/// --measure-every). A list is an axis of the grid. Each table [[grid]] is a separate grid that
/// extends the common settings. Settings that an optimizer does not have are left out for it.
///
/// Each run uses one core and has its own folder. Repeat the command to continue an interrupted
/// sweep. results.csv and results.parquet contain one row per run; failed runs have their error. If
/// the grid changes, the results of runs that it still contains are used again; the other runs stay
/// in the folder, but not in the table. Several processes may share a folder, each with its --shard
/// of the runs or all with the same runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example of a grid:
  data = \"digits\"
  width = [32, 64]
  depth = [2, 3, 4]
  alpha = [2, 1.75]
  seed = \"0..5\"

Examples:
  fuld sweep grid.toml                          train all runs on all cores
  fuld sweep grid.toml --dry-run                list the runs
  fuld sweep grid.toml --data digits,mnist      replace the data sets of the grid
  fuld sweep grid.toml --shard $SLURM_ARRAY_TASK_ID/16 --out /shared/sweep
                                                one sixteenth of the runs, in a job array
  fuld sweep --resume --out sweeps/grid         continue the sweep in a folder
  fuld sweep grid.toml --device cuda            train runs of equal shape together on a GPU

Exit codes are listed by fuld --help; 0 means that all runs finished or diverged.",
    mut_arg("out", |arg| arg.help("Folder for the results [default: sweeps/NAME-OF-THE-GRID]")),
    mut_arg("data", |arg| {
        let replaces = "Data sets that replace those of the grid, separated by commas: digits (built in), mnist, cifar10, or folders \
                        with the files of mnist or cifar10";
        arg.help(replaces)
    }))]
pub(super) struct Sweep {
    /// File with the grid
    #[arg(required_unless_present = "resume")]
    grid: Option<PathBuf>,
    /// Train only the I-th of N parts of the runs, I from 1 to N
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// List the runs without training
    #[arg(long, conflicts_with = "fresh")]
    dry_run: bool,
    /// Largest number of runs that are trained together on a GPU
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = stack_size())]
    stack: usize,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    compute: ComputeArgs,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
}

/// The data sets of a sweep and their locations, by fingerprint.
type DataSets = HashMap<String, (DataSet, DataLocation)>;

impl Sweep {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        let (stored, name, out) = self.grid()?;
        ComputeArgs::check(stored.device)?;
        let (specs, data) = specs(&stored, &name)?;
        let grid: HashSet<String> = specs.iter().map(TrainSpec::name).collect();
        let runs = sweep_runs(specs, &out, self.shard);
        if runs.is_empty() {
            output.note(|| "this shard of the grid contains no runs".into());
        }
        if self.dry_run {
            let names: Vec<String> = runs.iter().map(|run| run.spec.name()).collect();
            let value = || json!({ "folder": out.display().to_string(), "runs": names });
            output.result(value, || names.iter().for_each(|name| println!("{name}")))?;
            output.note(|| format!("{} runs in {}", runs.len(), out.display()));
            return Ok(ExitCode::SUCCESS);
        }
        if self.folder.fresh && out.exists() {
            SweepFolder::clear(&out)?;
        }
        let folder = SweepFolder::open(&out)?;
        let stop = interrupt::listen()?;
        folder.start(&stored)?;
        let execution =
            Execution { stop, data: &data, out: &out, grid, checkpoints: self.checkpoints, output };
        let workers = Workers::on(stored.device, self.compute.threads.count());
        let stack = if stored.device == Device::Cpu { 1 } else { self.stack };
        execution.run(into_stacks(runs, stack), workers)
    }

    /// Returns the grid, its file name for errors, and the folder of the sweep.
    fn grid(&self) -> anyhow::Result<(StoredGrid, PathBuf, PathBuf)> {
        if self.folder.resume {
            return self.resumed_grid();
        }
        let path = self.grid.clone().unwrap_or_default();
        let stored = StoredGrid {
            grid: read_grid(&path)?,
            data: self.data.data.clone(),
            data_dir: self.data.directory()?,
            device: self.compute.device()?,
        };
        let name = path.file_stem().unwrap_or(path.as_os_str());
        let out = self.folder.out.clone().unwrap_or_else(|| PathBuf::from("sweeps").join(name));
        Ok((stored, path, out))
    }

    /// Returns the grid in the folder. Settings that are given beside --resume must be equal to
    /// those of the sweep.
    ///
    /// The location of the data sets is not a setting of the sweep: --data-dir may name another
    /// one.
    fn resumed_grid(&self) -> anyhow::Result<(StoredGrid, PathBuf, PathBuf)> {
        let out = self.folder.resumed()?.to_path_buf();
        let mut stored = SweepFolder::started(&out)?;
        let given = match &self.grid {
            Some(path) => read_grid(path)?,
            None => stored.grid.clone(),
        };
        let other = |name: &str, stored: &str, wanted: &str| {
            let text = |value: &str| match value {
                "" => format!("no {name}"),
                value => format!("{name} = {value}"),
            };
            Difference { stored: text(stored), wanted: text(wanted) }
        };
        // A grid without data sets is one of the digits, so naming them changes nothing.
        let requests = |data: &[String]| -> Result<Vec<TrainRequest>, GridError> {
            let all = grid_requests(&stored.grid, data)
                .map_err(|reason| GridError::Invalid { path: out.join("grid.toml"), reason })?;
            let named = |request: TrainRequest| {
                let data = Some(request.data.unwrap_or_else(|| "digits".into()));
                TrainRequest { data, ..request }
            };
            Ok(all.into_iter().map(named).collect())
        };
        let device = self.compute.requested()?.unwrap_or(stored.device);
        let difference = if given != stored.grid {
            Some(Difference::between(&stored.grid, &given))
        } else if !self.data.data.is_empty()
            && requests(&self.data.data)? != requests(&stored.data)?
        {
            Some(other("data", &stored.data.join(","), &self.data.data.join(",")))
        } else if device != stored.device {
            Some(other("device", &stored.device.to_string(), &device.to_string()))
        } else {
            None
        };
        if let Some(difference) = difference {
            return Err(RunFolderError::OtherRun { path: out, difference }.into());
        }
        stored.data_dir = self.data.data_dir.clone().unwrap_or(stored.data_dir);
        Ok((stored, out.join("grid.toml"), out))
    }
}

/// Parses the size of a stack. The grids of a GPU's kernels have at most 65,535 rows.
fn stack_size() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u16).range(1..).map(usize::from)
}

/// Returns the specifications of the grid without duplicates, and their data sets.
fn specs(stored: &StoredGrid, name: &Path) -> anyhow::Result<(Vec<TrainSpec>, DataSets)> {
    let StoredGrid { grid, data, data_dir, device } = stored;
    let in_grid = || name.display().to_string();
    let (mut all, mut distinct) = (Vec::new(), HashSet::new());
    let (mut descriptions, mut sets) = (HashMap::new(), DataSets::new());
    let requests = grid_requests(grid, data)
        .map_err(|reason| GridError::Invalid { path: name.into(), reason })?;
    for request in requests {
        let source = request.data.clone().unwrap_or_else(|| "digits".into());
        if !descriptions.contains_key(&source) {
            let set = DataSet::load(&source, data_dir).with_context(in_grid)?;
            let description = set.description();
            let location = DataLocation { source: source.clone(), data_dir: data_dir.clone() };
            sets.insert(description.fingerprint.clone(), (set, location));
            descriptions.insert(source.clone(), description);
        }
        let spec = request.spec(&descriptions[&source], *device).with_context(in_grid)?;
        if distinct.insert(spec.to_toml()) {
            all.push(spec);
        }
    }
    Ok((all, sets))
}

/// The inputs of [`sweep::sweep`] that do not depend on the device.
struct Execution<'a> {
    stop: fuld::StopFlag,
    data: &'a DataSets,
    out: &'a Path,
    /// The names of all runs of the grid, also of those in other shards.
    grid: HashSet<String>,
    checkpoints: CheckpointArgs,
    output: &'a Output,
}

impl Execution<'_> {
    fn run(&self, stacks: Vec<Vec<SweepRun>>, workers: Workers) -> anyhow::Result<ExitCode> {
        let &Self { data, out, checkpoints, output, .. } = self;
        output.detail(|| {
            let runs: usize = stacks.iter().map(Vec::len).sum();
            format!(
                "{runs} runs of {} data sets in {}, {} at a time",
                data.len(),
                out.display(),
                workers.count
            )
        });
        let progress =
            SweepProgress::new(out, &self.grid, &stacks, workers.count, output, self.stop.clone());
        let every = checkpoints.checkpoint_every;
        let counts =
            sweep::sweep(&stacks, data, out, workers, every, &|event| progress.show(event))
                .with_context(|| format!("sweeping in {}", out.display()))?;
        progress.finish();
        let rows = write_table(out, &self.grid)
            .with_context(|| format!("writing the table in {}", out.display()))?;
        let seconds = progress.seconds();
        let table = out.join("results.csv").display().to_string();
        let value =
            || json!({ "rows": rows, "counts": counts, "seconds": seconds, "table": table });
        output.result(value, || {
            print!("{}", sweep_summary(&rows));
            println!("\n{}", counts_text(counts, seconds));
            println!("table written to {table}");
        })?;
        Ok(match counts {
            SweepCounts { stopped: true, .. } => ExitCode::from(INTERRUPTED),
            SweepCounts { failed: 0, .. } => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        })
    }
}

fn counts_text(counts: SweepCounts, seconds: f64) -> String {
    let SweepCounts { done, before, failed, elsewhere, stopped } = counts;
    let mut text = format!("{done} runs in {seconds:.1} s");
    if done > 0 {
        text += &format!(" ({:.2} runs/s)", done as f64 / seconds);
    }
    for (count, what) in [
        (before, "already done"),
        (failed, "failed (see the column error)"),
        (elsewhere, "being trained by another process"),
    ] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    if stopped {
        text += "; stopped and saved: the same command continues from there";
    }
    text
}

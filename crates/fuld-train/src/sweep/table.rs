//! The table of a sweep: one row per run, read from the folders of the runs.

use super::failures::{self, RunFailure};
use crate::run_folder::{RunFolder, read_result};
use crate::spec::{TRAINING_VERSION, TrainSpec};
use crate::stored::Stored;
use crate::train::{FinalMeans, RunResult, RunStatus};
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// A cell of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Cell {
    Text(Option<String>),
    Whole(Option<i64>),
    Number(Option<f64>),
}

/// The row of a run: its cells by column.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    pub(super) cells: Vec<(&'static str, Cell)>,
}

/// The end of a run.
enum RunEnd {
    Result(Box<RunResult>),
    Failed(Box<RunFailure>),
    /// The result cannot be used, and no sweep has recorded why.
    Unusable(String),
}

impl RunEnd {
    fn spec(&self) -> Option<&TrainSpec> {
        match self {
            Self::Result(result) => Some(&result.spec),
            Self::Failed(failure) => Some(&failure.spec),
            Self::Unusable(_) => None,
        }
    }
}

/// Returns the rows of those runs of the grid that have ended, ordered by their settings. `grid`
/// contains the names of the runs. Runs of other grids, runs that no sweep made, and symbolic links
/// are not listed.
///
/// Results are written under another name and renamed when they are complete, so a partial result
/// is never read.
pub(super) fn sweep_rows(out: &Path, grid: &HashSet<String>) -> io::Result<Vec<SweepRow>> {
    let folder = out.join("runs");
    let mut failed = failures::all(out)?;
    failed.retain(|name, _| grid.contains(name));
    let mut ends = Vec::new();
    for entry in
        if folder.exists() { Some(fs::read_dir(folder)?) } else { None }.into_iter().flatten()
    {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !grid.contains(&name) || !RunFolder::is_made_by_sweep(&entry.path()) {
            continue;
        }
        let unusable = match read_result(&entry.path()) {
            Ok(Stored::Current(result)) if result.spec.name() == name => {
                failed.remove(&name);
                ends.push((name, RunEnd::Result(Box::new(result))));
                continue;
            }
            Ok(Stored::Current(result)) => {
                format!("the folder contains the result of another run, {}", result.spec.name())
            }
            Ok(Stored::OtherVersion(version)) => format!(
                "made by version {version} of the training rule, now {TRAINING_VERSION}: sweep its grid again"
            ),
            Ok(Stored::Missing | Stored::OtherSpec(_)) => continue,
            Err(error) => error.to_string(),
        };
        if !failed.contains_key(&name) {
            ends.push((name, RunEnd::Unusable(unusable)));
        }
    }
    ends.extend(failed.into_iter().map(|(name, failure)| (name, RunEnd::Failed(failure.into()))));
    ends.sort_by_cached_key(|(name, end)| {
        let key = end.spec().map(|s| {
            (s.data.clone(), s.width, s.depth, s.optimizer.to_string(), s.alpha.to_string(), s.seed)
        });
        (key.is_none(), key, name.clone())
    });
    Ok(ends.into_iter().map(|(name, end)| row(name, &end)).collect())
}

fn row(name: String, end: &RunEnd) -> SweepRow {
    let s = end.spec();
    let (result, error) = match end {
        RunEnd::Result(result) => (Some(result), None),
        RunEnd::Failed(failure) => (None, Some(failure.error.clone())),
        RunEnd::Unusable(error) => (None, Some(error.clone())),
    };
    let status = match result.map(|result| result.status) {
        None => "failed",
        Some(RunStatus::Finished) => "finished",
        Some(RunStatus::Diverged { .. }) => "diverged",
    };
    // Measurements before a divergence are not results.
    let means = result
        .filter(|result| result.status == RunStatus::Finished)
        .and_then(|result| result.summary);
    let text = |of: fn(&TrainSpec) -> String| Cell::Text(s.map(of));
    let whole =
        |number: Option<u64>| Cell::Whole(number.and_then(|number| i64::try_from(number).ok()));
    let size = |of: fn(&TrainSpec) -> usize| whole(s.map(|s| of(s) as u64));
    let number = |of: fn(&TrainSpec) -> Option<f64>| Cell::Number(s.and_then(of));
    let mean = |of: fn(&FinalMeans) -> f64| Cell::Number(means.as_ref().map(of));
    let cells = vec![
        ("run", Cell::Text(Some(name))),
        ("data", text(|s| s.data.clone())),
        ("width", size(|s| s.width)),
        ("depth", size(|s| s.depth)),
        ("batch", size(|s| s.batch)),
        ("iterations", whole(s.map(|s| s.iterations))),
        ("measure_every", whole(s.map(|s| s.measure_every))),
        ("seed", whole(s.map(|s| s.seed))),
        ("optimizer", text(|s| s.optimizer.to_string())),
        // Empty if it was estimated.
        ("alpha", number(|s| Some(s.alpha))),
        ("eta", number(|s| s.eta)),
        ("gamma", number(|s| s.gamma)),
        ("beta", number(|s| s.beta)),
        ("field", Cell::Text(s.and_then(|s| s.field).map(|field| field.to_string()))),
        ("lr", number(|s| s.lr)),
        ("momentum", number(|s| s.momentum)),
        ("noise_scale", number(|s| s.noise_scale)),
        ("kappa", number(|s| s.kappa)),
        ("clip", number(|s| s.clip)),
        ("guard", number(|s| s.guard)),
        ("injected_alpha", number(|s| s.inject_noise.map(|noise| noise.alpha))),
        ("injected_scale", number(|s| s.inject_noise.map(|noise| noise.scale))),
        ("tail_index", whole(s.and_then(|s| s.tail_index))),
        ("device", text(|s| s.device.to_string())),
        ("status", Cell::Text(Some(status.into()))),
        ("reached", whole(result.map(|result| result.iterations()))),
        ("train_loss", mean(|s| s.train_loss)),
        ("train_accuracy", mean(|s| s.train_accuracy)),
        ("test_loss", mean(|s| s.test_loss)),
        ("test_accuracy", mean(|s| s.test_accuracy)),
        ("seconds", Cell::Number(result.map(|result| result.seconds))),
        ("stack", whole(result.map(|result| result.stack as u64))),
        ("version", whole(result.map(|_| u64::from(TRAINING_VERSION)))),
        ("error", Cell::Text(error)),
    ];
    SweepRow { cells }
}

/// Serialises as an object, in the order of the columns.
impl Serialize for SweepRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.cells.iter().map(|(column, cell)| (column, cell)))
    }
}

impl SweepRow {
    /// Returns a row of empty cells, for the names and types of the columns.
    pub(super) fn empty() -> Self {
        row(String::new(), &RunEnd::Unusable(String::new()))
    }

    /// Returns the columns that hold settings.
    pub fn setting_columns(&self) -> impl Iterator<Item = &'static str> {
        let columns = self.cells.iter().map(|(column, _)| *column);
        columns.skip_while(|column| *column != "data").take_while(|column| *column != "status")
    }

    /// Returns a cell as text, empty for a missing value.
    pub fn text(&self, column: &str) -> String {
        let cell = self.cells.iter().find(|(name, _)| *name == column);
        cell.map_or_else(String::new, |(_, cell)| cell.to_string())
    }

    /// Returns a cell as a number, or `None` if it is empty or text.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(Some(text)) => f.write_str(text),
            Self::Whole(Some(number)) => write!(f, "{number}"),
            Self::Number(Some(number)) => write!(f, "{number}"),
            _ => Ok(()),
        }
    }
}

/// Waits until no other process writes the files that all processes of a sweep share.
pub(super) fn lock(out: &Path) -> io::Result<File> {
    let lock =
        File::options().create(true).truncate(false).write(true).open(out.join(".table-lock"))?;
    lock.lock()?;
    Ok(lock)
}

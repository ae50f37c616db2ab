//! The table of a sweep: one row a run, made from the runs' folders, as CSV and as Parquet.

use super::failures::{self, Failure};
use super::parquet;
use crate::csv;
use crate::run_folder::read_result;
use crate::settings::{Settings, TailIndex};
use crate::train::{RunResult, Status, Summary};
use fuld::durable::replace;
use serde::{Serialize, Serializer};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// A cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Cell {
    Text(Option<String>),
    Whole(Option<i64>),
    Number(Option<f64>),
}

/// A run: its cells by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub(super) cells: Vec<(&'static str, Cell)>,
}

/// What became of a run.
enum Found {
    Result(Box<RunResult>),
    Failed(Box<Failure>),
    /// A result that cannot be read, of which no sweep has taken note.
    Unreadable(String),
}

impl Found {
    fn settings(&self) -> Option<&Settings> {
        match self {
            Self::Result(result) => Some(&result.settings),
            Self::Failed(failure) => Some(&failure.settings),
            Self::Unreadable(_) => None,
        }
    }
}

/// The rows of all runs in a sweep's folder that have ended, in the order of their settings. Half-written results do not exist:
/// a result is renamed into its place.
pub fn rows(out: &Path) -> io::Result<Vec<Row>> {
    let folder = out.join("runs");
    let mut failed = failures::all(out)?;
    let mut found = Vec::new();
    for entry in if folder.exists() { Some(fs::read_dir(folder)?) } else { None }.into_iter().flatten() {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        match read_result(&entry.path()) {
            Ok(Some(result)) => {
                failed.remove(&name);
                found.push((name, Found::Result(Box::new(result))));
            }
            Err(error) if entry.path().is_dir() && !failed.contains_key(&name) => {
                found.push((name, Found::Unreadable(error.to_string())));
            }
            _ => {}
        }
    }
    found.extend(failed.into_iter().map(|(name, failure)| (name, Found::Failed(failure.into()))));
    found.sort_by_cached_key(|(name, what)| {
        let key = what.settings().map(|s| {
            (s.data.clone(), s.width, s.depth, s.optimizer.to_string(), s.alpha.to_string(), s.seed)
        });
        (key.is_none(), key, name.clone())
    });
    Ok(found.into_iter().map(|(name, what)| row(name, &what)).collect())
}

fn row(name: String, what: &Found) -> Row {
    let s = what.settings();
    let (result, error) = match what {
        Found::Result(result) => (Some(result), None),
        Found::Failed(failure) => (None, Some(failure.error.clone())),
        Found::Unreadable(error) => (None, Some(error.clone())),
    };
    let status = match result.map(|result| result.status) {
        None => "failed",
        Some(Status::Finished) => "finished",
        Some(Status::Diverged { .. }) => "diverged",
    };
    // What a run measured before it diverged is no result.
    let summary = result.filter(|result| result.status == Status::Finished).and_then(|result| result.summary);
    let text = |of: fn(&Settings) -> String| Cell::Text(s.map(of));
    let whole = |number: Option<u64>| Cell::Whole(number.and_then(|number| i64::try_from(number).ok()));
    let size = |of: fn(&Settings) -> usize| whole(s.map(|s| of(s) as u64));
    let number = |of: fn(&Settings) -> Option<f64>| Cell::Number(s.and_then(of));
    let mean = |of: fn(&Summary) -> f64| Cell::Number(summary.as_ref().map(of));
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
        // Empty if it was found.
        ("alpha", number(|s| if let TailIndex::Given(alpha) = s.alpha { Some(alpha) } else { None })),
        ("eta", number(|s| s.eta)),
        ("gamma", number(|s| s.gamma)),
        ("beta", number(|s| s.beta)),
        ("field", Cell::Text(s.and_then(|s| s.field).map(|field| field.to_string()))),
        ("lr", number(|s| s.lr)),
        ("momentum", number(|s| s.momentum)),
        ("scale", Cell::Text(s.and_then(|s| s.scale).map(|scale| scale.to_string()))),
        ("clip", number(|s| s.clip)),
        ("noise_alpha", number(|s| s.inject_noise.map(|noise| noise.alpha))),
        ("noise_scale", number(|s| s.inject_noise.map(|noise| noise.scale))),
        ("tail_index", whole(s.and_then(|s| s.tail_index))),
        ("device", text(|s| s.device.to_string())),
        ("status", Cell::Text(Some(status.into()))),
        ("reached", whole(result.map(|result| result.reached()))),
        ("train_loss", mean(|s| s.train_loss)),
        ("train_accuracy", mean(|s| s.train_accuracy)),
        ("test_loss", mean(|s| s.test_loss)),
        ("test_accuracy", mean(|s| s.test_accuracy)),
        ("seconds", Cell::Number(result.map(|result| result.seconds))),
        ("stack", whole(result.map(|result| result.stack as u64))),
        ("error", Cell::Text(error)),
    ];
    Row { cells }
}

/// An object, in the order of the columns.
impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.cells.iter().map(|(column, cell)| (column, cell)))
    }
}

impl Row {
    /// One with the columns of every row and little else.
    pub(super) fn empty() -> Self {
        row(String::new(), &Found::Unreadable(String::new()))
    }

    /// The columns that hold settings.
    pub fn settings(&self) -> impl Iterator<Item = &'static str> {
        let columns = self.cells.iter().map(|(column, _)| *column);
        columns.skip_while(|column| *column != "data").take_while(|column| *column != "status")
    }

    /// A cell as text, empty where there is nothing.
    pub fn text(&self, column: &str) -> String {
        let cell = self.cells.iter().find(|(name, _)| *name == column);
        cell.map_or_else(String::new, |(_, cell)| cell.to_string())
    }

    /// A cell as a number.
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

/// Writes `results.csv` and `results.parquet` of all runs in the folder that have ended, one process at a time.
pub fn write(out: &Path) -> io::Result<Vec<Row>> {
    let lock = File::create(out.join("lock"))?;
    lock.lock()?;
    let rows = rows(out)?;
    replace(&out.join("results.csv"), csv(&rows).as_bytes())?;
    replace(&out.join("results.parquet"), &parquet::bytes(&rows).map_err(io::Error::other)?)?;
    Ok(rows)
}

fn csv(rows: &[Row]) -> String {
    let head = csv::line(Row::empty().cells.iter().map(|(column, _)| column.to_string()));
    let line = |row: &Row| csv::line(row.cells.iter().map(|(_, cell)| cell.to_string()));
    head + &rows.iter().map(line).collect::<String>()
}

//! The table of a sweep: one row a run, made from the runs' folders, as CSV and as Parquet.

use super::parquet;
use crate::run_folder::read_result;
use crate::settings::Settings;
use crate::train::{RunResult, Status};
use fuld::durable::replace;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Text(Option<String>),
    Whole(Option<i64>),
    Number(Option<f64>),
}

/// A run: its name, and its cells by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    name: String,
    pub(super) cells: Vec<(&'static str, Cell)>,
}

/// What became of a run.
enum Found {
    Result(Box<RunResult>),
    Failed(Settings, String),
}

/// The rows of all runs in a sweep's folder that have ended, in the order of their settings. Half-written results do not exist:
/// a result is renamed into its place.
pub fn rows(out: &Path) -> io::Result<Vec<Row>> {
    let folder = out.join("runs");
    let mut found = Vec::new();
    for entry in if folder.exists() { Some(fs::read_dir(folder)?) } else { None }.into_iter().flatten() {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(what) = look(&entry.path())? {
            found.push((name, what));
        }
    }
    found.sort_by_cached_key(|(name, what)| {
        let s = match what {
            Found::Result(result) => &result.settings,
            Found::Failed(settings, _) => settings,
        };
        (s.data.clone(), s.width, s.depth, s.optimizer.to_string(), s.alpha.to_bits(), s.seed, name.clone())
    });
    Ok(found.into_iter().map(|(name, what)| row(name, &what)).collect())
}

fn look(folder: &Path) -> io::Result<Option<Found>> {
    if let Some(result) = read_result(folder).map_err(io::Error::other)? {
        return Ok(Some(Found::Result(Box::new(result))));
    }
    let Ok(text) = fs::read_to_string(folder.join("error.toml")) else { return Ok(None) };
    let failure: Option<Failure> = toml::from_str(&text).ok();
    Ok(failure.map(|failure| Found::Failed(failure.settings, failure.error)))
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Failure {
    error: String,
    settings: Settings,
}

/// Notes in a run's folder that it failed. The next sweep tries it again.
pub(super) fn note_failure(folder: &Path, settings: &Settings, error: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let failure = Failure { error: error.into(), settings: settings.clone() };
    let text = toml::to_string(&failure).map_err(io::Error::other)?;
    replace(&folder.join("error.toml"), text.as_bytes())
}

fn row(name: String, what: &Found) -> Row {
    let (s, result, error) = match what {
        Found::Result(result) => (&result.settings, Some(result), None),
        Found::Failed(settings, error) => (settings, None, Some(error.clone())),
    };
    let status = match result.map(|result| result.status) {
        None => "failed",
        Some(Status::Finished) => "finished",
        Some(Status::Diverged { .. }) => "diverged",
    };
    let reached = match result.map(|result| result.status) {
        None => None,
        Some(Status::Finished) => Some(s.iterations),
        Some(Status::Diverged { iteration, .. }) => Some(iteration),
    };
    let summary = result.and_then(|result| result.summary);
    let text = |text: String| Cell::Text(Some(text));
    let whole = |number: u64| Cell::Whole(i64::try_from(number).ok());
    let number = Cell::Number;
    let cells = vec![
        ("run", text(name.clone())),
        ("data", text(s.data.clone())),
        ("width", whole(s.width as u64)),
        ("depth", whole(s.depth as u64)),
        ("batch", whole(s.batch as u64)),
        ("iterations", whole(s.iterations)),
        ("seed", whole(s.seed)),
        ("optimizer", text(s.optimizer.to_string())),
        ("alpha", number(Some(s.alpha))),
        ("eta", number(s.eta)),
        ("gamma", number(s.gamma)),
        ("beta", number(s.beta)),
        ("lr", number(s.lr)),
        ("momentum", number(s.momentum)),
        ("scale", Cell::Text(s.scale.map(|scale| scale.to_string()))),
        ("clip", number(s.clip)),
        ("noise_alpha", number(s.inject_noise.map(|noise| noise.alpha))),
        ("noise_scale", number(s.inject_noise.map(|noise| noise.scale))),
        ("status", text(status.into())),
        ("reached", Cell::Whole(reached.and_then(|reached| i64::try_from(reached).ok()))),
        ("train_loss", number(summary.map(|s| s.train_loss))),
        ("train_accuracy", number(summary.map(|s| s.train_accuracy))),
        ("test_loss", number(summary.map(|s| s.test_loss))),
        ("test_accuracy", number(summary.map(|s| s.test_accuracy))),
        ("seconds", number(result.map(|result| result.seconds))),
        ("stack", Cell::Whole(result.and_then(|result| i64::try_from(result.stack).ok()))),
        ("error", Cell::Text(error)),
    ];
    Row { name, cells }
}

impl Row {
    /// The run's name.
    pub fn name(&self) -> &str {
        &self.name
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
    let quoted = |text: String| {
        let plain = !text.contains([',', '"', '\n', '\r']);
        if plain { text } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let mut text = String::new();
    if let Some(first) = rows.first() {
        text += &line(first.cells.iter().map(|(column, _)| column.to_string()).collect());
    }
    for row in rows {
        text += &line(row.cells.iter().map(|(_, cell)| quoted(cell.to_string())).collect());
    }
    text
}

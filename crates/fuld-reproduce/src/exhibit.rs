//! An exhibit: an experiment that fills tables, and claims, figures and text that are pure functions of these tables.

use super::claim::Claim;
use super::context::Context;
use super::specification::{DataIdentity, Record, Specification, Versions};
use super::table::Tables;
use fuld::durable::replace;
use fuld_plot::Figure;
use std::io;
use std::path::Path;

/// An entry in the list of exhibits.
#[derive(Clone, Copy)]
pub struct Exhibit {
    /// The name in `--only`, and of the folder.
    pub id: &'static str,
    /// The heading. Exhibits of a data set have " on MNIST" appended.
    pub title: &'static str,
    /// What it shows, in a few words, for help texts and the progress bar.
    pub shows: &'static str,
    /// About how many seconds it takes on two cores: its weight in the progress bar.
    pub seconds: f64,
    /// The version of the experiment. It changes when the tables would, for a reason the settings do not name.
    pub version: u32,
    /// Whether it trains networks on a data set. Such an exhibit is made once per data set.
    pub trains: bool,
    /// The settings of the experiment: a part of its identity.
    pub settings: fn(&Context<'_>) -> anyhow::Result<toml::Table>,
    /// Fills the tables.
    pub experiment: fn(&Context<'_>) -> anyhow::Result<Tables>,
    /// A paragraph that says what is shown and how it was made.
    pub text: fn(&Tables) -> anyhow::Result<String>,
    /// The claims and how they fared.
    pub claims: fn(&Tables) -> anyhow::Result<Vec<Claim>>,
    /// The figures.
    pub figures: fn(&Tables) -> anyhow::Result<Vec<CaptionedFigure>>,
    /// Tables to be read in the report itself.
    pub shown: fn(&Tables) -> anyhow::Result<Vec<TextTable>>,
}

/// A figure and the line below it.
#[derive(Clone, Debug)]
pub struct CaptionedFigure {
    /// The figure.
    pub figure: Figure,
    /// The line.
    pub caption: String,
}

impl CaptionedFigure {
    /// Creates a figure with a caption.
    pub fn new(figure: Figure, caption: impl Into<String>) -> Self {
        Self { figure, caption: caption.into() }
    }
}

/// A table for readers: formatted text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// Headings.
    pub columns: Vec<String>,
    /// Rows with as many cells as there are headings.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Creates a table without rows.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }
}

/// Everything that the report shows of an exhibit.
#[derive(Clone, Debug)]
pub struct Presentation {
    /// The exhibit, with its data set if it has one.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The paragraph.
    pub text: String,
    /// The figures.
    pub figures: Vec<CaptionedFigure>,
    /// The tables in the page.
    pub tables: Vec<TextTable>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The names of the CSV files.
    pub files: Vec<String>,
    /// What made the tables.
    pub record: Record,
}

impl Exhibit {
    /// Returns what identifies the tables made in a context, for the exhibit called `id` with its data set.
    pub fn specification(&self, id: &str, context: &Context<'_>) -> anyhow::Result<Specification> {
        let data = if self.trains { Some(DataIdentity::of(context.data()?)) } else { None };
        Ok(Specification {
            exhibit: id.into(),
            seed: context.seed(),
            full: self.trains.then(|| context.is_full()),
            versions: Versions {
                exhibit: self.version,
                dynamics: crate::DYNAMICS_VERSION,
                training: self.trains.then_some(crate::TRAINING_VERSION),
            },
            data,
            settings: (self.settings)(context)?,
        })
    }

    /// Computes claims, figures and text from tables.
    pub fn present(&self, title: String, tables: &Tables, record: Record) -> anyhow::Result<Presentation> {
        Ok(Presentation {
            id: record.specification.exhibit.clone(),
            title,
            text: (self.text)(tables)?,
            figures: (self.figures)(tables)?,
            tables: (self.shown)(tables)?,
            claims: (self.claims)(tables)?,
            files: tables.files(),
            record,
        })
    }
}

impl Presentation {
    /// Writes the figures into the exhibit's folder.
    pub(crate) fn write_figures(&self, folder: &Path) -> io::Result<()> {
        for figure in &self.figures {
            figure.figure.files()?.iter().try_for_each(|(name, bytes)| replace(&folder.join(name), bytes))?;
        }
        Ok(())
    }
}

/// Writes the settings of sampled chains as `runs/1.toml`, `runs/2.toml`, …, each of which `fuld sample --config` runs.
pub(crate) fn write_runs(folder: &Path, context: &Context<'_>) -> io::Result<()> {
    let runs = context.runs();
    if runs.is_empty() {
        return Ok(());
    }
    let folder = folder.join("runs");
    std::fs::create_dir_all(&folder)?;
    for (number, run) in (1..).zip(runs) {
        let text = format!("# fuld sample --config {number}.toml runs these chains.\n{}", run.text());
        replace(&folder.join(format!("{number}.toml")), text.as_bytes())?;
    }
    Ok(())
}

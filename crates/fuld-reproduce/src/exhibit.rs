//! An exhibit: an experiment that fills tables, and claims, figures and text that are pure
//! functions of these tables.

use crate::claim::Claim;
use crate::context::Context;
use crate::specification::{DataIdentity, ExhibitSpec, Record, Versions};
use crate::table::{TableError, Tables};
use fuld_plot::Figure;
use fuld_train::spec::Device;

/// The results of an experiment: tables that are written as CSV and read back.
pub(crate) trait Results: Sized {
    fn to_tables(&self) -> Result<Tables, TableError>;
    fn from_tables(tables: &Tables) -> Result<Self, TableError>;
}

/// Declares a struct of [`Results`]: one field per table, with the type of its rows and, unless
/// this type is declared elsewhere, the columns. The file of a table is `FIELD.csv`.
macro_rules! results {
    ($(#[$about:meta])* $name:ident {
        $($(#[$about_row:meta])* $table:ident: $row:ident $({ $($column:tt)* })?),* $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $name { $($table: Vec<$row>),* }

        $(row! { [$(#[$about_row])*] $row $({ $($column)* })? })*

        impl crate::exhibit::Results for $name {
            fn to_tables(&self) -> Result<crate::table::Tables, crate::table::TableError> {
                let tables = crate::table::Tables::default();
                $(let tables = tables.with(stringify!($table), &self.$table)?;)*
                Ok(tables)
            }

            fn from_tables(tables: &crate::table::Tables) -> Result<Self, crate::table::TableError> {
                Ok(Self { $($table: tables.rows(stringify!($table))?),* })
            }
        }
    };
}

/// Declares the type of a row by its columns, or nothing if it has no columns here.
macro_rules! row {
    ([$(#[$about:meta])*] $row:ident) => {};
    ([$(#[$about:meta])*] $row:ident { $($column:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub(crate) struct $row { $($column)* }
    };
}

/// Defines the settings of an exhibit from names and values: `settings! { alpha: ALPHAS, chains:
/// CHAINS }`.
macro_rules! settings {
    ($($key:ident: $value:expr),* $(,)?) => {
        fn settings(_: &crate::Context<'_>) -> anyhow::Result<toml::Table> {
            Ok([$((stringify!($key).to_owned(), toml::Value::try_from($value)?)),*].into_iter().collect())
        }
    };
}

/// An exhibit of the report.
pub(crate) trait Exhibit: Results {
    /// The name in `--only`, and of the folder.
    const ID: &'static str;
    /// The heading. Exhibits of a data set have " on MNIST" appended.
    const TITLE: &'static str;
    /// What it shows, in a few words, for help texts and the progress bar.
    const SHOWS: &'static str;
    /// About how many seconds it takes on two cores, on the digits if it trains: for the progress
    /// bar.
    const SECONDS: f64;
    /// The version of the experiment. It changes when the tables would, for a reason the settings
    /// do not name.
    const VERSION: u32 = 1;
    /// Whether it trains networks on a data set. Such an exhibit is made once per data set.
    const TRAINS: bool = false;

    /// Returns the settings of the experiment: a part of its identity.
    fn settings(context: &Context<'_>) -> anyhow::Result<toml::Table>;

    /// Fills the tables.
    fn experiment(context: &Context<'_>) -> anyhow::Result<Self>;

    /// Returns a paragraph that says what is shown and how it was made.
    fn text(&self) -> String;

    /// Returns the claims and how they fared.
    fn claims(&self) -> Vec<Claim>;

    /// Returns the figures.
    fn figures(&self) -> Vec<CaptionedFigure>;

    /// Returns tables to be read in the report itself.
    fn shown(&self) -> Vec<TextTable> {
        Vec::new()
    }
}

/// An entry in the list of exhibits: an `Exhibit` without its type.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name in `--only`, and of the folder.
    pub id: &'static str,
    /// What it shows, in a few words.
    pub shows: &'static str,
    /// Whether it trains networks on a data set.
    pub trains: bool,
    pub(crate) title: &'static str,
    pub(crate) seconds: f64,
    version: u32,
    settings: fn(&Context<'_>) -> anyhow::Result<toml::Table>,
    pub(crate) experiment: fn(&Context<'_>) -> anyhow::Result<Tables>,
    /// Computes claims, figures and text for a heading, tables and their record.
    pub(crate) present: fn(String, &Tables, Record) -> Result<Presentation, TableError>,
}

impl Entry {
    pub(crate) fn of<E: Exhibit>() -> Self {
        Self {
            id: E::ID,
            shows: E::SHOWS,
            trains: E::TRAINS,
            title: E::TITLE,
            seconds: E::SECONDS,
            version: E::VERSION,
            settings: E::settings,
            experiment: |context| Ok(E::experiment(context)?.to_tables()?),
            present: Presentation::of::<E>,
        }
    }

    /// Returns what identifies the tables made in a context, for the exhibit called `id` with its
    /// data set.
    pub(crate) fn specification(
        &self,
        id: &str,
        context: &Context<'_>,
    ) -> anyhow::Result<ExhibitSpec> {
        Ok(ExhibitSpec {
            exhibit: id.into(),
            seed: context.seed,
            full: self.trains.then_some(context.full),
            device: (self.trains && context.device != Device::Cpu).then_some(context.device),
            versions: Versions {
                exhibit: self.version,
                dynamics: fuld::chains::DYNAMICS_VERSION,
                training: self.trains.then_some(fuld_train::spec::TRAINING_VERSION),
            },
            data: if self.trains { Some(DataIdentity::of(context.data()?)) } else { None },
            settings: (self.settings)(context)?,
        })
    }
}

/// A figure and the line below it.
#[derive(Clone, Debug)]
pub(crate) struct CaptionedFigure {
    pub(crate) figure: Figure,
    pub(crate) caption: String,
}

impl CaptionedFigure {
    pub(crate) fn new(figure: Figure, caption: impl Into<String>) -> Self {
        Self { figure, caption: caption.into() }
    }
}

/// A table for readers: formatted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextTable {
    pub(crate) columns: Vec<String>,
    /// Rows with as many cells as there are columns.
    pub(crate) rows: Vec<Vec<String>>,
}

/// A heading, and the function that makes a cell of a row.
type Column<'a, R> = (&'a str, fn(&R) -> String);

impl TextTable {
    /// Creates a table from headings and rows of cells.
    pub(crate) fn new<R: IntoIterator<Item = String>>(
        columns: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let rows = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        Self { columns: columns.into_iter().map(Into::into).collect(), rows }
    }

    /// Creates a table from its columns, with a row of cells for each row.
    pub(crate) fn of<R>(rows: &[R], columns: &[Column<'_, R>]) -> Self {
        let cells = |row| columns.iter().map(move |(_, cell)| cell(row));
        Self::new(columns.iter().map(|(heading, _)| *heading), rows.iter().map(cells))
    }
}

/// Everything that the report shows of an exhibit.
#[derive(Clone, Debug)]
pub struct Presentation {
    /// The exhibit, with its data set if it has one.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The claims.
    pub claims: Vec<Claim>,
    /// What made the tables.
    pub record: Record,
    pub(crate) text: String,
    pub(crate) figures: Vec<CaptionedFigure>,
    pub(crate) tables: Vec<TextTable>,
    /// The names of the CSV files.
    pub(crate) files: Vec<String>,
}

impl Presentation {
    fn of<E: Exhibit>(title: String, tables: &Tables, record: Record) -> Result<Self, TableError> {
        let results = E::from_tables(tables)?;
        Ok(Self {
            id: record.specification.exhibit.clone(),
            title,
            text: results.text(),
            figures: results.figures(),
            tables: results.shown(),
            claims: results.claims(),
            files: tables.files(),
            record,
        })
    }
}

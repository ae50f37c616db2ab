//! Tables of results: what an experiment leaves, and all that claims and figures are made from.
//!
//! A table is kept as the text of its CSV file. Rows are serde structs: numbers, integers, text and options of these, one
//! field per column. Every reader goes through the text, so a claim computed from a file read back from disk is the claim
//! computed right after the experiment.

use fuld::durable::replace;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use thiserror::Error;

/// A table as CSV text, with a line of column names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table(String);

/// A table that is missing, or that does not hold rows of the expected type.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// There is no table of this name.
    #[error("there is no table `{0}`")]
    Missing(String),
    /// A row cannot be read or written.
    #[error("table `{name}`: {source}")]
    Row {
        /// The table.
        name: String,
        /// The row and the column, and what is wrong there.
        source: csv::Error,
    },
}

impl Table {
    /// Writes rows as CSV.
    fn from_rows<R: Serialize>(rows: impl IntoIterator<Item = R>) -> Result<Self, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            writer.serialize(row)?;
        }
        let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
        Ok(Self(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Reads the rows.
    fn rows<R: DeserializeOwned>(&self) -> Result<Vec<R>, csv::Error> {
        csv::Reader::from_reader(self.0.as_bytes()).into_deserialize().collect()
    }
}

/// The tables of an exhibit, by name. The file of a table is `NAME.csv`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables(BTreeMap<String, Table>);

impl Tables {
    /// Adds a table of rows: `Tables::default().with("errors", &rows)?`.
    pub fn with<R: Serialize>(
        mut self,
        name: &str,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Self, TableError> {
        let table = Table::from_rows(rows).map_err(|source| TableError::Row { name: name.into(), source })?;
        self.0.insert(name.into(), table);
        Ok(self)
    }

    /// Returns the rows of a table.
    pub fn rows<R: DeserializeOwned>(&self, name: &str) -> Result<Vec<R>, TableError> {
        let table = self.0.get(name).ok_or_else(|| TableError::Missing(name.into()))?;
        table.rows().map_err(|source| TableError::Row { name: name.into(), source })
    }

    /// Returns the names of the files, in order.
    pub fn files(&self) -> Vec<String> {
        self.0.keys().map(|name| format!("{name}.csv")).collect()
    }

    /// Writes every table into a folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        self.0
            .iter()
            .try_for_each(|(name, table)| replace(&folder.join(format!("{name}.csv")), table.0.as_bytes()))
    }

    /// Reads every CSV file of a folder.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut tables = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "csv") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                tables.insert(name, Table(fs::read_to_string(&path)?));
            }
        }
        Ok(Self(tables))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Row {
        name: String,
        count: u64,
        value: f64,
        missing: Option<f64>,
    }

    #[test]
    fn rows_survive_the_file() {
        let row = |name: &str, value: f64, missing: Option<f64>| Row {
            name: name.into(),
            count: u64::MAX,
            value,
            missing,
        };
        let rows = vec![
            row("a, \"quoted\"\nname", 0.1 + 0.2, None),
            row("α", f64::MIN_POSITIVE, Some(1e300)),
            row("", f64::NEG_INFINITY, Some(-0.0)),
        ];
        let folder = tempfile::TempDir::new().unwrap();
        let tables = Tables::default().with("rows", &rows).unwrap();
        tables.write(folder.path()).unwrap();
        let read = Tables::read(folder.path()).unwrap();
        assert_eq!(read, tables);
        assert_eq!(read.rows::<Row>("rows").unwrap(), rows);
        // NaN differs from itself, but is read as NaN.
        let nan = Tables::default().with("nan", [row("", f64::NAN, None)]).unwrap();
        assert!(nan.rows::<Row>("nan").unwrap()[0].value.is_nan());
    }

    #[test]
    fn damage_is_an_error_that_names_the_table() {
        #[derive(Serialize)]
        struct Other {
            name: &'static str,
        }
        let tables = Tables::default().with("rows", [Other { name: "a" }]).unwrap();
        assert!(tables.rows::<Row>("rows").unwrap_err().to_string().starts_with("table `rows`: "));
        assert_eq!(tables.rows::<Row>("other").unwrap_err().to_string(), "there is no table `other`");
    }
}

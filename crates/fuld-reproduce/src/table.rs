//! Tables of results: what an experiment leaves, and all that claims and figures are made from.
//!
//! A table is kept as the text of its CSV file. Rows are serde structs: numbers, integers, text and
//! options of these, one field per column. Every reader goes through the text, so a claim computed
//! from a file read back from disk is the claim computed right after the experiment.

use fuld::durable::replace;
use hmac_sha256::Hash;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use thiserror::Error;

/// A table that is missing, or that does not hold rows of the expected type.
#[derive(Debug, Error)]
pub(crate) enum TableError {
    #[error("the table `{0}` is missing")]
    Missing(String),
    #[error("table `{name}`: {source}")]
    Row { name: String, source: csv::Error },
}

/// The tables of an exhibit as CSV text, by name. The file of a table is `NAME.csv`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tables(BTreeMap<String, String>);

impl Tables {
    /// Adds a table of rows: `Tables::default().with("errors", &rows)?`.
    pub(crate) fn with<R: Serialize>(mut self, name: &str, rows: &[R]) -> Result<Self, TableError> {
        let text =
            csv_text(rows).map_err(|source| TableError::Row { name: name.into(), source })?;
        self.0.insert(name.into(), text);
        Ok(self)
    }

    /// Returns the rows of a table.
    pub(crate) fn rows<R: DeserializeOwned>(&self, name: &str) -> Result<Vec<R>, TableError> {
        let text = self.0.get(name).ok_or_else(|| TableError::Missing(name.into()))?;
        let rows =
            csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>();
        rows.map_err(|source| TableError::Row { name: name.into(), source })
    }

    /// Returns the names of the files, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        self.0.keys().map(|name| format!("{name}.csv")).collect()
    }

    /// Returns the SHA-256 checksum of all tables.
    pub(crate) fn checksum(&self) -> String {
        let mut hash = Hash::new();
        for (name, text) in &self.0 {
            hash.update(format!("{name} {}\n{text}", text.len()));
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Writes every table into a folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut tables = self.0.iter();
        tables.try_for_each(|(name, text)| {
            replace(&folder.join(format!("{name}.csv")), text.as_bytes())
        })
    }

    /// Reads those of the named files of a folder that are tables.
    pub(crate) fn read(folder: &Path, files: &[String]) -> io::Result<Self> {
        let tables = files.iter().filter_map(|file| Some((file, file.strip_suffix(".csv")?)));
        let read = |(file, name): (&String, &str)| {
            let text = fs::read_to_string(folder.join(file));
            text.map(|text| (name.to_owned(), text))
                .map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))
        };
        Ok(Self(tables.map(read).collect::<io::Result<_>>()?))
    }
}

fn csv_text<R: Serialize>(rows: &[R]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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

    fn row(name: &str, value: f64, missing: Option<f64>) -> Row {
        Row { name: name.into(), count: u64::MAX, value, missing }
    }

    #[test]
    fn rows_survive_the_file() {
        let rows = [
            row("a, \"quoted\"\nname", 0.1 + 0.2, None),
            row("α", f64::MIN_POSITIVE, Some(1e300)),
            row("", f64::NEG_INFINITY, Some(-0.0)),
        ];
        let folder = tempfile::TempDir::new().unwrap();
        let tables = Tables::default().with("rows", &rows).unwrap();
        tables.write(folder.path()).unwrap();
        let read = Tables::read(folder.path(), &tables.files()).unwrap();
        assert_eq!(read, tables);
        assert_eq!(read.rows::<Row>("rows").unwrap(), rows);
        // NaN differs from itself, but is read as NaN.
        let nan = Tables::default().with("nan", &[row("", f64::NAN, None)]).unwrap();
        assert!(nan.rows::<Row>("nan").unwrap()[0].value.is_nan());
    }

    #[test]
    fn a_changed_table_has_another_checksum() {
        let tables = |name: &str, value: f64| {
            Tables::default().with(name, &[row("a", value, None)]).unwrap()
        };
        assert_eq!(tables("a", 1.0).checksum(), tables("a", 1.0).checksum());
        assert_ne!(tables("a", 1.0).checksum(), tables("a", 1.1).checksum());
        assert_ne!(tables("a", 1.0).checksum(), tables("b", 1.0).checksum());
        assert_eq!(tables("a", 1.0).checksum().len(), 64);
    }

    #[test]
    fn damage_is_an_error_that_names_the_table() {
        #[derive(Serialize)]
        struct Other {
            name: &'static str,
        }
        let tables = Tables::default().with("rows", &[Other { name: "a" }]).unwrap();
        assert!(tables.rows::<Row>("rows").unwrap_err().to_string().starts_with("table `rows`: "));
        assert_eq!(
            tables.rows::<Row>("other").unwrap_err().to_string(),
            "the table `other` is missing"
        );
    }
}

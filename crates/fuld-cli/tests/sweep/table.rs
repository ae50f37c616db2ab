//! Reading of the table of a sweep.

use std::collections::BTreeMap;
use tempfile::TempDir;

/// The columns, and the cells of each row.
#[derive(Debug, PartialEq)]
pub(crate) struct SweepTable {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<BTreeMap<String, String>>,
}

impl SweepTable {
    /// Reads `results.csv`.
    #[track_caller]
    pub(crate) fn of(folder: &TempDir) -> Self {
        let text = std::fs::read_to_string(folder.path().join("swept/results.csv")).unwrap();
        let mut lines = records(&text).into_iter();
        let columns = lines.next().unwrap();
        let row = |cells: Vec<String>| {
            assert_eq!(cells.len(), columns.len(), "{cells:?}");
            columns.iter().cloned().zip(cells).collect()
        };
        let rows = lines.map(row).collect();
        Self { columns, rows }
    }

    /// Removes the column `seconds`, the only one that may differ between two sweeps of one grid.
    pub(crate) fn timeless(mut self) -> Self {
        for row in &mut self.rows {
            row.remove("seconds").unwrap();
        }
        self
    }

    /// Returns the number of rows with this status.
    pub(crate) fn count(&self, status: &str) -> usize {
        self.rows.iter().filter(|row| row["status"] == status).count()
    }

    /// Returns the row of a run.
    #[track_caller]
    pub(crate) fn row(&self, run: &std::path::Path) -> &BTreeMap<String, String> {
        let name = run.file_name().unwrap().to_str().unwrap();
        self.rows.iter().find(|row| row["run"] == name).unwrap()
    }
}

/// Parses CSV with quoted cells.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell, mut quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    for character in text.chars() {
        match character {
            // A quote in a quoted cell is written twice: it ends the cell and opens it again.
            '"' => {
                if !quoted && !cell.is_empty() {
                    cell.push('"');
                }
                quoted = !quoted;
            }
            ',' if !quoted => record.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            character => cell.push(character),
        }
    }
    assert!(!quoted && cell.is_empty() && record.is_empty(), "the last line is cut");
    records
}

//! What a part of the reproduction shows: figures, their data, the settings they came from, and the claims they bear on.

use super::claim::Claim;
use fuld::durable::replace;
use fuld_plot::Figure;
use std::path::Path;

/// A table of numbers and texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it holds.
    pub name: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows yet.
    pub fn new(name: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            name: name.into(),
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of as many texts as there are columns.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.rows.push(cells.into());
    }

    /// Adds a row of numbers after a text.
    pub fn numbers(&mut self, text: impl Into<String>, numbers: &[f64]) {
        debug_assert_eq!(numbers.len() + 1, self.columns.len());
        self.rows.push(std::iter::once(text.into()).chain(numbers.iter().map(ToString::to_string)).collect());
    }

    /// The name of its file.
    pub fn file(&self) -> String {
        format!("{}.csv", self.name.replace(' ', "-"))
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// With a line of names, and quotes where there must be.
    pub fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        for record in std::iter::once(&self.columns).chain(&self.rows) {
            // Writing to memory does not fail.
            let _ = writer.write_record(record);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

/// A section of the report.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// What `--only` knows it by, and its files begin with.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// What it shows and how it was made, a paragraph.
    pub text: String,
    /// Pictures, each with a line below it.
    pub figures: Vec<(Figure, String)>,
    /// The numbers behind the pictures, as files.
    pub data: Vec<Table>,
    /// Tables to be read in the report itself.
    pub tables: Vec<Table>,
    /// Everything that the numbers depend on.
    pub settings: toml::Table,
    /// What is claimed, and how it fared.
    pub claims: Vec<Claim>,
}

impl Exhibit {
    /// Writes figures, data and settings into a folder of its own.
    pub fn keep(&self, folder: &Path) -> std::io::Result<()> {
        let folder = folder.join(self.id);
        std::fs::create_dir_all(&folder)?;
        for (figure, _) in &self.figures {
            figure.files()?.iter().try_for_each(|(name, bytes)| replace(&folder.join(name), bytes))?;
        }
        self.data.iter().try_for_each(|table| replace(&folder.join(table.file()), table.csv().as_bytes()))?;
        let settings = toml::to_string(&self.settings).map_err(std::io::Error::other)?;
        replace(&folder.join("settings.toml"), settings.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn cells_are_quoted_where_needed() {
        let mut table = Table::new("t", &["name", "a"]);
        table.numbers("x, y", &[0.1]);
        assert_eq!(table.csv(), "name,a\n\"x, y\",0.1\n");
    }
}

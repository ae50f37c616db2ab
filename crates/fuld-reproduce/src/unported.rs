//! Studies that are not yet written as tables, claims and figures: they make everything at once, and nothing of them is read back.

use super::claim::{self, Judgement, Verdict};
use super::context::Context;
use super::exhibit::{CaptionedFigure, Presentation, TextTable};
use super::specification::Record;
use fuld::StopFlag;
use fuld::durable::replace;
use fuld_plot::Figure;
use std::path::Path;

/// Makes a study in a context.
pub(crate) type Make = fn(&Context<'_>) -> anyhow::Result<Exhibit>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claim {
    pub(crate) says: String,
    pub(crate) measured: String,
    pub(crate) verdict: Verdict,
    pub(crate) ours: bool,
}

impl Claim {
    pub(crate) fn new(says: impl Into<String>, measured: impl Into<String>, verdict: Verdict) -> Self {
        Self { says: says.into(), measured: measured.into(), verdict, ours: false }
    }

    pub(crate) fn ours(says: impl Into<String>, measured: impl Into<String>, verdict: Verdict) -> Self {
        Self { ours: true, ..Self::new(says, measured, verdict) }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) name: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(name: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            name: name.into(),
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    pub(crate) fn numbers(&mut self, text: impl Into<String>, numbers: &[f64]) {
        self.rows.push(std::iter::once(text.into()).chain(numbers.iter().map(ToString::to_string)).collect());
    }

    pub(crate) fn file(&self) -> String {
        format!("{}.csv", self.name.replace(' ', "-"))
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    pub(crate) fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        for record in std::iter::once(&self.columns).chain(&self.rows) {
            // Writing to memory does not fail.
            let _ = writer.write_record(record);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Exhibit {
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) figures: Vec<(Figure, String)>,
    pub(crate) data: Vec<Table>,
    pub(crate) tables: Vec<Table>,
    pub(crate) settings: toml::Table,
    pub(crate) claims: Vec<Claim>,
}

impl Exhibit {
    /// Writes the tables and returns what is shown.
    pub(crate) fn present(self, folder: &Path, record: Record) -> std::io::Result<Presentation> {
        std::fs::create_dir_all(folder)?;
        self.data.iter().try_for_each(|table| replace(&folder.join(table.file()), table.csv().as_bytes()))?;
        let claim = |(number, claim): (usize, Claim)| {
            let judgement = Judgement::new(claim.verdict, claim.measured.clone());
            let new = if claim.ours { claim::Claim::ours } else { claim::Claim::paper };
            new(number.to_string(), claim.says, claim.measured, judgement)
        };
        Ok(Presentation {
            id: record.specification.exhibit.clone(),
            title: self.title,
            text: self.text,
            files: self.data.iter().map(Table::file).collect(),
            figures: self.figures.into_iter().map(|(f, caption)| CaptionedFigure::new(f, caption)).collect(),
            tables: self
                .tables
                .into_iter()
                .map(|Table { columns, rows, .. }| TextTable { columns, rows })
                .collect(),
            claims: self.claims.into_iter().enumerate().map(claim).collect(),
            record,
        })
    }
}

pub(crate) struct Lab {
    seed: u64,
    threads: usize,
    stop: StopFlag,
    hear: Box<dyn Fn(f64) + Send + Sync>,
}

impl Lab {
    pub(crate) fn new(seed: u64, threads: usize) -> Self {
        Self { seed, threads, stop: StopFlag::default(), hear: Box::new(|_| {}) }
    }

    #[cfg(test)]
    pub(crate) fn heard_by(self, hear: impl Fn(f64) + Send + Sync + 'static) -> Self {
        Self { hear: Box::new(hear), ..self }
    }

    pub(crate) fn stopped_by(self, stop: StopFlag) -> Self {
        Self { stop, ..self }
    }

    pub(crate) fn stop(&self) -> &StopFlag {
        &self.stop
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn hear(&self) -> &(dyn Fn(f64) + Sync) {
        &*self.hear
    }
}

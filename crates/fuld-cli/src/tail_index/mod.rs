//! `fuld tail-index`: how heavy the tails of some numbers are.

mod estimates;
mod figure;
mod reading;
mod remarks;
mod table;

use super::Usage;
use super::bar::style;
use super::grouped::grouped;
use super::output::Output;
use super::picture::Picture;
use crate::numbers::{self, Column, NumbersError, Table};
use anyhow::Context;
use estimates::{Finding, Findings, Told};
use indicatif::ProgressBar;
use levy_stable::tail_index::{Bootstrap, Interval, Sample, Scaling, TailIndexError};
use reading::reading;
use remarks::remarks;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

/// Estimate the tail index of numbers in a file.
///
/// Four estimators of α and of the scale σ, with bootstrap intervals, and beside them what each says of as many Gaussian numbers of the
/// same spread: an α that is not clearly below that is no evidence of a heavy tail. The numbers are taken to be independent draws
/// of one law that is symmetric about its median.
///
/// The file is NumPy's .npy (one or two dimensions), Parquet, or text: CSV, or numbers between blanks, with a line of names or without.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fuld tail-index noise.npy                          numbers, or rows of vectors
  fuld tail-index noise.npy --plot tail.svg          how often numbers are large, against the fitted law and the Gaussian
  fuld tail-index returns.csv --column close         a column by its name, or its number
  fuld tail-index grads.parquet --by-column          each column on its own
  fuld law sample --alpha 1.5 --count 10000 | fuld tail-index -
                                                     does it find 1.5?

Methods:
  characteristic function   regression on it: the most accurate for stable data; describes the bulk of other data
  block log-moments         how sums grow: also for data whose sums become stable; needs independence
  log-moments               two moments of log|x|: noisy above 1.7, disturbed by zeros
  Hill                      the largest numbers alone: any power tail, also above 2; misleading for stable laws above 1.5

The reading below the table is computed: heavy if the first two methods say so beyond doubt; not stable if the largest numbers are not as
often as in draws from the law that was fitted.

Columns of a file with names are chosen with --column, several make rows of vectors; arrays and text without names are rows of vectors.
Coordinates of vectors are brought to one scale, for a mixture of scales looks like a heavy tail.")]
pub(super) struct TailIndex {
    /// The file, or - for standard input
    file: PathBuf,
    /// Columns, by name or by number counted from 1; with commas between them, or several times
    #[arg(long = "column", short = 'c', value_name = "NAME|N", value_delimiter = ',')]
    columns: Vec<String>,
    /// Each column on its own, instead of rows as vectors
    #[arg(long)]
    by_column: bool,
    /// Leave out rows in which a number is missing: NaN, null, an empty cell
    #[arg(long)]
    drop_missing: bool,
    /// Everything random follows from this
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Resamples of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 399)]
    resamples: usize,
    /// With what probability the intervals are to cover
    #[arg(long, value_name = "P", default_value_t = 0.9, allow_negative_numbers = true)]
    level: f64,
    /// Draw how often numbers are large, on logarithmic axes
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    plot: Option<Picture>,
}

impl TailIndex {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<()> {
        let bootstrap = Bootstrap { resamples: self.resamples, level: self.level, seed: self.seed };
        bootstrap.check().map_err(|error| Usage(error.to_string()))?;
        let start = Instant::now();
        let table = numbers::read(&self.file, &self.columns).map_err(|error| match error {
            NumbersError::Twice { .. } => anyhow::Error::from(Usage(error.to_string())),
            error => error.into(),
        })?;
        output.detail(|| format!("read in {:.2} s", start.elapsed().as_secs_f64()));
        for (column, what) in &table.left_out {
            output.note(|| format!("column {column:?} is left out: {what}"));
        }
        let samples = self.samples(table)?;
        let fits = Findings::fits(&bootstrap) * samples.len() as u64;
        let bar = output.bar(ProgressBar::new(fits));
        bar.set_style(style("{bar:30} {pos}/{len} fits, {eta} left"));
        let mut found = Vec::new();
        for (name, sample) in samples {
            let findings = Findings::of(&sample, &bootstrap, &|| bar.inc(1)).with_context(|| name.clone())?;
            found.push((name, sample, findings));
        }
        bar.finish_and_clear();
        output.detail(|| format!("{fits} fits; {:.2} s in all", start.elapsed().as_secs_f64()));
        output.result(|| self.value(&found), || self.print(&found))?;
        self.plot.as_ref().map_or(Ok(()), |picture| picture.keep(&figure::figure(&found), output))
    }

    /// The samples with their names: one of all columns, or one a column.
    fn samples(&self, table: Table) -> anyhow::Result<Vec<(String, Sample)>> {
        let file = self.shown();
        let choice = self.by_column || !self.columns.is_empty() || table.nameless;
        let several = table.columns.len() > 1;
        Usage::unless(choice || !several, || {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            format!(
                "{file} has several columns of numbers ({}): say which with --column, or take each with --by-column",
                names.join(", ")
            )
        })?;
        let named = |column: &Column| match table.nameless {
            true => format!("{file}, column {}", column.name),
            false => format!("{file}, column {:?}", column.name),
        };
        if self.by_column && several {
            let one =
                |column: &Column| Ok((named(column), self.sample(&[column]).with_context(|| named(column))?));
            return table.columns.iter().map(one).collect();
        }
        let columns: Vec<&Column> = table.columns.iter().collect();
        Ok(vec![(file.clone(), self.sample(&columns).with_context(|| file.clone())?)])
    }

    /// Rows of these columns.
    fn sample(&self, columns: &[&Column]) -> anyhow::Result<Sample> {
        let count = columns.first().map_or(0, |column| column.values.len());
        let mut rows = Vec::with_capacity(count * columns.len());
        // Where in the file the rows are that stay.
        let mut places = Vec::with_capacity(count);
        for row in 0..count {
            let cells = || columns.iter().map(|column| column.values[row]);
            let missing = columns.iter().find(|column| column.values[row].is_nan());
            match missing {
                Some(_) if self.drop_missing => {}
                Some(column) => anyhow::bail!(
                    "row {} of column {} is missing or NaN; --drop-missing leaves such rows out",
                    row + 1,
                    column.name
                ),
                None => {
                    rows.extend(cells());
                    places.push(row);
                }
            }
        }
        let scaling = if columns.len() > 1 { Scaling::PerCoordinate } else { Scaling::Common };
        // Gaussian numbers like these need a spread to have: asked for here, where columns still have names.
        let sample = Sample::rows(&rows, columns.len(), scaling)
            .and_then(|sample| sample.gaussian_twin(self.seed).map(|_| sample));
        sample.map_err(|error| refusal(error, columns, &places))
    }

    fn shown(&self) -> String {
        if self.file.as_os_str() == "-" { "standard input".into() } else { self.file.display().to_string() }
    }

    fn print(&self, found: &[(String, Sample, Findings)]) {
        for (i, (name, sample, findings)) in found.iter().enumerate() {
            let dimension = sample.pooled().len() / sample.len();
            let what = match dimension {
                1 => format!("{} numbers", grouped(sample.len())),
                _ => format!("{} rows of {dimension} numbers", grouped(sample.len())),
            };
            println!("{}{name}: {what}\n", if i > 0 { "\n" } else { "" });
            print!("{}", table::table(findings, self.level));
            println!("\n{}", reading(findings).1);
            remarks(sample, findings).iter().for_each(|remark| println!("{remark}"));
        }
    }

    fn value(&self, found: &[(String, Sample, Findings)]) -> Value {
        let samples: Vec<Value> = found.iter().map(|(name, sample, findings)| {
            let methods: Vec<Value> = findings
                    .all.iter().map(|(method, found)| match found {
                Ok(Finding { data, gaussian }) => json!({
                    "method": method.name(),
                    "alpha": Told::new(data.estimate.alpha, data.alpha),
                    "scale": data.estimate.scale.zip(data.scale).map(|(scale, interval)| Told::new(scale, interval)),
                    "zeros": data.estimate.zeros,
                    "gaussian_alpha": Told::new(gaussian.alpha, gaussian.interval),
                }),
                Err(error) => json!({ "method": method.name(), "error": error.to_string() }),
            }).collect();
            let (reading, sentence) = reading(findings);
            json!({
                "name": name, "rows": sample.len(), "dimension": sample.pooled().len() / sample.len(),
                "methods": methods,
                    "hill_if_stable": findings.hill_if_stable.map(|Interval { low, high }| json!({ "low": low, "high": high })),
                    "reading": reading, "sentence": sentence, "remarks": remarks(sample, findings),
            })
        }).collect();
        json!({
            "file": self.shown(), "seed": self.seed, "resamples": self.resamples, "level": self.level, "samples": samples,
        })
    }
}

/// An error in terms of rows and columns, as the file has them.
fn refusal(error: TailIndexError, columns: &[&Column], places: &[usize]) -> anyhow::Error {
    match error {
        TailIndexError::Number { index, value } => {
            let (row, column) = (places[index / columns.len()] + 1, &columns[index % columns.len()].name);
            anyhow::anyhow!(
                "row {row} of column {column} is {value}; numbers must be finite and at most 1e300 in size"
            )
        }
        TailIndexError::Constant { coordinate, value } => {
            let column = &columns[coordinate].name;
            anyhow::anyhow!(
                "column {column} is {value} throughout, so it has no law; choose others with --column"
            )
        }
        TailIndexError::NoSpread { coordinate } => {
            let column = &columns[coordinate].name;
            anyhow::anyhow!(
                "half of column {column} is one and the same number, so it has no scale; choose others with --column"
            )
        }
        error => error.into(),
    }
}

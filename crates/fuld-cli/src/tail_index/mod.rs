//! `fuld tail-index`: estimates how heavy the tails of numbers in a file are.

mod conclusion;
mod estimates;
mod figure;
mod remarks;
mod table;

use super::Usage;
use super::grouped::grouped;
use super::output::Output;
use super::plot_file::PlotFile;
use super::progress_style::progress_style;
use crate::numbers::{self, Column, NumberTable, NumbersError};
use anyhow::Context;
use conclusion::conclusion;
use estimates::{MethodEstimate, SampleEstimates, ValueWithInterval};
use indicatif::ProgressBar;
use levy_stable::tail_index::{Bootstrap, Interval, Scaling, TailIndexError, TailSample};
use remarks::remarks;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

/// Estimate the tail index of numbers in a file.
///
/// Prints four estimates of α and of the scale σ with bootstrap intervals, and the estimate of each
/// method for as many Gaussian numbers of the same spread. The numbers show a heavy tail only if α
/// is clearly below that. The numbers are assumed to be independent draws from one law that is
/// symmetric about its median.
///
/// The file is an array of NumPy (.npy, one or two dimensions), Parquet, or text: CSV or numbers
/// separated by white space, with or without a header line.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fuld tail-index noise.npy                          numbers, or rows of vectors
  fuld tail-index noise.npy --plot tail.svg          also draw the tail and the fitted law
  fuld tail-index returns.csv --column close         a column by its name or number
  fuld tail-index grads.parquet --by-column          each column separately
  fuld law sample --alpha 1.5 --count 10000 | fuld tail-index -
                                                     try it on draws with alpha = 1.5

Methods:
  characteristic function   most accurate for stable data; describes the bulk of other data
  block log-moments         uses the growth of sums, so that data need not be stable; requires
                            independent numbers
  log-moments               two moments of log|x|; inaccurate above 1.7 and if there are zeros
  Hill                      uses the largest numbers only; for any power tail, also above 2;
                            misleading for stable laws above 1.5

The conclusion below the table is \"heavy tails\" if the intervals of the first two methods are below those for Gaussian numbers, \
and \"not a stable law\" if Hill's estimate does not fit draws from the fitted law.

If a file has named columns, select them with --column. Several columns are rows of vectors, and so are arrays and text without \
names. The coordinates of vectors are scaled separately, because a mixture of scales resembles a heavy tail.")]
pub(super) struct TailIndex {
    /// The file, or - for standard input
    file: PathBuf,
    /// Columns by name or by number from 1, separated by commas; may be repeated
    #[arg(long = "column", short = 'c', value_name = "NAME|N", value_delimiter = ',')]
    columns: Vec<String>,
    /// Treat each column as a separate sample instead of rows as vectors
    #[arg(long)]
    by_column: bool,
    /// Leave out rows with a missing number (NaN, null, an empty cell)
    #[arg(long)]
    drop_missing: bool,
    /// Seed of the bootstrap and of the Gaussian numbers
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Resamples of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 399)]
    resamples: usize,
    /// Coverage probability of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.9, allow_negative_numbers = true)]
    level: f64,
    /// Write a figure of the tail probabilities on logarithmic axes
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    plot: Option<PlotFile>,
}

impl TailIndex {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<()> {
        let bootstrap = Bootstrap { resamples: self.resamples, level: self.level, seed: self.seed };
        bootstrap.check().map_err(|error| Usage(error.to_string()))?;
        let start = Instant::now();
        let table = numbers::read(&self.file, &self.columns).map_err(|error| match error {
            NumbersError::DuplicateColumn { .. } => anyhow::Error::from(Usage(error.to_string())),
            error => error.into(),
        })?;
        output.detail(|| format!("read in {:.2} s", start.elapsed().as_secs_f64()));
        for (column, what) in &table.left_out {
            output.note(|| format!("ignoring column {column:?}: {what}"));
        }
        let samples = self.samples(table)?;
        let fits = SampleEstimates::fits(&bootstrap) * samples.len() as u64;
        let bar = output.bar(ProgressBar::new(fits));
        bar.set_style(progress_style("{bar:30} {pos}/{len} fits, {left}"));
        let mut found = Vec::new();
        for (name, sample) in samples {
            let estimates = SampleEstimates::of(&sample, &bootstrap, &|| bar.inc(1))
                .with_context(|| name.clone())?;
            found.push((name, sample, estimates));
        }
        bar.finish_and_clear();
        output.detail(|| format!("{fits} fits; {:.2} s in total", start.elapsed().as_secs_f64()));
        output.result(|| self.value(&found), || self.print(&found))?;
        self.plot.as_ref().map_or(Ok(()), |file| file.write(&figure::figure(&found), output))
    }

    /// Returns the samples with their names: one for all columns, or one per column.
    fn samples(&self, table: NumberTable) -> anyhow::Result<Vec<(String, TailSample)>> {
        let file = self.shown();
        let choice = self.by_column || !self.columns.is_empty() || table.unnamed;
        let several = table.columns.len() > 1;
        Usage::unless(choice || !several, || {
            let names: Vec<&str> =
                table.columns.iter().map(|column| column.name.as_str()).collect();
            format!(
                "{file} has several columns of numbers ({}): select some with --column, or use all separately with --by-column",
                names.join(", ")
            )
        })?;
        let named = |column: &Column| match table.unnamed {
            true => format!("{file}, column {}", column.name),
            false => format!("{file}, column {:?}", column.name),
        };
        if self.by_column && several {
            let one = |column: &Column| {
                Ok((named(column), self.sample(&[column]).with_context(|| named(column))?))
            };
            return table.columns.iter().map(one).collect();
        }
        let columns: Vec<&Column> = table.columns.iter().collect();
        Ok(vec![(file.clone(), self.sample(&columns).with_context(|| file.clone())?)])
    }

    /// Returns the rows of these columns as a sample.
    fn sample(&self, columns: &[&Column]) -> anyhow::Result<TailSample> {
        let count = columns.first().map_or(0, |column| column.values.len());
        let mut rows = Vec::with_capacity(count * columns.len());
        // The rows of the file that are used.
        let mut places = Vec::with_capacity(count);
        for row in 0..count {
            let cells = || columns.iter().map(|column| column.values[row]);
            let missing = columns.iter().find(|column| column.values[row].is_nan());
            match missing {
                Some(_) if self.drop_missing => {}
                Some(column) => anyhow::bail!(
                    "row {} of column {} is missing or NaN; leave out such rows with --drop-missing",
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
        // Checks here, where errors can name the column, that the columns have a spread, which the
        // Gaussian numbers require.
        let sample = TailSample::rows(&rows, columns.len(), scaling)
            .and_then(|sample| sample.gaussian_twin(self.seed).map(|_| sample));
        sample.map_err(|error| refusal(error, columns, &places))
    }

    /// Returns the name of the file for output.
    fn shown(&self) -> String {
        if self.file.as_os_str() == "-" {
            "standard input".into()
        } else {
            self.file.display().to_string()
        }
    }

    fn print(&self, found: &[(String, TailSample, SampleEstimates)]) {
        for (i, (name, sample, estimates)) in found.iter().enumerate() {
            let dimension = sample.pooled().len() / sample.len();
            let what = match dimension {
                1 => format!("{} numbers", grouped(sample.len())),
                _ => format!("{} rows of {dimension} numbers", grouped(sample.len())),
            };
            println!("{}{name}: {what}\n", if i > 0 { "\n" } else { "" });
            print!("{}", table::table(estimates, self.level));
            println!("\n{}", conclusion(estimates).1);
            remarks(sample, estimates).iter().for_each(|remark| println!("{remark}"));
        }
    }

    fn value(&self, found: &[(String, TailSample, SampleEstimates)]) -> Value {
        let samples: Vec<Value> = found.iter().map(|(name, sample, estimates)| {
            let methods: Vec<Value> = estimates
                    .all.iter().map(|(method, found)| match found {
                Ok(MethodEstimate { data, gaussian }) => json!({
                    "method": method.name(),
                    "alpha": ValueWithInterval::new(data.estimate.alpha, data.alpha),
                    "scale": data.estimate.scale.zip(data.scale).map(|(scale, interval)| ValueWithInterval::new(scale, interval)),
                    "zeros": data.estimate.zeros,
                    "gaussian_alpha": ValueWithInterval::new(gaussian.alpha, gaussian.interval),
                }),
                Err(error) => json!({ "method": method.name(), "error": error.to_string() }),
            }).collect();
            let (conclusion, explanation) = conclusion(estimates);
            json!({
                "name": name, "rows": sample.len(), "dimension": sample.pooled().len() / sample.len(),
                "methods": methods,
                    "hill_if_stable": estimates.hill_if_stable.map(|Interval { low, high }| json!({ "low": low, "high": high })),
                    "conclusion": conclusion, "explanation": explanation, "remarks": remarks(sample, estimates),
            })
        }).collect();
        json!({
            "file": self.shown(), "seed": self.seed, "resamples": self.resamples, "level": self.level, "samples": samples,
        })
    }
}

/// Returns an error that names the row and the column of the file.
fn refusal(error: TailIndexError, columns: &[&Column], places: &[usize]) -> anyhow::Error {
    match error {
        TailIndexError::Number { index, value } => {
            let (row, column) =
                (places[index / columns.len()] + 1, &columns[index % columns.len()].name);
            anyhow::anyhow!(
                "row {row} of column {column} is {value}; numbers must be finite and at most 1e300 in size"
            )
        }
        TailIndexError::Constant { coordinate, value } => {
            let column = &columns[coordinate].name;
            anyhow::anyhow!(
                "all numbers of column {column} are {value}, so it has no tails; select others with --column"
            )
        }
        TailIndexError::NoSpread { coordinate } => {
            let column = &columns[coordinate].name;
            anyhow::anyhow!(
                "half of the numbers of column {column} are equal, so it has no scale; select others with --column"
            )
        }
        error => error.into(),
    }
}

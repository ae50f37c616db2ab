//! `fuld law`: the symmetric stable law, as numbers, draws and pictures.

mod figure;
mod function;
mod input;
mod overview;
mod points;
mod records;
mod sketch;

use super::Usage;
use super::output::Output;
use super::picture::Picture;
use figure::{curves, histograms};
use fuld::random::{Purpose, Stream};
use function::Function;
use input::Taker;
use levy_stable::SymmetricStable;
use points::Points;
use records::{Form, Records};
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};

/// Draws made and written at a time.
const BLOCK: usize = 4096;

/// Evaluate the symmetric stable law, or draw from it.
///
/// The law SαS(σ) with characteristic function exp(-|σω|^α): α = 2 is the Gaussian of variance 2σ², α = 1 the Cauchy law of scale σ,
/// and below 2 the tails fall as |x|^(-α). Values are right to about 14 digits for every α and x, tails included.
///
/// Points are arguments, ranges, or numbers on standard input; a line of CSV comes back for each. Without any, in a terminal, there
/// is a table of some values and a sketch.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Points:
  2 -1e3            numbers
  -5..5/101         101 points from -5 to 5, both included (101 if it is not said)
  1..1e6/log13      13 points whose logarithms are evenly spaced
  -                 numbers from standard input, also if there are no points and it is no terminal

Examples:
  fuld law pdf 2 --alpha 1.5                         the density at 2
  fuld law sf 1..1e6/log7 --alpha 1.2,1.5,1.9        three tails, a column each
  fuld law isf 1e-9 --alpha 1.75 --scale 0.5         what is exceeded once in a billion draws
  fuld law grad-g -10..10 --alpha 1.75 --plot g.svg  the field of the paper, as a picture too
  fuld law sample --alpha 1.5 --count 100000 --seed 7 | fuld tail-index -
                                                     draws, and what an estimator makes of them
  cut -f2 data.tsv | fuld law cdf --alpha 1.5 --json probabilities of a million numbers, as they come

Infinite values are inf in CSV and null in JSON.")]
pub(super) struct Law {
    /// What to compute
    #[arg(value_enum)]
    function: Function,
    /// Where: numbers, ranges like -5..5/101, or - for standard input
    #[arg(value_name = "X", allow_negative_numbers = true)]
    points: Vec<Points>,
    /// The tail index, 0 < α <= 2; several, with commas between them, make a column each
    #[arg(long, short, value_name = "A", required = true, value_delimiter = ',', value_parser = points::number, allow_hyphen_values = true)]
    alpha: Vec<f64>,
    /// The scale σ [default: 1]
    #[arg(long, value_name = "S", value_parser = points::number, allow_negative_numbers = true)]
    scale: Option<f64>,
    /// How many draws (sample) [default: 10]
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// Draws follow from this; the laws of several α share their random bits, so that a line shows one draw under each (sample) [default: 0]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// No line of names above the numbers
    #[arg(long)]
    no_header: bool,
    /// Also draw a picture, with the Gaussian beside it; without points, only that
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    plot: Option<Picture>,
}

impl Law {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<()> {
        self.check()?;
        let scale = self.scale.unwrap_or(1.0);
        let laws = self
            .alpha
            .iter()
            .map(|&alpha| self.function.law(alpha, scale))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Usage(error.to_string()))?;
        if self.function == Function::Sample {
            return self.draw(&laws, output);
        }
        if let Some(picture) = &self.plot {
            let points: Vec<f64> = self.points.iter().flat_map(Points::numbers).collect();
            picture.keep(&curves(self.function, &laws, &points), output)?;
            if points.is_empty() {
                return Ok(());
            }
        }
        if self.points.is_empty() && io::stdin().is_terminal() && !output.json {
            print!("{}", overview::overview(self.function, &laws));
            return Ok(());
        }
        self.evaluate(laws, output)
    }

    /// What can be seen to be wrong before anything is written.
    fn check(&self) -> Result<(), Usage> {
        let (name, sample) = (self.function.name(), self.function == Function::Sample);
        Usage::unless(sample || self.count.is_none() && self.seed.is_none(), || {
            format!("--count and --seed are for sample; {name} takes points")
        })?;
        Usage::unless(!sample || self.points.is_empty(), || {
            "sample takes no points; how many draws there are is said by --count".into()
        })?;
        Usage::unless(self.function != Function::GradG || self.scale.is_none(), || {
            "grad-g has the scale alpha^(-1/alpha) by definition; score takes any --scale".into()
        })?;
        for (i, alpha) in self.alpha.iter().enumerate() {
            Usage::unless(!self.alpha[..i].contains(alpha), || format!("--alpha has {alpha} twice"))?;
        }
        let inputs = self.points.iter().filter(|points| **points == Points::StandardInput).count();
        Usage::unless(inputs < 2, || "- stands for standard input, which can be read only once".into())?;
        Usage::unless(inputs == 0 || self.plot.is_none(), || {
            "--plot draws over points that are arguments, like -5..5; - is none".into()
        })?;
        self.points.iter().flat_map(Points::numbers).try_for_each(|x| self.function.check(x)).map_err(Usage)
    }

    fn form(&self, output: &Output) -> Form {
        if output.json { Form::Json } else { Form::Csv { header: !self.no_header } }
    }

    /// The name of a column for each law: that of the one law alone, otherwise with its α.
    fn columns(&self, name: &str) -> Vec<String> {
        match &self.alpha[..] {
            [_] => vec![name.into()],
            alphas => alphas.iter().map(|alpha| format!("{name}_{alpha}")).collect(),
        }
    }

    fn evaluate(&self, laws: Vec<SymmetricStable>, output: &Output) -> anyhow::Result<()> {
        let out = BufWriter::new(io::stdout().lock());
        let mut names = vec![self.function.argument().to_string()];
        names.extend(self.columns(self.function.name()));
        let records = Records::new(out, names, self.form(output))?;
        let mut table = Table { function: self.function, record: vec![0.0; 1 + laws.len()], laws, records };
        let read = |table: &mut Table<_>| input::each(BufReader::new(io::stdin().lock()), table);
        for points in &self.points {
            match points {
                Points::StandardInput => read(&mut table)?,
                _ => points.numbers().try_for_each(|x| table.take(x))?,
            }
        }
        if self.points.is_empty() && io::stdin().is_terminal() {
            overview::points(self.function, &table.laws[0]).into_iter().try_for_each(|x| table.take(x))?;
        } else if self.points.is_empty() {
            read(&mut table)?;
        }
        Ok(table.records.end()?)
    }

    fn draw(&self, laws: &[SymmetricStable], output: &Output) -> anyhow::Result<()> {
        let (count, stream) =
            (self.count.unwrap_or(10), Stream::new(self.seed.unwrap_or(0), 0, Purpose::Noise));
        let samplers: Vec<_> = laws.iter().map(SymmetricStable::sampler).collect();
        let out = BufWriter::new(io::stdout().lock());
        let mut records = Records::new(out, self.columns("draw"), self.form(output))?;
        let mut kept = vec![Vec::new(); laws.len()];
        let mut words = [0; BLOCK];
        let mut record = vec![0.0; laws.len()];
        for first in (0..count).step_by(BLOCK) {
            let words = &mut words[..BLOCK.min(count - first)];
            stream.fill(first as u64, words);
            let mut draws = vec![vec![0.0; words.len()]; laws.len()];
            samplers.iter().zip(&mut draws).for_each(|(sampler, draws)| sampler.transform(words, draws));
            for i in 0..words.len() {
                record.iter_mut().zip(&draws).for_each(|(number, draws)| *number = draws[i]);
                records.write(&record)?;
            }
            if self.plot.is_some() {
                kept.iter_mut().zip(draws).for_each(|(kept, draws)| kept.extend(draws));
            }
        }
        records.end()?;
        self.plot.as_ref().map_or(Ok(()), |picture| picture.keep(&histograms(laws, &kept), output))
    }
}

/// Values of a function at one point after the other.
struct Table<W: Write> {
    function: Function,
    laws: Vec<SymmetricStable>,
    records: Records<W>,
    record: Vec<f64>,
}

impl<W: Write> Taker for Table<W> {
    fn check(&self, x: f64) -> Result<(), String> {
        self.function.check(x)
    }

    fn take(&mut self, x: f64) -> io::Result<()> {
        self.record[0] = x;
        for (value, law) in self.record[1..].iter_mut().zip(&self.laws) {
            *value = self.function.at(law, x);
        }
        self.records.write(&self.record)
    }

    fn pause(&mut self) -> io::Result<()> {
        self.records.flush()
    }
}

//! `fuld law`: values, draws and figures of the symmetric stable law.

mod figure;
mod function;
mod input;
mod overview;
mod points;
mod records;
mod sketch;

use super::Usage;
use super::output::Output;
use super::plot_file::PlotFile;
use figure::{curves, histograms};
use fuld::random::{Purpose, Stream};
use function::LawFunction;
use input::NumberSink;
use levy_stable::SymmetricStable;
use points::Points;
use records::{RecordFormat, Records};
use std::io::{self, BufReader, BufWriter, IsTerminal, StdoutLock, Write};

/// Draws per block.
const BLOCK: usize = 4096;

/// Evaluate the symmetric stable law, or draw from it.
///
/// The law SαS(σ) has the characteristic function exp(-|σω|^α). α = 2 is the Gaussian of variance
/// 2σ², α = 1 is the Cauchy law of scale σ, and for α < 2 the tail probability falls as |x|^(-α).
/// Values are accurate to about 14 digits for every α and x, even in the tails.
///
/// Points are arguments, ranges, or numbers on standard input. For each point, one line of CSV is
/// printed, or with --json one object per law, which contains its alpha. Without points, a terminal
/// shows a table of some values and a sketch.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Points:
  2 -1e3            numbers
  -5..5/101         101 points from -5 to 5, including both (101 is the default)
  1..1e6/log13      13 points whose logarithms are evenly spaced
  -                 numbers from standard input (the default, unless it is a terminal)

Examples:
  fuld law pdf 2 --alpha 1.5                         the density at 2
  fuld law sf 1..1e6/log7 --alpha 1.2,1.5,1.9        the tails of three laws, one column each
  fuld law isf 1e-9 --alpha 1.75 --scale 0.5         the value that one draw in a billion exceeds
  fuld law grad-g -10..10 --alpha 1.75 --plot g.svg  the field of the paper, also as a figure
  fuld law sample --alpha 1.5 --count 100000 --seed 7 | fuld tail-index -
                                                     draws, and the tail index estimated from them
  cut -f2 data.tsv | fuld law cdf --alpha 1.5 --json probabilities of the numbers in a file

Infinite values are inf in CSV and null in JSON.")]
pub(super) struct Law {
    /// The function
    #[arg(value_enum)]
    function: LawFunction,
    /// Points: numbers, ranges like -5..5/101, or - for standard input
    #[arg(value_name = "X", allow_negative_numbers = true)]
    points: Vec<Points>,
    /// Tail index, 0 < α <= 2; for several laws, one column each, separate the indices by commas
    #[arg(long, short, value_name = "A", required = true, value_delimiter = ',', value_parser = points::number, allow_hyphen_values = true)]
    alpha: Vec<f64>,
    /// Scale σ [default: 1]
    #[arg(long, value_name = "S", value_parser = points::number, allow_negative_numbers = true)]
    scale: Option<f64>,
    /// Number of draws (sample only) [default: 10]
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// Seed of the draws (sample only); several laws use the same random bits, so that the draws of
    /// a line correspond [default: 0]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Omit the header line
    #[arg(long)]
    no_header: bool,
    /// Write a figure that also shows the Gaussian; without points, print nothing else
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    plot: Option<PlotFile>,
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
        if self.function == LawFunction::Sample {
            return self.draw(&laws, output);
        }
        if let Some(file) = &self.plot {
            let points: Vec<f64> = self.points.iter().flat_map(Points::numbers).collect();
            file.write(&curves(self.function, &laws, &points), output)?;
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

    /// Returns an error for combinations of options that are not allowed.
    fn check(&self) -> Result<(), Usage> {
        let (name, sample) = (self.function.name(), self.function == LawFunction::Sample);
        Usage::unless(sample || self.count.is_none() && self.seed.is_none(), || {
            format!("--count and --seed are allowed only for sample; {name} requires points")
        })?;
        Usage::unless(!sample || self.points.is_empty(), || {
            "sample takes no points; set the number of draws with --count".into()
        })?;
        Usage::unless(self.function != LawFunction::GradG || self.scale.is_none(), || {
            "grad-g has the scale alpha^(-1/alpha) by definition; leave out --scale, or use score"
                .into()
        })?;
        for (i, alpha) in self.alpha.iter().enumerate() {
            Usage::unless(!self.alpha[..i].contains(alpha), || {
                format!("--alpha contains {alpha} twice")
            })?;
        }
        let inputs = self.points.iter().filter(|points| **points == Points::StandardInput).count();
        Usage::unless(inputs < 2, || "- means standard input, which can be read only once".into())?;
        Usage::unless(inputs == 0 || self.plot.is_none(), || {
            "--plot requires points as arguments, like -5..5, not on standard input".into()
        })?;
        self.points
            .iter()
            .flat_map(Points::numbers)
            .try_for_each(|x| self.function.check(x))
            .map_err(Usage)
    }

    /// Returns a writer of values to standard output.
    fn records(
        &self,
        argument: Option<&'static str>,
        value: &'static str,
        output: &Output,
    ) -> io::Result<Records<BufWriter<StdoutLock<'static>>>> {
        let format = if output.json {
            RecordFormat::Json
        } else {
            RecordFormat::Csv { header: !self.no_header }
        };
        Records::new(
            BufWriter::new(io::stdout().lock()),
            argument,
            value,
            self.alpha.clone(),
            format,
        )
    }

    fn evaluate(&self, laws: Vec<SymmetricStable>, output: &Output) -> anyhow::Result<()> {
        let records = self.records(Some(self.function.argument()), self.function.name(), output)?;
        let mut writer =
            ValueWriter { function: self.function, values: vec![0.0; laws.len()], laws, records };
        let read = |writer: &mut ValueWriter<_>| {
            input::for_each_number(BufReader::new(io::stdin().lock()), writer)
        };
        for points in &self.points {
            match points {
                Points::StandardInput => read(&mut writer)?,
                _ => points.numbers().try_for_each(|x| writer.take(x))?,
            }
        }
        if self.points.is_empty() && io::stdin().is_terminal() {
            overview::points(self.function, &writer.laws[0])
                .into_iter()
                .try_for_each(|x| writer.take(x))?;
        } else if self.points.is_empty() {
            read(&mut writer)?;
        }
        Ok(writer.records.end()?)
    }

    fn draw(&self, laws: &[SymmetricStable], output: &Output) -> anyhow::Result<()> {
        let (count, stream) =
            (self.count.unwrap_or(10), Stream::new(self.seed.unwrap_or(0), 0, Purpose::Noise));
        let samplers: Vec<_> = laws.iter().map(SymmetricStable::sampler).collect();
        let mut records = self.records(None, "draw", output)?;
        let mut kept = vec![Vec::new(); laws.len()];
        let mut words = [0; BLOCK];
        let mut values = vec![0.0; laws.len()];
        for first in (0..count).step_by(BLOCK) {
            let words = &mut words[..BLOCK.min(count - first)];
            stream.fill(first as u64, words);
            let mut draws = vec![vec![0.0; words.len()]; laws.len()];
            samplers
                .iter()
                .zip(&mut draws)
                .for_each(|(sampler, draws)| sampler.transform(words, draws));
            for i in 0..words.len() {
                values.iter_mut().zip(&draws).for_each(|(value, draws)| *value = draws[i]);
                records.write(None, &values)?;
            }
            if self.plot.is_some() {
                kept.iter_mut().zip(draws).for_each(|(kept, draws)| kept.extend(draws));
            }
        }
        records.end()?;
        self.plot.as_ref().map_or(Ok(()), |file| file.write(&histograms(laws, &kept), output))
    }
}

/// Writes the values of a function at each point it receives.
struct ValueWriter<W: Write> {
    function: LawFunction,
    laws: Vec<SymmetricStable>,
    records: Records<W>,
    values: Vec<f64>,
}

impl<W: Write> NumberSink for ValueWriter<W> {
    fn check(&self, x: f64) -> Result<(), String> {
        self.function.check(x)
    }

    fn take(&mut self, x: f64) -> io::Result<()> {
        for (value, law) in self.values.iter_mut().zip(&self.laws) {
            *value = self.function.at(law, x);
        }
        self.records.write(Some(x), &self.values)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.records.flush()
    }
}

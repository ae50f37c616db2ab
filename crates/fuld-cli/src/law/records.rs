//! Records of numbers as CSV or JSON, written one at a time.

use std::io::{self, Write};

/// A writer of the values of several laws: CSV with one column per law, or one JSON array with one
/// object per point and law.
///
/// Numbers have the fewest digits that give them back exactly. Infinite numbers are `inf` in CSV
/// and null in JSON, which has none.
pub(super) struct Records<W: Write> {
    out: W,
    /// The name of the argument; draws have none.
    argument: Option<&'static str>,
    /// The name of the value.
    value: &'static str,
    /// The tail indices of the laws.
    alphas: Vec<f64>,
    format: RecordFormat,
    empty: bool,
}

/// The format of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordFormat {
    Csv {
        /// Whether the first line contains the names.
        header: bool,
    },
    Json,
}

impl<W: Write> Records<W> {
    pub(super) fn new(
        mut out: W,
        argument: Option<&'static str>,
        value: &'static str,
        alphas: Vec<f64>,
        format: RecordFormat,
    ) -> io::Result<Self> {
        match format {
            RecordFormat::Csv { header: true } => {
                let columns = match &alphas[..] {
                    [_] => vec![value.to_owned()],
                    alphas => alphas.iter().map(|alpha| format!("{value}_{alpha}")).collect(),
                };
                let names: Vec<String> =
                    argument.map(str::to_owned).into_iter().chain(columns).collect();
                writeln!(out, "{}", names.join(","))?;
            }
            RecordFormat::Csv { header: false } => {}
            RecordFormat::Json => out.write_all(b"[")?,
        }
        Ok(Self { out, argument, value, alphas, format, empty: true })
    }

    /// Writes the values of all laws at a point, or one draw from each of them without a point.
    pub(super) fn write(&mut self, point: Option<f64>, values: &[f64]) -> io::Result<()> {
        if self.format != RecordFormat::Json {
            let cells: Vec<String> = point.iter().chain(values).copied().map(shortest).collect();
            return writeln!(self.out, "{}", cells.join(","));
        }
        let Self { argument, value: name, .. } = *self;
        for (alpha, &value) in self.alphas.iter().zip(values) {
            self.out.write_all(if self.empty { b"\n  {" } else { b",\n  {" })?;
            self.empty = false;
            if let (Some(argument), Some(point)) = (argument, point) {
                write!(self.out, "\"{argument}\":{},", json(point))?;
            }
            write!(self.out, "\"alpha\":{},\"{name}\":{}}}", json(*alpha), json(value))?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes the end of the file.
    pub(super) fn end(mut self) -> io::Result<()> {
        match self.format {
            RecordFormat::Json if self.empty => self.out.write_all(b"]\n")?,
            RecordFormat::Json => self.out.write_all(b"\n]\n")?,
            RecordFormat::Csv { .. } => {}
        }
        self.out.flush()
    }
}

/// Formats a number for JSON, which has no infinite ones.
fn json(number: f64) -> String {
    if number.is_finite() { shortest(number) } else { "null".into() }
}

/// Formats a number with the fewest digits that give it back exactly, with an exponent if it is
/// very small or large. Zero has no sign.
fn shortest(number: f64) -> String {
    let number = number + 0.0;
    let size = number.abs();
    if number == 0.0 || (1e-5..1e16).contains(&size) || !number.is_finite() {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

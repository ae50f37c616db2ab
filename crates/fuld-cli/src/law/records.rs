//! Records of numbers as CSV or JSON, written one at a time.

use std::io::{self, Write};

/// A writer of records: CSV with a header, or one JSON array of objects.
///
/// Numbers have the fewest digits that give them back exactly. Infinite numbers are `inf` in CSV and null in JSON, which has none.
pub(super) struct Records<W: Write> {
    out: W,
    names: Vec<String>,
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
    pub(super) fn new(mut out: W, names: Vec<String>, format: RecordFormat) -> io::Result<Self> {
        match format {
            RecordFormat::Csv { header: true } => writeln!(out, "{}", names.join(","))?,
            RecordFormat::Csv { header: false } => {}
            RecordFormat::Json => out.write_all(b"[")?,
        }
        Ok(Self { out, names, format, empty: true })
    }

    /// Writes a record, one number for each name.
    pub(super) fn write(&mut self, numbers: &[f64]) -> io::Result<()> {
        let json = self.format == RecordFormat::Json;
        if json {
            self.out.write_all(if self.empty { b"\n  {" } else { b",\n  {" })?;
        }
        self.empty = false;
        for (i, (name, number)) in self.names.iter().zip(numbers).enumerate() {
            let comma = if i > 0 { "," } else { "" };
            if !json {
                write!(self.out, "{comma}{}", shortest(*number))?;
            } else if number.is_finite() {
                write!(self.out, "{comma}\"{name}\":{}", shortest(*number))?;
            } else {
                write!(self.out, "{comma}\"{name}\":null")?;
            }
        }
        self.out.write_all(if json { b"}" } else { b"\n" })
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

/// Formats a number with the fewest digits that give it back exactly, with an exponent if it is very small or large. Zero has no sign.
fn shortest(number: f64) -> String {
    let number = number + 0.0;
    let size = number.abs();
    if number == 0.0 || (1e-5..1e16).contains(&size) || !number.is_finite() {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

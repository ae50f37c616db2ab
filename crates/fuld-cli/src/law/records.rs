//! Lines of numbers, as CSV or JSON, written as they come.

use std::io::{self, Write};

/// Writes one record after the other: CSV with a line of names, or one JSON array of objects.
///
/// Numbers have as few digits as give them back exactly. What is infinite is `inf` in CSV and null in JSON, which has no such number.
pub(super) struct Records<W: Write> {
    out: W,
    names: Vec<String>,
    form: Form,
    empty: bool,
}

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Csv {
        /// Whether names stand above the numbers.
        header: bool,
    },
    Json,
}

impl<W: Write> Records<W> {
    pub(super) fn new(mut out: W, names: Vec<String>, form: Form) -> io::Result<Self> {
        match form {
            Form::Csv { header: true } => writeln!(out, "{}", names.join(","))?,
            Form::Csv { header: false } => {}
            Form::Json => out.write_all(b"[")?,
        }
        Ok(Self { out, names, form, empty: true })
    }

    /// The next record, a number for each name.
    pub(super) fn write(&mut self, numbers: &[f64]) -> io::Result<()> {
        let json = self.form == Form::Json;
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

    /// Writes the end.
    pub(super) fn end(mut self) -> io::Result<()> {
        match self.form {
            Form::Json if self.empty => self.out.write_all(b"]\n")?,
            Form::Json => self.out.write_all(b"\n]\n")?,
            Form::Csv { .. } => {}
        }
        self.out.flush()
    }
}

/// As few digits as give the number back exactly, with an exponent where zeros would be many; 0 has no sign.
fn shortest(number: f64) -> String {
    let number = number + 0.0;
    let size = number.abs();
    if number == 0.0 || (1e-5..1e16).contains(&size) || !number.is_finite() {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

//! Evaluates the law, its field table or its quantile at points read from standard input.
//!
//! ```text
//! $ echo 1.5,0.7 | cargo run --release --example evaluate
//! alpha,x,pdf,sf,score,score_derivative,regime
//! 1.5,0.7,2.4078…e-1,3.1020…e-1,4.9350…e-1,6.3900…e-1,Contour
//! ```
//!
//! | argument | a line in | a line out |
//! |---|---|---|
//! | `law` (or none) | `alpha,x` | `alpha,x,pdf,sf,score,score_derivative,regime` at unit scale |
//! | `table` | `alpha,v` | `alpha,v,double,single`: ∇G_α(v) from the table in both precisions; v is rounded to single |
//! | `isf` | `alpha,q` | `alpha,q,x` with P(X > x) = q at unit scale |
//!
//! Seventeen significant digits are printed, so that every double comes back as it was. Lines with
//! the same alpha are best kept together: what depends on alpha alone is computed once for each run
//! of them.

use levy_stable::{FieldTable, ParameterError, SymmetricStable};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// The quantity that is printed for each point.
enum Quantity {
    Law,
    Table,
    Isf,
}

impl Quantity {
    fn named(name: Option<&str>) -> Result<Self, String> {
        match name {
            None | Some("law") => Ok(Self::Law),
            Some("table") => Ok(Self::Table),
            Some("isf") => Ok(Self::Isf),
            Some(other) => Err(format!("expected 'law', 'table' or 'isf', got '{other}'")),
        }
    }

    fn header(&self) -> &'static str {
        match self {
            Self::Law => "alpha,x,pdf,sf,score,score_derivative,regime",
            Self::Table => "alpha,v,double,single",
            Self::Isf => "alpha,q,x",
        }
    }

    fn prepare(&self, alpha: f64) -> Result<Prepared, ParameterError> {
        Ok(match self {
            Self::Law => Prepared::Law(SymmetricStable::new(alpha)?),
            Self::Table => Prepared::Table(FieldTable::new(alpha)?),
            Self::Isf => Prepared::Isf(SymmetricStable::new(alpha)?),
        })
    }
}

/// A quantity and the part of its computation that depends on alpha alone.
enum Prepared {
    Law(SymmetricStable),
    Table(FieldTable),
    Isf(SymmetricStable),
}

impl Prepared {
    fn write(&self, out: &mut impl Write, alpha: f64, x: f64) -> io::Result<()> {
        write!(out, "{alpha:?},")?;
        match self {
            Self::Law(law) => {
                let (pdf, sf) = (law.pdf(x), law.sf(x));
                let (score, slope) = (law.score(x), law.score_derivative(x));
                let regime = law.regime(x);
                writeln!(out, "{x:?},{pdf:.16e},{sf:.16e},{score:.16e},{slope:.16e},{regime:?}")
            }
            Self::Table(table) => {
                let v = x as f32;
                let (double, single) = (table.at(f64::from(v)), table.at_f32(v));
                writeln!(out, "{:?},{double:.16e},{single:.16e}", f64::from(v))
            }
            Self::Isf(law) => writeln!(out, "{x:?},{:.16e}", law.isf(x)),
        }
    }
}

/// The two numbers of a line.
fn parse(line: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| {
        let parsed = text.trim().parse::<f64>();
        parsed.map_err(|_| format!("'{}' is not a number", text.trim()))
    };
    match line.split_once(',') {
        Some((alpha, x)) => Ok((number(alpha)?, number(x)?)),
        None => Err(format!("expected two numbers with a comma between, got '{line}'")),
    }
}

fn run(quantity: &Quantity, input: impl BufRead, mut out: impl Write) -> Result<(), String> {
    let write_error = |error: io::Error| format!("cannot write: {error}");
    writeln!(out, "{}", quantity.header()).map_err(write_error)?;
    let mut last: Option<(f64, Prepared)> = None;
    for (index, line) in input.lines().enumerate() {
        let at_line = |error: String| format!("line {}: {error}", index + 1);
        let line = line.map_err(|error| at_line(error.to_string()))?;
        let (alpha, x) = parse(&line).map_err(at_line)?;
        let prepared = match last.take() {
            Some((known, prepared)) if known == alpha => prepared,
            _ => quantity.prepare(alpha).map_err(|error| at_line(error.to_string()))?,
        };
        prepared.write(&mut out, alpha, x).map_err(write_error)?;
        last = Some((alpha, prepared));
    }
    out.flush().map_err(write_error)
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1);
    let out = io::BufWriter::new(io::stdout().lock());
    let result = Quantity::named(name.as_deref())
        .and_then(|quantity| run(&quantity, io::stdin().lock(), out));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evaluate: {error}");
            ExitCode::FAILURE
        }
    }
}

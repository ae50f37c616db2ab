//! Reading of numbers from standard input, line by line.

use std::io::{self, BufRead};
use thiserror::Error;

/// An error of reading numbers or of writing their values.
#[derive(Debug, Error)]
pub(super) enum InputError {
    #[error("standard input, line {line}: {text:?} is not a number")]
    NotANumber { line: usize, text: String },
    #[error("standard input, line {line}: {message}")]
    Refused { line: usize, message: String },
    #[error("standard input cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    #[error(transparent)]
    Output(io::Error),
}

/// A consumer of numbers.
pub(super) trait NumberSink {
    /// Returns an error message if the number is not allowed.
    fn check(&self, x: f64) -> Result<(), String>;
    /// Processes a number.
    fn take(&mut self, x: f64) -> io::Result<()>;
    /// Writes out all results so far. Called when no input is buffered, so that an interactive
    /// writer gets its answers.
    fn flush(&mut self) -> io::Result<()>;
}

/// Passes every number to `sink`. Numbers are separated by white space or commas; `#` starts a
/// comment.
pub(super) fn for_each_number<R: io::Read>(
    mut reader: io::BufReader<R>,
    sink: &mut impl NumberSink,
) -> Result<(), InputError> {
    let mut bytes = Vec::new();
    for line in 1.. {
        if reader.buffer().is_empty() {
            sink.flush().map_err(InputError::Output)?;
        }
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(InputError::Unreadable)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.split('#').next().unwrap_or_default();
        for token in text.split([' ', '\t', '\r', '\n', ',']).filter(|token| !token.is_empty()) {
            let number =
                token.parse().map_err(|_| InputError::NotANumber { line, text: token.into() })?;
            sink.check(number).map_err(|message| InputError::Refused { line, message })?;
            sink.take(number).map_err(InputError::Output)?;
        }
    }
    Ok(())
}

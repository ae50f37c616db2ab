//! Numbers from standard input, as they come.

use std::io::{self, BufRead};
use thiserror::Error;

/// What stands in the way of the numbers.
#[derive(Debug, Error)]
pub(super) enum InputError {
    #[error("standard input, line {line}: {text:?} is no number")]
    NoNumber { line: usize, text: String },
    #[error("standard input, line {line}: {message}")]
    Refused { line: usize, message: String },
    #[error("standard input cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    #[error(transparent)]
    Output(io::Error),
}

/// What to do with numbers.
pub(super) trait Taker {
    /// Why it has no use for this number, if so.
    fn check(&self, x: f64) -> Result<(), String>;
    fn take(&mut self, x: f64) -> io::Result<()>;
    /// Nothing more is waiting at the moment: someone may be waiting for us.
    fn pause(&mut self) -> io::Result<()>;
}

/// Hands on every number, one line at a time; blanks and commas part them, `#` begins a comment.
pub(super) fn each<R: io::Read>(
    mut reader: io::BufReader<R>,
    taker: &mut impl Taker,
) -> Result<(), InputError> {
    let mut bytes = Vec::new();
    for line in 1.. {
        if reader.buffer().is_empty() {
            taker.pause().map_err(InputError::Output)?;
        }
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(InputError::Unreadable)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.split('#').next().unwrap_or_default();
        for token in text.split([' ', '\t', '\r', '\n', ',']).filter(|token| !token.is_empty()) {
            let number = token.parse().map_err(|_| InputError::NoNumber { line, text: token.into() })?;
            taker.check(number).map_err(|message| InputError::Refused { line, message })?;
            taker.take(number).map_err(InputError::Output)?;
        }
    }
    Ok(())
}

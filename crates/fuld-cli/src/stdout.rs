//! Standard output that reports failure, as on a full disk, like any other error. Rust's own `println!` panics there.

use std::fmt::Arguments;
use std::io::Write;

/// Writes to standard output, or ends the program with an error if that is not possible.
pub(crate) fn print(text: Arguments<'_>) {
    if let Err(error) = std::io::stdout().write_fmt(text) {
        crate::stderr::say(format_args!("error: standard output cannot be written: {error}"));
        std::process::exit(1);
    }
}

/// Replaces `std::print!` in this crate.
macro_rules! print {
    ($($text:tt)*) => { $crate::stdout::print(format_args!($($text)*)) };
}

/// Replaces `std::println!` in this crate.
macro_rules! println {
    () => { $crate::stdout::print(format_args!("\n")) };
    ($($text:tt)*) => { $crate::stdout::print(format_args!("{}\n", format_args!($($text)*))) };
}

//! `print!` and `println!` that end the program with an error if standard output cannot be written,
//! as on a full disk. Those of the standard library panic.

use std::fmt::Arguments;
use std::io::Write;

/// Writes to standard output, or ends the program with an error.
pub(crate) fn print(text: Arguments<'_>) {
    if let Err(error) = std::io::stdout().write_fmt(text) {
        crate::stderr::write_line(format_args!("error: cannot write to standard output: {error}"));
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

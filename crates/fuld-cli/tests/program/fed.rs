//! Runs the program with input on standard input.

use super::{Ended, ended};
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `fuld` in a folder with these arguments, separated by spaces, and this standard input.
pub(crate) fn fuld(folder: &Path, arguments: &str, input: impl AsRef<[u8]>) -> Ended {
    let mut child = command(folder, arguments.split_whitespace()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.as_ref().to_vec());
    // In a thread, because the program prints before it has read everything. It may also end
    // without reading.
    let feeder = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    ended(output)
}

/// Returns a command with all standard streams piped.
pub(crate) fn command<A: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = super::command(folder, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

//! The program with something on its standard input.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the program left behind when it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts that all went well, and gives what was printed.
    #[track_caller]
    pub(crate) fn printed(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    /// Asserts the exit code, that standard error says all this in one error, and that nothing panicked.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, says: &[&str]) {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        assert!(self.stderr.contains("error: ") && !self.stderr.contains("panicked"), "{}", self.stderr);
        for text in says {
            assert!(self.stderr.contains(text), "{text:?} is not in:\n{}", self.stderr);
        }
    }
}

/// Runs `fuld` in a folder with these arguments, parted by blanks, and this on its standard input.
pub(crate) fn fuld(folder: &Path, arguments: &str, input: impl AsRef<[u8]>) -> Ended {
    let mut child = command(folder, arguments.split_whitespace()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.as_ref().to_vec());
    // In a thread: it answers before it has read everything. It may also end without reading.
    let feeder = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The program with all its ends in our hands.
pub(crate) fn command<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuld"));
    command.args(arguments).current_dir(folder).env("FULD_DATA", folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

//! Runs the program in a temporary folder, to its end or until it is stopped or killed.

pub(crate) mod fed;
pub(crate) mod places;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Kills per kill loop.
pub(crate) const KILLS: u64 = 20;

/// Exit code and output of the program.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if a signal ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts the exit code, and that standard error contains all these texts.
    #[track_caller]
    pub(crate) fn with(self, code: i32, says: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        for text in says {
            assert!(self.stderr.contains(text), "{text:?} is not in:\n{}", self.stderr);
        }
        self
    }

    /// Asserts success and returns standard output.
    #[track_caller]
    pub(crate) fn printed(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    /// Asserts the exit code, that standard error contains an error with all these texts, and that
    /// nothing panicked.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, says: &[&str]) {
        let ended = self.with(code, says);
        assert!(
            ended.stderr.contains("error: ") && !ended.stderr.contains("panicked"),
            "{}",
            ended.stderr
        );
    }
}

fn command<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuld"));
    command.args(arguments).current_dir(folder).env("FULD_DATA", folder);
    command
}

/// Runs `fuld` in a folder with these arguments, separated by spaces.
pub(crate) fn fuld(folder: &Path, arguments: &str) -> Ended {
    ended(command(folder, arguments.split_whitespace()).output().unwrap())
}

/// A running program, which is killed when the value is dropped.
pub(crate) struct Running(Option<Child>);

impl Running {
    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts `fuld` without waiting for its end.
pub(crate) fn start(folder: &Path, arguments: &str) -> Running {
    Running(Some(
        command(folder, arguments.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    ))
}

/// Waits for the end of the program.
pub(crate) fn wait(mut running: Running) -> Ended {
    ended(running.0.take().unwrap().wait_with_output().unwrap())
}

fn ended(Output { status, stdout, stderr }: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// Sends a signal, as in `signal(&mut running, "INT")`.
pub(crate) fn signal(running: &mut Running, name: &str) {
    let id = running.child().id().to_string();
    assert!(Command::new("kill").arg(format!("-{name}")).arg(id).status().unwrap().success());
}

/// Waits until a condition holds. The program must not end before.
#[track_caller]
pub(crate) fn wait_until(running: &mut Running, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(running.child().try_wait().unwrap().is_none(), "the program ended too early");
        assert!(start.elapsed() < Duration::from_secs(60), "the program makes no progress");
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Kills the program with SIGKILL, so that it cannot clean up. It must be running.
#[track_caller]
pub(crate) fn kill(mut running: Running) {
    if let Some(status) = running.child().try_wait().unwrap() {
        panic!("the program ended before it was killed: {status}\n{:?}", wait(running));
    }
    running.child().kill().unwrap(); // SIGKILL
    running.child().wait().unwrap();
}

/// Returns the number of steps in the checkpoint of a run's folder, 0 if there is none.
pub(crate) fn reached(run: &Path) -> u64 {
    let Ok(bytes) = std::fs::read(run.join("checkpoint.bin")) else { return 0 };
    // A mark and a length precede a header in TOML.
    let header = String::from_utf8_lossy(&bytes[16..bytes.len().min(64)]).into_owned();
    let number = header.strip_prefix("iteration = ").and_then(|rest| rest.lines().next());
    number.unwrap().parse().unwrap()
}

/// A sequence of pseudorandom numbers.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number from 0 to `end` − 1.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 += 1;
        fuld::random::Stream::new(self.0, 0, fuld::random::Purpose::Noise).word(0) % end
    }

    /// Sleeps for a random time below this many milliseconds.
    pub(crate) fn sleep_below(&mut self, milliseconds: u64) {
        std::thread::sleep(Duration::from_micros(self.below(1000 * milliseconds)));
    }
}

/// Replaces a text in a stored file and renews its checksum, as another version of the program
/// would have written it.
#[track_caller]
pub(crate) fn rewrite(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let body = &text[..text.rfind("# checksum ").unwrap()];
    assert!(body.contains(from), "{body}");
    let body = body.replacen(from, to, 1);
    let checksum = fuld::durable::fingerprint(body.as_bytes());
    std::fs::write(path, format!("{body}# checksum {checksum:016x}\n")).unwrap();
}

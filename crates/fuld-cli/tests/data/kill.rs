//! A killed fetch continues where it was.

use super::loopback::{Fault, Server};
use super::published_files::{hasty, one_file};
use fuld_train::data::{FetchOutcome, RetryPolicy, fetch};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const CHILD: &str = "FULD_TEST_FETCH_FROM";

/// The process that is killed. As a test it does nothing.
#[test]
fn child() {
    let (Ok(url), Ok(directory)) = (std::env::var(CHILD), std::env::var("FULD_DATA")) else {
        return;
    };
    let patient = RetryPolicy { stall: Duration::from_secs(60), ..hasty() };
    fetch(&one_file(&[&url]).0, directory.as_ref(), patient, &mut |_| {}).unwrap();
}

#[test]
fn a_killed_fetch_continues() {
    let directory = TempDir::new().unwrap();
    let file = one_file(&[]).1;
    let server = Server::start(file.clone(), &[Fault::Stall(1234), Fault::None]);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "data::kill::child"])
        .env(CHILD, &server.url)
        .env("FULD_DATA", directory.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let part = directory.path().join("made/one.gz.part");
    let start = Instant::now();
    while part.metadata().map_or(0, |m| m.len()) < 1234 {
        assert!(start.elapsed() < Duration::from_secs(30), "the child does not fetch");
        std::thread::sleep(Duration::from_millis(5));
    }
    // SIGKILL on Unix.
    child.kill().unwrap();
    child.wait().unwrap();

    let (source, _) = one_file(&[&server.url]);
    let (folder, fetched) = fetch(&source, directory.path(), hasty(), &mut |_| {}).unwrap();
    assert_eq!(fetched, FetchOutcome::Archives(1));
    assert_eq!(std::fs::read(folder.join("one.gz")).unwrap(), file);
    assert_eq!(server.ranges(), [None, Some("bytes=1234-".into())]);
    assert_eq!(server.sent(), file.len());
}

//! Tests of the command `fuld data`.

use super::loopback::{Fault, Server};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn fuld(data: &Path, args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_fuld"))
        .args(args)
        .env("FULD_DATA", data)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn the_list_shows_locations_and_how_to_fetch() {
    let data = TempDir::new().unwrap();
    std::fs::create_dir(data.path().join("cifar-10-batches-bin")).unwrap();
    std::fs::write(data.path().join("cifar-10-batches-bin/test_batch.bin"), b"").unwrap();
    let expected = format!(
        "\
name      training    test  classes  where
digits       1,442     355       10  part of the program
mnist       60,000  10,000       10  not fetched: fuld data fetch mnist
cifar10     50,000  10,000       10  incomplete in {0}/cifar-10-batches-bin (missing: data_batch_1.bin, data_batch_2.bin, \
data_batch_3.bin, data_batch_4.bin, data_batch_5.bin): fuld data fetch cifar10

The data directory is {0}.
",
        data.path().display()
    );
    let elsewhere = TempDir::new().unwrap();
    for (dir, args) in [
        (data.path(), &["data"][..]),
        (data.path(), &["data", "list"]),
        (elsewhere.path(), &["data", "list", "--data-dir", data.path().to_str().unwrap()]),
    ] {
        assert_eq!(fuld(dir, args), (0, expected.clone(), String::new()));
    }
}

#[test]
fn a_mirror_without_the_files_is_an_error() {
    let data = TempDir::new().unwrap();
    for (set, archive) in
        [("mnist", "train-images-idx3-ubyte.gz"), ("cifar10", "cifar-10-binary.tar.gz")]
    {
        let server = Server::start(Vec::new(), &[Fault::Status(404)]);
        let (code, stdout, stderr) =
            fuld(data.path(), &["data", "fetch", set, "--mirror", &server.url]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        let lines = [
            format!("error: {archive} could not be fetched:"),
            format!("  {}{archive}: the server answered 404 Not Found", server.url),
            "Try again later: the same command continues where it stopped.".into(),
        ];
        assert!(lines.iter().all(|line| stderr.contains(line)), "{stderr}");
        assert_eq!(server.ranges().len(), 1);
    }
}

#[test]
fn a_file_with_the_wrong_checksum_is_refused() {
    let data = TempDir::new().unwrap();
    let server = Server::start(vec![0; 9_912_422], &[]);
    let (code, _, stderr) = fuld(data.path(), &["data", "fetch", "mnist", "--mirror", &server.url]);
    assert_eq!(code, 1);
    assert!(stderr.contains("the received file has the SHA-256"), "{stderr}");
    assert_eq!(data.path().join("mnist").read_dir().unwrap().count(), 0);
}

#[test]
fn a_stalled_server_is_abandoned_after_the_timeout() {
    let data = TempDir::new().unwrap();
    let server = Server::start(vec![0; 9_912_422], &[Fault::Stall(0)]);
    let args = ["data", "fetch", "mnist", "--mirror", &server.url, "--stall", "1"];
    let (code, _, stderr) = fuld(data.path(), &args);
    assert!(code == 1 && stderr.contains("the server stopped sending data"), "{stderr}");
}

#[test]
fn an_unknown_set_is_an_error_that_lists_the_known_ones() {
    let data = TempDir::new().unwrap();
    let (code, _, stderr) = fuld(data.path(), &["data", "fetch", "imagenet"]);
    assert!(code == 2 && stderr.contains("mnist, cifar10"), "{stderr}");
}

#[test]
fn help_texts_have_examples() {
    let data = TempDir::new().unwrap();
    let (_, help, _) = fuld(data.path(), &["data", "--help"]);
    assert!(help.contains("Examples:") && help.contains("$FULD_DATA"), "{help}");
    let (_, help, _) = fuld(data.path(), &["data", "fetch", "--help"]);
    assert!(help.contains("--mirror https://") && !help.contains("--stall"), "{help}");
}

/// Tests the publishers' files if FULD_TEST_DATA is a data directory with them.
#[test]
fn the_real_sets_are_complete() {
    let Some(data) = std::env::var_os("FULD_TEST_DATA") else {
        println!("skipped: FULD_TEST_DATA is not set");
        return;
    };
    for (set, counts) in [("mnist", "60,000 training"), ("cifar10", "50,000 training")] {
        let (code, stdout, stderr) =
            fuld(data.as_ref(), &["data", "fetch", set, "--mirror", "http://127.0.0.1:9/"]);
        assert_eq!((code, stderr.as_str()), (0, ""));
        assert!(
            stdout.starts_with(&format!(
                "{set} was already complete: {counts} and 10,000 test images"
            )),
            "{stdout}"
        );
    }
}

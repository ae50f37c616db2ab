//! Tests of the command `fuld train`: results, interruptions and errors.

mod divergence;
mod folder;
mod interruption;
mod kill;
mod learning;
mod refusal;
mod repetition;
mod weights;

use crate::program::fuld;
use std::path::Path;
use tempfile::TempDir;

/// The command for a small network that trains in a fraction of a second.
const TINY: &str =
    "train --width 16 --depth 3 --batch 50 --iterations 100 --measure-every 20 --out run";

/// Creates an empty folder.
fn scratch() -> TempDir {
    TempDir::new().unwrap()
}

/// Returns the bytes of a file of the run.
#[track_caller]
fn file(folder: &TempDir, name: &str) -> Vec<u8> {
    let path = folder.path().join("run").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs `fuld` with these arguments to the end and returns the folder.
#[track_caller]
fn finished(arguments: &str) -> TempDir {
    let folder = scratch();
    fuld(folder.path(), arguments).with(0, &[]);
    folder
}

/// Asserts that files of two runs are equal.
#[track_caller]
fn assert_same(one: &TempDir, other: &TempDir, names: &[&str]) {
    for name in names {
        assert!(file(one, name) == file(other, name), "{name} differs");
    }
}

/// Reads the result of the run.
fn result(folder: &Path) -> toml::Table {
    std::fs::read_to_string(folder.join("run/result.toml")).unwrap().parse().unwrap()
}

/// Returns the last number of a column of `metrics.csv`.
fn last(folder: &TempDir, column: &str) -> f64 {
    let text = String::from_utf8(file(folder, "metrics.csv")).unwrap();
    let place = text.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
    text.lines().last().unwrap().split(',').nth(place).unwrap().parse().unwrap()
}

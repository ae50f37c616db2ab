//! Tests of the command `fuld sample`.

mod config;
mod disk;
mod folder;
mod interruption;
mod refusal;
mod seed;
mod stale;
mod summary;
mod systems;

use crate::program::{Ended, fuld};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

/// The command that samples the double well.
const WELL: &str = "sample x^4/4-x^2/2 --seed 0 --out run";

/// Creates an empty folder.
fn scratch() -> TempDir {
    TempDir::new().unwrap()
}

/// Runs `fuld` with `--json` and parses the output.
#[track_caller]
fn json(folder: &Path, arguments: &str) -> serde_json::Value {
    let Ended { stdout, .. } = fuld(folder, &format!("{arguments} --json")).with(0, &[]);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

/// Returns all files below a folder by their relative path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(place) = open.pop() {
        for entry in std::fs::read_dir(&place).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
                all.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    all
}

/// Asserts that two runs wrote the same files.
#[track_caller]
fn assert_same_run(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert!(one.len() > 10 && one.keys().eq(other.keys()), "{:?}\n{:?}", one.keys(), other.keys());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs");
    }
}

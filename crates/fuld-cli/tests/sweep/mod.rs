//! Tests of the command `fuld sweep`, and of stacks of runs.

mod failure;
mod folder;
mod grid;
mod interruption;
mod parquet;
mod sharing;
mod stack;
mod table;

use crate::program::fuld;
use std::path::PathBuf;
use tempfile::TempDir;

/// A grid of twelve small runs.
const GRID: &str = "\
    width = [8, 12]\n\
    depth = 2\n\
    batch = 20\n\
    iterations = 1000\n\
    measure_every = 10\n\
    seed = '0..3'\n\
    optimizer = ['fuld', 'adam']\n\
    alpha = 1.6\n";

const SWEEP: &str = "sweep grid.toml --out swept --threads 2";

/// Creates a folder with this grid.
fn with_grid(grid: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("grid.toml"), grid).unwrap();
    folder
}

/// Creates a folder with this grid and sweeps it.
#[track_caller]
fn swept(grid: &str) -> TempDir {
    let folder = with_grid(grid);
    fuld(folder.path(), SWEEP).with(0, &[]);
    folder
}

/// Returns the folders of the runs, sorted by name.
fn runs(folder: &TempDir) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.path().join("swept/runs")) else {
        return Vec::new();
    };
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    runs.sort();
    runs
}

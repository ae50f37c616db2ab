//! `fuld law` as it is typed.

mod golden;
mod input;
mod pictures;
#[path = "../program/mod.rs"]
mod program;
mod refusal;
mod sample;

use program::{Ended, fed};
use tempfile::TempDir;

/// Runs `fuld law` in an empty folder, with this on its standard input.
fn law(arguments: &str, input: &str) -> Ended {
    fed::fuld(TempDir::new().unwrap().path(), &format!("law {arguments}"), input)
}

/// The numbers of CSV with a line of names.
#[track_caller]
fn numbers(csv: &str) -> Vec<Vec<f64>> {
    csv.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

//! Tests of the command `fuld law`.

mod golden;
mod input;
mod pictures;
mod refusal;
mod sample;

use crate::program::{Ended, fed};
use tempfile::TempDir;

/// Runs `fuld law` in an empty folder with this standard input.
fn law(arguments: &str, input: &str) -> Ended {
    fed::fuld(TempDir::new().unwrap().path(), &format!("law {arguments}"), input)
}

/// Returns the numbers of CSV with a header.
#[track_caller]
fn numbers(csv: &str) -> Vec<Vec<f64>> {
    csv.lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect()
}

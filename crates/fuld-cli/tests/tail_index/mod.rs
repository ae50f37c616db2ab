//! Tests of the command `fuld tail-index`: estimates, file formats and errors.

mod damage;
mod findings;
mod formats;
mod refusal;
mod sample_files;

use crate::program::{Ended, fed};
use serde_json::Value;
use std::path::Path;

/// Runs `fuld tail-index` in a folder.
fn tail_index(folder: &Path, arguments: &str) -> Ended {
    fed::fuld(folder, &format!("tail-index {arguments}"), "")
}

/// Returns the JSON output, computed with few resamples.
#[track_caller]
fn found(folder: &Path, arguments: &str) -> Value {
    let printed = tail_index(folder, &format!("{arguments} --json --resamples 39")).printed();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}:\n{printed}"))
}

//! The recorded runs of NUTS.
//!
//! `nuts.csv` holds them, so that the program does not contain NUTS. `sampler` made them, and a test
//! compares them with new runs.

use super::Measured;

/// The method's name in the tables.
pub(super) const NUTS: &str = "nuts";

/// The file: the command that makes it, the settings of the runs, and their table.
pub(super) const FILE: &str = include_str!("nuts.csv");

/// Returns the settings of the runs: the second line of the file.
pub(super) fn settings() -> &'static str {
    FILE.lines().nth(1).unwrap_or_default().trim_start_matches("# ")
}

/// Returns the runs of all targets.
pub(super) fn runs() -> csv::Result<Vec<Measured>> {
    csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(FILE.as_bytes())
        .deserialize()
        .collect()
}

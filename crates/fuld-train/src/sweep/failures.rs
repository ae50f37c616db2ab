//! Records of failed runs. They are not in the folders of the runs, because such a folder may be
//! the cause of the failure.

use crate::spec::TrainSpec;
use fuld::durable::replace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The record of a failed run.
#[derive(Serialize, Deserialize)]
pub(super) struct RunFailure {
    pub(super) error: String,
    pub(super) spec: TrainSpec,
}

/// Records that a run failed. The next sweep tries it again.
pub(super) fn record(out: &Path, spec: &TrainSpec, error: &str) -> io::Result<()> {
    fs::create_dir_all(out.join("failures"))?;
    let failure = RunFailure { error: error.into(), spec: spec.clone() };
    let text = toml::to_string(&failure).map_err(io::Error::other)?;
    replace(&file(out, spec), text.as_bytes())
}

/// Deletes the record of a run that has a result now.
pub(super) fn forget(out: &Path, spec: &TrainSpec) {
    // If deleting fails, the result still takes precedence over the record.
    let _ = fs::remove_file(file(out, spec));
}

/// Returns the failures in a sweep's folder by the names of their runs.
pub(super) fn all(out: &Path) -> io::Result<BTreeMap<String, RunFailure>> {
    let entries = match fs::read_dir(out.join("failures")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries?,
    };
    let mut failures = BTreeMap::new();
    for entry in entries {
        // Another process may delete the file at this moment.
        let text = fs::read_to_string(entry?.path()).unwrap_or_default();
        if let Ok(failure) = toml::from_str::<RunFailure>(&text) {
            failures.insert(failure.spec.name(), failure);
        }
    }
    Ok(failures)
}

fn file(out: &Path, spec: &TrainSpec) -> PathBuf {
    out.join("failures").join(spec.name() + ".toml")
}

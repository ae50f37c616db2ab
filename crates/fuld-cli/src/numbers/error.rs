//! What stands in the way of numbers.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file gave no numbers. It names the file, and the place in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum NumbersError {
    /// The file is not there, or may not be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is cut, changed, or of another format than its name says.
    #[error("{} is damaged, or of another format: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// It is whole, but holds what cannot be used.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What it holds, and what to do about it.
        why: String,
    },
    /// There is no such column.
    #[error("{} has no column {wanted:?}; it has {}", path.display(), listed(names))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
        /// What is there.
        names: Vec<String>,
    },
    /// A column is asked for twice.
    #[error("column {name:?} is asked for twice; once is enough")]
    Twice {
        /// Its name, or its number.
        name: String,
    },
}

impl NumbersError {
    pub(super) fn damaged(path: &Path, why: impl ToString) -> Self {
        Self::Damaged { path: path.into(), why: why.to_string() }
    }

    pub(super) fn unusable(path: &Path, why: impl ToString) -> Self {
        Self::Unusable { path: path.into(), why: why.to_string() }
    }
}

/// The first dozen names.
fn listed(names: &[String]) -> String {
    const MANY: usize = 12;
    let more = names.len().saturating_sub(MANY);
    let shown = names.iter().take(MANY).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

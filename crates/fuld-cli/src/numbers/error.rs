//! Errors of reading numbers from files.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of reading numbers from a file. It names the file and the position in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum NumbersError {
    /// The file does not exist or may not be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file is cut off, changed, or has another format than its extension.
    #[error("{} is damaged or has another format: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file is valid, but its contents cannot be used.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The reason, and a fix if there is one.
        why: String,
    },
    /// The file does not have the requested column.
    #[error("{} has no column {wanted:?}; it has {}", path.display(), listed(names))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The requested column.
        wanted: String,
        /// The columns of the file.
        names: Vec<String>,
    },
    /// A column is requested twice.
    #[error("column {name:?} is requested twice")]
    DuplicateColumn {
        /// The name or number of the column.
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

/// Lists the first dozen names.
fn listed(names: &[String]) -> String {
    const MANY: usize = 12;
    let more = names.len().saturating_sub(MANY);
    let shown = names.iter().take(MANY).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

//! Errors of fetching and downloading.

use std::fmt::{self, Write};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of fetching a data set. The bytes received so far are kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No mirror delivered a file.
    #[error("{archive} could not be fetched:\n{}Try again later: the same command continues where it stopped. Or put {archive} into {} yourself.", listed(failures), folder.display())]
    Mirrors {
        /// The file.
        archive: String,
        /// The folder it belongs in.
        folder: PathBuf,
        /// The failure of each mirror.
        failures: Vec<MirrorFailure>,
    },
    /// A file cannot be written, perhaps because the disk is full.
    #[error(
        "cannot write {}: {source}; the bytes received so far are kept, and the same command continues from there", path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// An archive does not contain a valid file of this name.
    #[error("{} does not contain a valid {member}", archive.display())]
    Member {
        /// The archive.
        archive: PathBuf,
        /// The file.
        member: String,
    },
    /// A file has the name of a published one and other contents.
    #[error("{} exists, but is not the published file; move it away, then fetch again", .0.display())]
    Occupied(PathBuf),
    /// Another process is fetching into the folder.
    #[error("another process is fetching into {}; wait until it has finished", .0.display())]
    Busy(PathBuf),
}

impl FetchError {
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    pub(super) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }
}

/// The failure of a mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorFailure {
    /// The requested address.
    pub url: String,
    /// The reason.
    pub reason: DownloadError,
}

fn listed(failures: &[MirrorFailure]) -> String {
    failures.iter().fold(String::new(), |mut text, MirrorFailure { url, reason }| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {url}: {reason}");
        text
    })
}

/// An error of a download.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownloadError {
    /// The server answered with an error.
    #[error("the server answered {}", Status(*.0))]
    Status(u16),
    /// The file on the server has another length.
    #[error("the file on the server has {found} bytes instead of {expected}")]
    Size {
        /// The length on the server.
        found: u64,
        /// The published length.
        expected: u64,
    },
    /// The received file is another one, or was changed in transit.
    #[error("the received file has the SHA-256 {found} instead of {expected}")]
    Checksum {
        /// The checksum of the received file.
        found: String,
        /// The published checksum.
        expected: String,
    },
    /// The connection was closed too early.
    #[error("the connection was closed after {received} of {size} bytes")]
    Truncated {
        /// The length of the partial file.
        received: u64,
        /// The published length.
        size: u64,
    },
    /// The connection stalled.
    #[error("the server stopped sending data (timeout)")]
    Stalled,
    /// The server sent another range of the file than the requested one.
    #[error("the server sent another range of the file than the requested one")]
    Range,
    /// All attempts failed, for more than one reason.
    #[error("too many attempts")]
    Attempts,
    /// No connection, a bad address, or the like.
    #[error("{0}")]
    Connection(String),
}

impl DownloadError {
    pub(super) fn from_request(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Stalled,
            other => Self::Connection(other.to_string()),
        }
    }

    pub(super) fn from_read(error: io::Error, received: u64, size: u64) -> Self {
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::Stalled,
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted => Self::Truncated { received, size },
            _ => Self::from_request(ureq::Error::from(error)),
        }
    }
}

struct Status(u16);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            ureq::http::StatusCode::from_u16(self.0).ok().and_then(|code| code.canonical_reason());
        write!(f, "{} {}", self.0, name.unwrap_or_default())
    }
}

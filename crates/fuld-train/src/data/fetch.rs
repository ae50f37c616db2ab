//! Fetching data sets from one mirror after the other, continuing where an earlier fetch stopped.

use super::checksum;
use super::download::{Client, Failure, RetryPolicy};
use super::partial_file::PartialFile;
use super::progress::{FetchEvent, FetchWatch};
use super::sources::{Archive, Contents, Source};
use super::unpack::unpack;
use std::fmt::{self, Write};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a data set could not be fetched. The bytes received so far are kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No mirror delivered a file.
    #[error("{archive} could not be fetched:\n{}Try again later: it goes on where it stopped. Or put {archive} into {} by hand.", listed(failures), folder.display())]
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
        "writing {}: {source}; what has arrived is kept, and the same command goes on from there", path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("reading {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// An archive does not contain a valid file of this name.
    #[error("{} does not contain a valid {member}: the archive was removed, fetch it again", archive.display())]
    Member {
        /// The archive.
        archive: PathBuf,
        /// The file.
        member: String,
    },
    /// Another process is fetching into the folder.
    #[error("another program is fetching into {} right now; wait for it", .0.display())]
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

/// Why a download failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownloadError {
    /// The server answered with an error.
    #[error("the server answers {}", Status(*.0))]
    Status(u16),
    /// The file there has another length.
    #[error("the file there has {found} bytes, the right one {expected}")]
    Size {
        /// Its length.
        found: u64,
        /// The right length.
        expected: u64,
    },
    /// The file there is another one, or was changed on the way.
    #[error("what arrived is not the right file (SHA-256 {found}, the right one {expected})")]
    Sum {
        /// The checksum of what arrived.
        found: String,
        /// The right checksum.
        expected: String,
    },
    /// The connection closed too early.
    #[error("the connection broke off after {at} of {size} bytes")]
    Truncated {
        /// How far it got.
        at: u64,
        /// The whole length.
        size: u64,
    },
    /// The connection stalled.
    #[error("nothing came for too long")]
    Stalled,
    /// The server sends another part than the one asked for.
    #[error("the server sends another part of the file than was asked for")]
    Range,
    /// All attempts failed, for more than one reason.
    #[error("too many attempts")]
    Attempts,
    /// No connection, a bad address, or the like.
    #[error("{0}")]
    Connection(String),
}

impl DownloadError {
    pub(super) fn of(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Stalled,
            other => Self::Connection(other.to_string()),
        }
    }

    pub(super) fn while_reading(error: io::Error, at: u64, size: u64) -> Self {
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::Stalled,
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
                Self::Truncated { at, size }
            }
            _ => Self::of(ureq::Error::from(error)),
        }
    }
}

struct Status(u16);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ureq::http::StatusCode::from_u16(self.0).ok().and_then(|code| code.canonical_reason());
        write!(f, "{} {}", self.0, name.unwrap_or_default())
    }
}

/// The outcome of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// All files were present and valid.
    Already,
    /// This many archives were fetched.
    Archives(usize),
}

/// Fetches the missing files of a data set into its folder within the data directory, and returns that folder.
///
/// A file gets its name only once it is complete, verified and on disk; until then it is `NAME.part`, from which the next call
/// continues. A source without a folder goes into the data directory itself.
pub fn fetch(
    source: &Source,
    data_directory: &Path,
    retries: RetryPolicy,
    watch: &mut FetchWatch<'_>,
) -> Result<(PathBuf, Fetched), FetchError> {
    // Joining nothing would add a slash.
    let own = Some(&source.folder).filter(|folder| !folder.is_empty());
    let folder = own.map_or_else(|| data_directory.into(), |own| data_directory.join(own));
    std::fs::create_dir_all(&folder).map_err(|e| FetchError::write(&folder, e))?;
    let _lock = lock(&folder)?;
    let client = Client::new(retries);
    let mut arrived = 0;
    for archive in &source.archives {
        if !complete(archive, &folder)? {
            fetch_archive(&client, source, archive, &folder, watch)?;
            arrived += 1;
        }
    }
    Ok((folder, if arrived == 0 { Fetched::Already } else { Fetched::Archives(arrived) }))
}

/// Two processes that append to one file would damage it. Where folders cannot be locked, there is no protection.
fn lock(folder: &Path) -> Result<Option<File>, FetchError> {
    let Ok(handle) = File::open(folder) else { return Ok(None) };
    match handle.try_lock() {
        Err(TryLockError::WouldBlock) => Err(FetchError::Busy(folder.into())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(handle)),
    }
}

/// Whether the contents of an archive are present and valid.
fn complete(archive: &Archive, folder: &Path) -> Result<bool, FetchError> {
    match &archive.contents {
        Contents::Compressed { sha256, spellings } => {
            // The first one present is the one that will be read.
            let there = spellings.iter().map(|name| folder.join(name)).find(|path| path.is_file());
            there.map_or(Ok(false), |path| is_valid(&path, sha256, checksum::of_contents))
        }
        Contents::Tar(members) => members.iter().try_fold(true, |all, member| {
            let path = folder.join(&member.name);
            Ok(all && path.is_file() && is_valid(&path, &member.sha256, checksum::of_file)?)
        }),
    }
}

fn is_valid(path: &Path, sha256: &str, sum: fn(&Path) -> io::Result<String>) -> Result<bool, FetchError> {
    match sum(path) {
        Ok(found) => Ok(found == sha256),
        // A broken compressed stream is not valid; it is fetched again.
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput
            ) =>
        {
            Ok(false)
        }
        Err(e) => Err(FetchError::read(path, e)),
    }
}

fn fetch_archive(
    client: &Client,
    source: &Source,
    archive: &Archive,
    folder: &Path,
    watch: &mut FetchWatch<'_>,
) -> Result<(), FetchError> {
    let place = folder.join(&archive.name);
    // An archive that the user put there is used instead of a mirror.
    let by_hand = matches!(archive.contents, Contents::Tar(_))
        && place.is_file()
        && is_valid(&place, &archive.sha256, checksum::of_file)?;
    if !by_hand {
        let part = PartialFile::open(&place)?;
        from_mirrors(client, source, archive, folder, part, watch)?;
    }
    match &archive.contents {
        Contents::Compressed { .. } => Ok(()),
        Contents::Tar(members) => unpack(&place, members, folder),
    }
}

fn from_mirrors(
    client: &Client,
    source: &Source,
    archive: &Archive,
    folder: &Path,
    mut part: PartialFile,
    watch: &mut FetchWatch<'_>,
) -> Result<(), FetchError> {
    let Archive { name, size, .. } = archive;
    watch(FetchEvent::Began { name, size: *size, present: part.len() });
    let mut failures = Vec::new();
    for mirror in &source.mirrors {
        let url = format!("{}/{}", mirror.trim_end_matches('/'), archive.name);
        match client.get(&url, archive, &mut part, watch) {
            Ok(()) => {
                watch(FetchEvent::Finished { name, size: *size, url: &url });
                return part.finish();
            }
            Err(Failure::Here(error)) => return Err(error),
            Err(Failure::Broken(reason) | Failure::Refused(reason)) => {
                // The error of the whole fetch names the last one.
                if failures.len() + 1 < source.mirrors.len() {
                    watch(FetchEvent::MirrorFailed { url: &url, error: &reason });
                }
                failures.push(MirrorFailure { url, reason });
            }
        }
    }
    watch(FetchEvent::Failed);
    part.leave();
    Err(FetchError::Mirrors { archive: archive.name.clone(), folder: folder.into(), failures })
}

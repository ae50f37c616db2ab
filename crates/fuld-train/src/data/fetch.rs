//! Fetching data sets from one mirror after the other, continuing where an earlier fetch stopped.

use super::byte_reader;
use super::download::{AttemptError, Downloader, RetryPolicy};
use super::fetch_error::{FetchError, MirrorFailure};
use super::fetch_event::{FetchEvent, FetchWatch};
use super::partial_file::PartialFile;
use super::sources::{Archive, ArchiveContents, DataSource};
use super::unpack::unpack;
use crate::checksum;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The outcome of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// All files were present and valid.
    AlreadyPresent,
    /// This many archives were fetched.
    Archives(usize),
}

/// Fetches the missing files of a data set into its folder within the data directory, and returns
/// that folder.
///
/// A file has the name `NAME.part` until it is complete, verified and on disk. The next call
/// continues from such a file. If the source's `folder` is empty, the files go into the data
/// directory itself.
pub fn fetch(
    source: &DataSource,
    data_directory: &Path,
    retries: RetryPolicy,
    watch: &mut FetchWatch<'_>,
) -> Result<(PathBuf, FetchOutcome), FetchError> {
    // Joining an empty path would add a slash.
    let own = Some(&source.folder).filter(|folder| !folder.is_empty());
    let folder = own.map_or_else(|| data_directory.into(), |own| data_directory.join(own));
    std::fs::create_dir_all(&folder).map_err(|e| FetchError::write(&folder, e))?;
    let _lock = lock(&folder)?;
    let client = Downloader::new(retries);
    let mut arrived = 0;
    for archive in &source.archives {
        if !is_complete(archive, &folder)? {
            fetch_archive(&client, source, archive, &folder, watch)?;
            arrived += 1;
        }
    }
    Ok((
        folder,
        if arrived == 0 { FetchOutcome::AlreadyPresent } else { FetchOutcome::Archives(arrived) },
    ))
}

/// Locks a folder, because two processes that append to one file would damage it. Returns `None`
/// where folders cannot be opened.
fn lock(folder: &Path) -> Result<Option<File>, FetchError> {
    let Ok(handle) = File::open(folder) else { return Ok(None) };
    match handle.try_lock() {
        Err(TryLockError::WouldBlock) => Err(FetchError::Busy(folder.into())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(handle)),
    }
}

/// Returns whether the contents of an archive are present and valid. A file with other contents is
/// an error, because it may belong to the user and is not replaced.
fn is_complete(archive: &Archive, folder: &Path) -> Result<bool, FetchError> {
    match &archive.contents {
        ArchiveContents::Compressed { sha256, spellings } => {
            // The first one present is the one that [`super::DataSet::load`] reads.
            let present =
                spellings.iter().map(|name| folder.join(name)).find(|path| path.is_file());
            present.map_or(Ok(false), |path| require_valid(&path, sha256, of_contents))
        }
        ArchiveContents::Tar(members) => members.iter().try_fold(true, |all, member| {
            let path = folder.join(&member.name);
            Ok(path.is_file() && require_valid(&path, &member.sha256, checksum::of_file)? && all)
        }),
    }
}

/// Returns true, or an error if the file is not valid.
fn require_valid(
    path: &Path,
    sha256: &str,
    sum: fn(&Path) -> io::Result<String>,
) -> Result<bool, FetchError> {
    if is_valid(path, sha256, sum)? { Ok(true) } else { Err(FetchError::Occupied(path.into())) }
}

fn is_valid(
    path: &Path,
    sha256: &str,
    sum: fn(&Path) -> io::Result<String>,
) -> Result<bool, FetchError> {
    match sum(path) {
        Ok(found) => Ok(found == sha256),
        // Compressed data that cannot be decompressed are not valid.
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
    client: &Downloader,
    source: &DataSource,
    archive: &Archive,
    folder: &Path,
    watch: &mut FetchWatch<'_>,
) -> Result<(), FetchError> {
    let path = folder.join(&archive.name);
    match &archive.contents {
        ArchiveContents::Compressed { .. } => {
            fetch_from_mirrors(client, source, archive, folder, watch)?.finish()
        }
        // An archive that the user put into the folder is used instead of a mirror, and stays
        // there.
        ArchiveContents::Tar(members)
            if path.is_file() && is_valid(&path, &archive.sha256, checksum::of_file)? =>
        {
            unpack(&path, members, folder)
        }
        ArchiveContents::Tar(members) => {
            let part = fetch_from_mirrors(client, source, archive, folder, watch)?;
            let unpacked = unpack(part.path(), members, folder);
            // After other errors, such as a full disk, the next fetch unpacks the same file.
            if matches!(unpacked, Ok(()) | Err(FetchError::Member { .. })) {
                part.remove();
            }
            unpacked
        }
    }
}

/// Returns the complete and verified partial file of an archive.
fn fetch_from_mirrors(
    client: &Downloader,
    source: &DataSource,
    archive: &Archive,
    folder: &Path,
    watch: &mut FetchWatch<'_>,
) -> Result<PartialFile, FetchError> {
    let Archive { name, size, .. } = archive;
    let mut part = PartialFile::open(&folder.join(name))?;
    watch(FetchEvent::Began { name, size: *size, present: part.len() });
    let mut failures = Vec::new();
    for mirror in &source.mirrors {
        let url = format!("{}/{}", mirror.trim_end_matches('/'), archive.name);
        match client.get(&url, archive, &mut part, watch) {
            Ok(()) => {
                watch(FetchEvent::Finished { name, size: *size, url: &url });
                return Ok(part);
            }
            Err(AttemptError::Local(error)) => return Err(error),
            Err(AttemptError::Connection(reason) | AttemptError::Server(reason)) => {
                // After the last mirror, the error of the whole fetch names all failures.
                if failures.len() + 1 < source.mirrors.len() {
                    watch(FetchEvent::MirrorFailed { url: &url, error: &reason });
                }
                failures.push(MirrorFailure { url, reason });
            }
        }
    }
    watch(FetchEvent::Failed);
    part.keep();
    Err(FetchError::Mirrors { archive: archive.name.clone(), folder: folder.into(), failures })
}

/// Returns the SHA-256 of a file's contents, after decompression if it is compressed.
fn of_contents(path: &Path) -> io::Result<String> {
    checksum::of(byte_reader::open(path)?)
}

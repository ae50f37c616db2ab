//! A file that is not complete yet: it is written as `NAME.part` and renamed once it is complete
//! and verified.

use super::fetch_error::FetchError;
use crate::checksum;
use fuld::durable;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file `NAME.part`, which is only appended to or emptied.
pub(super) struct PartialFile {
    file: File,
    /// The path of the partial file.
    path: PathBuf,
    /// The path of the complete file.
    destination: PathBuf,
    len: u64,
}

impl PartialFile {
    /// Opens the partial file of `destination`, with the bytes that an earlier run left.
    pub(super) fn open(destination: &Path) -> Result<Self, FetchError> {
        let path = durable::part(destination);
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let file = opened.map_err(|source| FetchError::write(&path, source))?;
        let len = file.metadata().map_err(|source| FetchError::write(&path, source))?.len();
        Ok(Self { file, path, destination: destination.into(), len })
    }

    /// Creates an empty partial file of `destination`.
    pub(super) fn create(destination: &Path) -> Result<Self, FetchError> {
        let mut part = Self::open(destination)?;
        part.truncate()?;
        Ok(part)
    }

    /// Returns the path of the partial file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Appends bytes.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.file.write_all(bytes).map_err(|source| FetchError::write(&self.path, source))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Empties the file.
    pub(super) fn truncate(&mut self) -> Result<(), FetchError> {
        if self.len > 0 {
            self.file.set_len(0).map_err(|source| FetchError::write(&self.path, source))?;
            self.len = 0;
        }
        Ok(())
    }

    /// Returns the SHA-256 of the bytes on disk.
    pub(super) fn sha256(&self) -> Result<String, FetchError> {
        checksum::of_file(&self.path).map_err(|source| FetchError::read(&self.path, source))
    }

    /// Writes the file to disk and renames it to its final name.
    pub(super) fn finish(self) -> Result<(), FetchError> {
        self.file.sync_all().map_err(|source| FetchError::write(&self.path, source))?;
        std::fs::rename(&self.path, &self.destination)
            .map_err(|source| FetchError::write(&self.destination, source))
    }

    /// Closes the file and keeps it for the next run, unless it is empty.
    pub(super) fn keep(self) {
        if self.len == 0 {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Deletes the file.
    pub(super) fn remove(mut self) {
        self.len = 0;
        self.keep();
    }
}

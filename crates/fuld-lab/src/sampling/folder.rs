//! The folder of a run of chains: its settings, its draws, and what was made of them.

use super::Settings;
use super::config::write_config;
use crate::run_folder::{FolderError, RunFolder};
use fuld::durable::replace;
use std::io;
use std::path::{Path, PathBuf};

/// A folder that belongs to one run, and for as long as this lives to one process.
#[derive(Debug)]
pub struct SampleFolder(RunFolder);

impl SampleFolder {
    /// Makes the folder if need be and takes hold of it.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        RunFolder::open(path).map(Self)
    }

    /// Whether a folder holds a run, finished or not.
    pub fn is_taken(path: &Path) -> bool {
        path.join("config.toml").exists() || path.join("draws.zarr").exists()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The file of the checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.0.checkpoint()
    }

    /// The store of the draws.
    pub fn draws(&self) -> PathBuf {
        self.path().join("draws.zarr")
    }

    /// Forgets whatever is there of an earlier run; the settings last, by which it is recognised as taken.
    pub fn clear(&self) -> Result<(), FolderError> {
        let gone = |path: PathBuf, result: io::Result<()>| match result {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FolderError::Io { path, source }),
            _ => Ok(()),
        };
        gone(self.draws(), std::fs::remove_dir_all(self.draws()))?;
        for name in ["checkpoint.bin", "summary.csv", "page.html", "config.toml"] {
            let path = self.path().join(name);
            gone(path.clone(), std::fs::remove_file(&path))?;
        }
        Ok(())
    }

    /// Puts the settings there.
    pub fn keep_settings(&self, settings: &Settings) -> Result<(), FolderError> {
        let path = self.path().join("config.toml");
        write_config(&path, settings).map_err(|source| FolderError::Io { path, source })
    }

    /// Puts a file there, whole.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let path = self.path().join(name);
        replace(&path, text.as_bytes()).map_err(|source| FolderError::Io { path, source })
    }
}

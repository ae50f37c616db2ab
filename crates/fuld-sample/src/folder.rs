//! The folder of a sampling run: its specification, its draws and their summary.

use crate::config::write_config;
use crate::request::SampleRequest;
use crate::spec::SampleSpec;
use fuld::chains::stored_seed;
use fuld::durable::replace;
use fuld::folder::{FolderError, OwnedFolder};
use std::path::{Path, PathBuf};

/// The file of the specification; the others are listed in [`SampleFolder::clear`].
const CONFIG: &str = "config.toml";
/// The file of the state.
const CHECKPOINT: &str = "checkpoint.bin";

/// A folder that belongs to one sampling run, held by this process until the value is dropped.
#[derive(Debug)]
pub struct SampleFolder(OwnedFolder);

impl SampleFolder {
    /// Takes a folder: a new one, an empty one, or one that `fuld sample` made.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        OwnedFolder::open(path, "sample").map(Self)
    }

    /// Returns the stored settings of the run in a folder, or `None` if there is no run.
    pub fn stored(path: &Path) -> Option<SampleRequest> {
        let text = std::fs::read_to_string(path.join(CONFIG)).ok()?;
        toml::from_str(&text).ok().filter(SampleRequest::is_complete)
    }

    /// Returns the seed of the run in a folder, also if it was killed before its settings were
    /// stored.
    pub fn stored_seed(path: &Path) -> Option<u64> {
        let stored = Self::stored(path).and_then(|request| request.seed);
        stored.or_else(|| stored_seed(&path.join(CHECKPOINT)))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of the checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path().join(CHECKPOINT)
    }

    /// Returns the path of the store of draws.
    pub fn draws(&self) -> PathBuf {
        self.path().join("draws.zarr")
    }

    /// Deletes an earlier run. The specification is deleted last, because it marks the run.
    pub fn clear(&self) -> Result<(), FolderError> {
        self.0.remove([
            "draws.zarr",
            CHECKPOINT,
            "summary.csv",
            "adapted.toml",
            "page.html",
            CONFIG,
        ])
    }

    /// Writes the specification.
    pub fn write_spec(&self, spec: &SampleSpec) -> Result<(), FolderError> {
        let path = self.path().join(CONFIG);
        write_config(&path, &spec.request()).map_err(FolderError::at(&path))
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let path = self.path().join(name);
        replace(&path, text.as_bytes()).map_err(FolderError::at(&path))
    }
}

//! The folder of a run of chains: its settings, its draws, and what was made of them.

use crate::config::write_config;
use crate::request::Request;
use crate::settings::Settings;
use fuld::durable::replace;
use fuld::folder::{FolderError, OwnedFolder};
use std::path::{Path, PathBuf};

/// A folder that belongs to one run, and for as long as this lives to one process.
#[derive(Debug)]
pub struct SampleFolder(OwnedFolder);

/// What is in a folder that draws should go to.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing that could be lost.
    Nothing,
    /// A run of chains with these settings, finished or not.
    Run(Box<Request>),
    /// Files that no run of chains left, this one among them.
    Foreign(String),
}

impl SampleFolder {
    /// Makes the folder if need be and takes hold of it.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        OwnedFolder::open(path, "sample").map(Self)
    }

    /// What is in a folder, which is left as it is.
    pub fn content(path: &Path) -> Content {
        let config = std::fs::read_to_string(path.join("config.toml")).ok();
        let kept = config.and_then(|text| toml::from_str::<Request>(&text).ok());
        if let Some(kept) = kept.filter(Request::leaves_nothing_open) {
            return Content::Run(Box::new(kept));
        }
        // What is no folder, or cannot be read, is told by whoever wants to write there.
        let names = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        // Hidden files are not in the way, and a run that was killed at once leaves its lock and half a file.
        names.retain(|name| !name.starts_with('.') && name != "lock" && name != "config.toml.part");
        names.into_iter().min().map_or(Content::Nothing, Content::Foreign)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The file of the checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path().join("checkpoint.bin")
    }

    /// The store of the draws.
    pub fn draws(&self) -> PathBuf {
        self.path().join("draws.zarr")
    }

    /// Forgets whatever is there of an earlier run, and should only be asked where there is one; the settings last, by which it
    /// is recognised.
    pub fn clear(&self) -> Result<(), FolderError> {
        self.0.remove(["draws.zarr", "checkpoint.bin", "summary.csv", "page.html", "config.toml"])
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

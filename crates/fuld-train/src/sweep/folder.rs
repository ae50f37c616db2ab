//! The folder of a sweep, which several processes may share.
//!
//! | file | contents |
//! |---|---|
//! | `grid.toml` | the grid of the last sweep, and the location of its data sets |
//! | `runs/NAME/` | the folders of the runs, also those of earlier grids |
//! | `failures/NAME.toml` | the errors of runs that failed |
//! | `results.csv`, `results.parquet` | one row per run of the last grid |
//! | `stack-HASH.bin` | the state of a stack of runs that has not finished |

use super::{failures, table};
use crate::run_folder::{RunFolder, RunFolderError};
use crate::spec::{Device, TRAINING_VERSION};
use crate::stored::{self, Stored};
use crate::train::is_checkpoint;
use fuld::folder::{FolderError, OwnedFolder};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The command whose name marks the folder of a sweep.
pub const SWEEP_COMMAND: &str = "sweep";

/// A folder that belongs to a sweep, held by this process until the value is dropped.
#[derive(Debug)]
pub struct SweepFolder(OwnedFolder);

/// A grid as it is stored when a sweep starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredGrid {
    /// The text of the grid.
    pub grid: String,
    /// The data sets that replace those of the grid, if any were given.
    #[serde(default)]
    pub data: Vec<String>,
    /// The folder of named data sets.
    pub data_dir: PathBuf,
    /// The device.
    pub device: Device,
}

impl SweepFolder {
    /// Opens or creates a folder for a sweep; see [`OwnedFolder::open_shared`].
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Ok(Self(OwnedFolder::open_shared(path, SWEEP_COMMAND)?))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Deletes everything that sweeps wrote in a folder. Other files stay, also the runs of `fuld
    /// train` and everything behind symbolic links. Fails if another process is using the folder.
    pub fn clear(path: &Path) -> Result<(), RunFolderError> {
        let folder = OwnedFolder::open(path, SWEEP_COMMAND)?;
        let at = FolderError::at(path);
        if let Some(runs) = folder.subfolder("runs")? {
            for entry in fs::read_dir(&runs).map_err(&at)? {
                let run = entry.map_err(&at)?.path();
                if RunFolder::is_made_by_sweep(&run) {
                    RunFolder::delete_in_sweep(&run)?;
                }
            }
        }
        folder.remove_in("runs", [])?;
        if folder.subfolder("failures")?.is_some() {
            let failures = failures::all(path).map_err(&at)?;
            let names: Vec<String> = failures.keys().map(|name| format!("{name}.toml")).collect();
            folder.remove_in("failures", names.iter().map(String::as_str))?;
        }
        // The empty file `.table-lock` stays: the next sweep uses it again.
        let mut names = ["grid.toml", "results.csv", "results.parquet"].map(String::from).to_vec();
        for entry in fs::read_dir(path).map_err(&at)? {
            let name = entry.map_err(&at)?.file_name().to_string_lossy().into_owned();
            let hash = name.strip_prefix("stack-").and_then(|rest| rest.strip_suffix(".bin"));
            if hash.is_some_and(|hash| hash.chars().all(|c| c.is_ascii_hexdigit()))
                && is_checkpoint(&path.join(&name))
            {
                names.push(name);
            }
        }
        Ok(folder.remove(names.iter().map(String::as_str))?)
    }

    /// Stores the grid, so that the folder alone suffices to continue the sweep.
    pub fn start(&self, grid: &StoredGrid) -> Result<(), RunFolderError> {
        let path = self.path().join("grid.toml");
        let _lock = table::lock(self.path()).map_err(FolderError::at(&path))?;
        Ok(stored::write(&path, TRAINING_VERSION, &toml::Table::new(), grid)?)
    }

    /// Reads the grid of the last sweep in a folder.
    pub fn started(path: &Path) -> Result<StoredGrid, RunFolderError> {
        match stored::read_any(&path.join("grid.toml"), TRAINING_VERSION)? {
            Stored::Current(grid) => Ok(grid),
            Stored::OtherVersion(version) => {
                Err(RunFolderError::Stale { path: path.into(), version })
            }
            Stored::Missing | Stored::OtherSpec(_) => Err(RunFolderError::Empty(path.into())),
        }
    }
}

//! The folder of a run: its specification, its checkpoint until it has finished, and its results.
//!
//! | file | contents |
//! |---|---|
//! | `spec.toml` | the specification and the location of the data set |
//! | `checkpoint.bin` | the state of a run that has not finished |
//! | `result.toml` | specification, version of the rule, measurements, final means, and checksums of the files below |
//! | `metrics.csv`, `tail-index.csv` | the measurements as tables |
//! | `weights.safetensors` | the final weights |

use crate::checksum;
use crate::network::Network;
use crate::spec::{TRAINING_VERSION, TrainSpec};
use crate::stored::{self, Difference, Stored, StoredError};
use crate::tensor_file::TensorFile;
use crate::train::{RunResult, TrainCheckpointError, check_checkpoint};
use fuld::durable::replace;
use fuld::folder::OwnedFolder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The command whose name marks the folder of a run.
const RUN_COMMAND: &str = "train";

/// The text that marks the folder of a run that a sweep made, so that a sweep deletes and lists no
/// other runs.
const RUN_OF_SWEEP: &str = "sweep (one run)";

/// All files of a run.
const FILES: [&str; 6] = [
    "result.toml",
    "checkpoint.bin",
    "metrics.csv",
    "tail-index.csv",
    "weights.safetensors",
    "spec.toml",
];

/// A folder that belongs to one run, and to this process until the value is dropped.
#[derive(Debug)]
pub struct RunFolder(OwnedFolder);

/// An error of the folder of a run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunFolderError {
    /// The folder itself cannot be used.
    #[error(transparent)]
    Folder(#[from] fuld::folder::FolderError),
    /// The folder holds a run with other settings.
    #[error("{} contains a run with other settings: {difference}; name another folder with --out, or start again with --fresh (without --resume)", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
        /// The first difference.
        difference: Difference,
    },
    /// The run in the folder was started by another version of the training rule.
    #[error("the run in {} was started by version {version} of the training rule, now {TRAINING_VERSION}: it cannot be continued; start it again without --resume", path.display())]
    Stale {
        /// The folder.
        path: PathBuf,
        /// The version that started the run.
        version: u32,
    },
    /// The folder contains no run.
    #[error("{} contains no run to continue; start one without --resume", .0.display())]
    Empty(PathBuf),
    /// A file of a finished run is missing or was changed.
    #[error("{} is missing or was changed after the run had finished; train the run again with --fresh (without --resume)", .0.display())]
    Changed(PathBuf),
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] TrainCheckpointError),
    /// A stored file cannot be read or written.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// A table cannot be written.
    #[error("{}: {source}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: csv::Error,
    },
}

/// The location of a run's data set, which `spec.toml` contains beside the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataLocation {
    /// The name or folder that was requested.
    pub source: String,
    /// The folder of named data sets.
    pub data_dir: PathBuf,
}

/// The contents of `spec.toml`, which is stored when a run starts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StartedRun {
    /// The specification.
    pub spec: TrainSpec,
    /// The location of the data set.
    #[serde(flatten)]
    pub data: DataLocation,
}

/// The SHA-256 checksums of the files of a finished run by name, which `result.toml` contains
/// beside the result.
#[derive(Debug, Default, Serialize, Deserialize)]
struct FileChecksums {
    files: BTreeMap<String, String>,
}

/// The contents of `result.toml`.
#[derive(Serialize)]
struct FinishedRun<'a> {
    #[serde(flatten)]
    result: &'a RunResult,
    #[serde(flatten)]
    checksums: FileChecksums,
}

impl RunFolder {
    /// Opens or creates a folder for a run; see [`OwnedFolder::open`].
    pub fn open(path: &Path) -> Result<Self, RunFolderError> {
        Ok(Self(OwnedFolder::open(path, RUN_COMMAND)?))
    }

    /// Opens or creates a folder for a run of a sweep. The folder of a run that no sweep made is
    /// refused.
    pub(crate) fn open_in_sweep(path: &Path) -> Result<Self, RunFolderError> {
        Ok(Self(OwnedFolder::open(path, RUN_OF_SWEEP)?))
    }

    /// Returns whether a path is the folder of a run that a sweep made, and not a symbolic link to
    /// one.
    pub(crate) fn is_made_by_sweep(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
            && OwnedFolder::is_made_by(path, RUN_OF_SWEEP)
    }

    /// Opens the folder of a run that was started before.
    pub fn open_existing(path: &Path) -> Result<Self, RunFolderError> {
        if !path.join("spec.toml").is_file() {
            return Err(RunFolderError::Empty(path.into()));
        }
        Self::open(path)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of the checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.file("checkpoint.bin")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Deletes every file of an earlier run.
    pub fn clear(&self) -> Result<(), RunFolderError> {
        Ok(self.0.remove(FILES)?)
    }

    /// Deletes the files of a run that a sweep made, and the folder unless it contains other files.
    pub(crate) fn delete_in_sweep(path: &Path) -> Result<(), RunFolderError> {
        let folder = Self::open_in_sweep(path)?;
        folder.clear()?;
        let others = fs::read_dir(path).map_err(fuld::folder::FolderError::at(path))?.count() > 1;
        if !others {
            fs::remove_dir_all(path).map_err(fuld::folder::FolderError::at(path))?;
        }
        Ok(())
    }

    /// Reads the result of the run with this specification. The result of another run is an error,
    /// and so is a file of the run that is not the one that was stored with the result.
    pub fn result(&self, spec: &TrainSpec) -> Result<Stored<RunResult>, RunFolderError> {
        let path = self.file("result.toml");
        match stored::read(&path, TRAINING_VERSION, spec)? {
            Stored::OtherSpec(difference) => {
                Err(RunFolderError::OtherRun { path: self.path().into(), difference })
            }
            Stored::Current(result) => {
                if let Stored::Current(FileChecksums { files }) =
                    stored::read(&path, TRAINING_VERSION, spec)?
                {
                    self.check(&files)?;
                }
                Ok(Stored::Current(result))
            }
            stored => Ok(stored),
        }
    }

    fn check(&self, files: &BTreeMap<String, String>) -> Result<(), RunFolderError> {
        for name in FILES {
            let path = self.file(name);
            if let Some(stored) = files.get(name)
                && !fs::read(&path).is_ok_and(|bytes| checksum::of_bytes(&bytes) == *stored)
            {
                return Err(RunFolderError::Changed(path));
            }
        }
        Ok(())
    }

    /// Stores the specification of a run that starts, so that the folder alone suffices to continue
    /// it. A checkpoint of another run is an error, before anything is stored. A specification of
    /// another version is replaced, because its run is made again.
    pub fn start(&self, spec: &TrainSpec, data: &DataLocation) -> Result<(), RunFolderError> {
        let path = self.file("spec.toml");
        if let Ok(Stored::Current(StartedRun { .. })) = stored::read(&path, TRAINING_VERSION, spec)
        {
            return Ok(());
        }
        check_checkpoint(&self.checkpoint(), spec)?;
        Ok(stored::write(&path, TRAINING_VERSION, spec, data)?)
    }

    /// Reads the specification of the run in this folder.
    pub fn started(&self) -> Result<StartedRun, RunFolderError> {
        match stored::read_any(&self.file("spec.toml"), TRAINING_VERSION)? {
            Stored::Current(started) => Ok(started),
            Stored::OtherVersion(version) => {
                Err(RunFolderError::Stale { path: self.path().into(), version })
            }
            _ => Err(RunFolderError::Empty(self.path().into())),
        }
    }

    /// Stores the result of the run and deletes the checkpoint. `result.toml` is written last, so
    /// if it exists, all files do.
    pub fn store(&self, result: &RunResult, weights: &Network) -> Result<(), RunFolderError> {
        let mut files = vec![("metrics.csv", self.csv("metrics.csv", &result.measurements)?)];
        if !result.tails.is_empty() {
            files.push(("tail-index.csv", self.csv("tail-index.csv", &result.tails)?));
        }
        files.push(("weights.safetensors", safetensors(weights)));
        let mut checksums = FileChecksums::default();
        for (name, bytes) in files {
            let path = self.file(name);
            replace(&path, &bytes).map_err(fuld::folder::FolderError::at(&path))?;
            checksums.files.insert(name.into(), checksum::of_bytes(&bytes));
        }
        let finished = FinishedRun { result, checksums };
        stored::write(&self.file("result.toml"), TRAINING_VERSION, &result.spec, &finished)?;
        let _ = fs::remove_file(self.checkpoint());
        Ok(())
    }

    /// Returns a table with one line per row and a header with the names of the fields, for the
    /// file `name`.
    fn csv<T: Serialize>(&self, name: &str, rows: &[T]) -> Result<Vec<u8>, RunFolderError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let written = rows.iter().try_for_each(|row| writer.serialize(row));
        written.map_err(|source| RunFolderError::Csv { path: self.file(name), source })?;
        let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()));
        Ok(bytes.map_err(fuld::folder::FolderError::at(&self.file(name)))?)
    }
}

/// Reads the result in a folder, whatever its specification.
pub fn read_result(folder: &Path) -> Result<Stored<RunResult>, StoredError> {
    stored::read_any(&folder.join("result.toml"), TRAINING_VERSION)
}

/// Returns the layers as a file with tensors `layers.N.weight`.
fn safetensors(network: &Network) -> Vec<u8> {
    let mut file = TensorFile::default();
    for (n, layer) in network.layers.iter().enumerate() {
        let shape = vec![layer.inputs, layer.outputs];
        file.insert(format!("layers.{n}.weight"), shape, layer.weights.clone());
    }
    file.to_bytes()
}

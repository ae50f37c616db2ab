//! The state of a stack of runs on disk. Training that continues from it gives the same bits as
//! uninterrupted training.
//!
//! A checkpoint consists of a mark that ends with the version of the format, a header in TOML
//! (which stores every number exactly, including NaN), the tensors in the safetensors format, and a
//! checksum of everything. The length of header and tensors precedes each of them.

use super::run_result::RunRecord;
use crate::spec::{TRAINING_VERSION, TrainSpec};
use crate::stored::Difference;
use crate::tensor_file::{TensorError, TensorFile};
use fuld::durable::{fingerprint, replace};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The first bytes of every checkpoint; the byte after them is the version of the format.
const MARK: &[u8; 7] = b"FULDNET";
/// The version of the format, as a digit. Format 1 had burn's own records in place of safetensors.
const FORMAT: u8 = b'2';
/// Bytes before the first part.
const START: usize = MARK.len() + 1;

/// An error of a checkpoint. The file is not changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainCheckpointError {
    /// The file cannot be read or written.
    #[error("checkpoint {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a checkpoint.
    #[error("{} is not a checkpoint of fuld: its first bytes are not those of a checkpoint", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file has another format.
    #[error("checkpoint {} has format {found:?}, this program reads format {:?}; start again with --fresh (without --resume)", path.display(), char::from(FORMAT))]
    Format {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: char,
    },
    /// The file is cut off or changed.
    #[error("checkpoint {} is damaged at byte {byte}; start again with --fresh (without --resume)", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset at which reading failed.
        byte: usize,
    },
    /// The file belongs to a run with other settings.
    #[error("checkpoint {} belongs to another run: {difference}; name another folder, or start again with --fresh (without --resume)", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The first difference.
        difference: Difference,
    },
    /// The tensors are not those of the run.
    #[error("checkpoint {} does not fit its run: {source}; start again with --fresh (without --resume)", path.display())]
    Tensors {
        /// The file.
        path: PathBuf,
        /// The first tensor that does not fit.
        source: TensorError,
    },
}

/// The state of a stack of runs.
#[derive(Clone, Debug)]
pub(super) struct TrainCheckpoint {
    pub(super) header: CheckpointHeader,
    /// Weights and the optimizer's state.
    pub(super) tensors: TensorFile,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CheckpointHeader {
    pub(super) iteration: u64,
    pub(super) seconds: f64,
    /// The version of the training rule.
    version: u32,
    pub(super) records: Vec<RunRecord>,
    specs: Vec<TrainSpec>,
}

impl CheckpointHeader {
    pub(super) fn new(
        iteration: u64,
        seconds: f64,
        records: Vec<RunRecord>,
        specs: &[TrainSpec],
    ) -> Self {
        Self { iteration, seconds, version: TRAINING_VERSION, records, specs: specs.to_vec() }
    }
}

/// A checkpoint on disk.
pub(super) enum StoredCheckpoint {
    Missing,
    Current(Box<TrainCheckpoint>),
    /// The version of the training rule that made the checkpoint, if it is not the current one.
    OtherVersion(u32),
}

/// Returns an error unless a checkpoint is missing, belongs to this run, or was made for it by
/// another version of the rule.
pub(crate) fn check_checkpoint(path: &Path, spec: &TrainSpec) -> Result<(), TrainCheckpointError> {
    TrainCheckpoint::read(path, std::slice::from_ref(spec)).map(drop)
}

/// Returns whether a file begins as every checkpoint does.
pub fn is_checkpoint(path: &Path) -> bool {
    let mut start = [0; MARK.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *MARK
}

/// Returns the version of the training rule that made the checkpoint of a run, if it is another one
/// than the current.
pub(super) fn stale_version(path: &Path, spec: &TrainSpec) -> Option<u32> {
    match TrainCheckpoint::read(path, std::slice::from_ref(spec)) {
        Ok(StoredCheckpoint::OtherVersion(version)) => Some(version),
        _ => None,
    }
}

impl TrainCheckpoint {
    /// Writes the checkpoint. The tensors of a large stack take gigabytes: they are copied once.
    pub(super) fn write(&self, path: &Path) -> Result<(), TrainCheckpointError> {
        let failed = |source| TrainCheckpointError::Io { path: path.into(), source };
        let header =
            toml::to_string(&self.header).map_err(|error| failed(io::Error::other(error)))?;
        let mut bytes = [MARK, &[FORMAT][..]].concat();
        bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 8]);
        self.tensors.append_to(&mut bytes);
        let length = (bytes.len() - start - 8) as u64;
        bytes[start..start + 8].copy_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&fingerprint(&bytes).to_le_bytes());
        replace(path, &bytes).map_err(failed)
    }

    /// Reads the checkpoint of these runs.
    pub(super) fn read(
        path: &Path,
        specs: &[TrainSpec],
    ) -> Result<StoredCheckpoint, TrainCheckpointError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(StoredCheckpoint::Missing);
            }
            Err(source) => return Err(TrainCheckpointError::Io { path: path.into(), source }),
        };
        let damaged = |byte| TrainCheckpointError::Damaged { path: path.into(), byte };
        match bytes.strip_prefix(MARK) {
            None | Some([]) => return Err(TrainCheckpointError::Foreign { path: path.into() }),
            Some([FORMAT, ..]) => {}
            Some([found, ..]) => {
                return Err(TrainCheckpointError::Format {
                    path: path.into(),
                    found: char::from(*found),
                });
            }
        }
        let Some((sealed, checksum)) = bytes.split_last_chunk() else { return Err(damaged(START)) };
        if fingerprint(sealed).to_le_bytes() != *checksum {
            return Err(damaged(sealed.len()));
        }
        let mut at = START;
        let mut part = || -> Result<&[u8], usize> {
            let length: [u8; 8] =
                sealed.get(at..at + 8).and_then(|b| b.try_into().ok()).ok_or(at)?;
            let (start, length) =
                (at + 8, usize::try_from(u64::from_le_bytes(length)).map_err(|_| at)?);
            at = start.checked_add(length).filter(|&end| end <= sealed.len()).ok_or(start)?;
            Ok(&sealed[start..at])
        };
        let (header, tensors) = (part().map_err(damaged)?, part().map_err(damaged)?);
        let header: Option<toml::Table> =
            std::str::from_utf8(header).ok().and_then(|text| text.parse().ok());
        let header = header.ok_or_else(|| damaged(START + 8))?;
        // The header of another version may have other fields.
        let version = header.get("version").and_then(toml::Value::as_integer).unwrap_or(1);
        if version != i64::from(TRAINING_VERSION) {
            // Only the same runs of another version are stale: other runs keep their checkpoint.
            let text = |specs: Option<&toml::Value>| -> String {
                let all = specs.and_then(toml::Value::as_array).into_iter().flatten();
                all.map(|spec| toml::to_string(spec).unwrap_or_default()).collect()
            };
            let (stored, wanted) = (header.get("specs"), toml::Value::try_from(specs).ok());
            if stored != wanted.as_ref() {
                let difference = Difference::between(&text(stored), &text(wanted.as_ref()));
                return Err(TrainCheckpointError::OtherRun { path: path.into(), difference });
            }
            return Ok(StoredCheckpoint::OtherVersion(u32::try_from(version).unwrap_or(1)));
        }
        let header: CheckpointHeader = header.try_into().map_err(|_| damaged(START + 8))?;
        if header.specs != specs {
            let text =
                |specs: &[TrainSpec]| specs.iter().map(TrainSpec::to_toml).collect::<String>();
            let difference = Difference::between(&text(&header.specs), &text(specs));
            return Err(TrainCheckpointError::OtherRun { path: path.into(), difference });
        }
        let tensors = TensorFile::from_bytes(tensors).ok_or_else(|| damaged(sealed.len()))?;
        if header.records.len() != specs.len() {
            return Err(damaged(START + 8));
        }
        Ok(StoredCheckpoint::Current(Box::new(Self { header, tensors })))
    }
}

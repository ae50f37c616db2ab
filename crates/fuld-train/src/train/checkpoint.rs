//! The state of a stack of runs on disk, from which training goes on to the same bits.
//!
//! A file holds a mark, then the header (TOML: what belongs to which run, so that no number is rounded and NaN is a number), the
//! weights and what the optimizer remembers, each with its length before it, and a checksum of all that.

use super::run::Record;
use fuld::durable::{fingerprint, replace};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

const MARK: &[u8; 8] = b"FULDNET1";

/// Why a checkpoint cannot be used. The file is left as it is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("checkpoint {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is no checkpoint of this program: it does not begin with its mark", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is cut off or changed.
    #[error("checkpoint {} is damaged at byte {byte}; it was left in place: move it away to begin anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where reading failed.
        byte: usize,
    },
    /// The file belongs to a run with other settings.
    #[error("checkpoint {} belongs to another run: {difference}; name another folder, or begin anew with --fresh", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The first setting that differs.
        difference: String,
    },
}

/// All that a stack of runs needs to go on.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    pub(super) header: Header,
    /// Weights, and what the optimizer remembers.
    pub(super) state: [Vec<u8>; 2],
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) iteration: u64,
    pub(super) seconds: f64,
    /// Settings of each run, as text.
    pub(super) identities: Vec<String>,
    pub(super) records: Vec<Record>,
}

impl Checkpoint {
    pub(super) fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let failed = |source| CheckpointError::Io { path: path.into(), source };
        let header = toml::to_string(&self.header).map_err(|error| failed(io::Error::other(error)))?;
        let mut bytes = MARK.to_vec();
        for part in [header.as_bytes(), &self.state[0], &self.state[1]] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes.extend_from_slice(&fingerprint(&bytes).to_le_bytes());
        replace(path, &bytes).map_err(failed)
    }

    /// None if there is no such file.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, CheckpointError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CheckpointError::Io { path: path.into(), source }),
        };
        if !bytes.starts_with(MARK) {
            return Err(CheckpointError::Foreign { path: path.into() });
        }
        let damaged = |byte| CheckpointError::Damaged { path: path.into(), byte };
        let sealed = bytes.len() - 8;
        if fingerprint(&bytes[..sealed]).to_le_bytes() != bytes[sealed..] {
            return Err(damaged(sealed));
        }
        let mut at = MARK.len();
        let mut part = || -> Result<&[u8], usize> {
            let length: [u8; 8] = bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).ok_or(at)?;
            let (start, length) = (at + 8, usize::try_from(u64::from_le_bytes(length)).map_err(|_| at)?);
            at = start.checked_add(length).filter(|&end| end <= sealed).ok_or(start)?;
            Ok(&bytes[start..at])
        };
        let (header, weights, remembered) =
            (part().map_err(damaged)?, part().map_err(damaged)?, part().map_err(damaged)?);
        let header = std::str::from_utf8(header).ok().and_then(|text| toml::from_str(text).ok());
        let header = header.ok_or_else(|| damaged(MARK.len() + 8))?;
        Ok(Some(Self { header, state: [weights.to_vec(), remembered.to_vec()] }))
    }

    /// Itself, if it belongs to these runs.
    pub(super) fn of(self, path: &Path, identities: &[String]) -> Result<Self, CheckpointError> {
        if self.header.identities == identities {
            return Ok(self);
        }
        let there = self.header.identities.iter().flat_map(|identity| identity.lines());
        let here = identities.iter().flat_map(|identity| identity.lines());
        let difference = match there.zip(here).find(|(there, here)| there != here) {
            Some((there, here)) => format!("there {there}, here {here}"),
            None => "it has other settings".into(),
        };
        Err(CheckpointError::OtherRun { path: path.into(), difference })
    }
}

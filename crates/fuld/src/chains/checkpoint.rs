//! The state of a run on disk, from which it goes on as if nothing had happened.
//!
//! A file holds, little-endian: a mark, the version, the identity of the run as text, step and weight, positions,
//! velocities, sums, the draws of a segment that was begun, and divergences, each with its length before it, and a checksum of all that. It is written beside its place and
//! renamed into it, so that whatever moment a run is killed at, a whole checkpoint is there.

use super::outcome::Divergence;
use crate::durable::{fingerprint, replace};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

const MARK: &[u8; 8] = b"FULDRUN\n";
const VERSION: u64 = 2;

/// Why a checkpoint cannot be used. The file is left as it is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("checkpoint {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{path} is no checkpoint of this program: it does not begin with its mark")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by another version.
    #[error("checkpoint {path} has version {version}; this program reads version {VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// The file is cut off or changed.
    #[error("checkpoint {path} is damaged at byte {byte}; it was left in place")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where reading failed.
        byte: usize,
    },
    /// The file belongs to a run with other settings.
    #[error(
        "checkpoint {path} belongs to another run: {difference}; go on with the settings that it has, or name another file"
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The first setting that differs.
        difference: String,
    },
}

/// All that a run needs to go on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Checkpoint {
    pub(super) identity: String,
    pub(super) step: u64,
    pub(super) weight: f64,
    pub(super) x: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) sums: Vec<f64>,
    /// Draws of the segment that was begun: for each chain its draws, for each draw its numbers.
    pub(super) begun: Vec<f64>,
    pub(super) divergences: Vec<Divergence>,
}

impl Checkpoint {
    pub(super) fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let mut bytes = MARK.to_vec();
        put_word(&mut bytes, VERSION);
        put_word(&mut bytes, self.identity.len() as u64);
        bytes.extend_from_slice(self.identity.as_bytes());
        put_word(&mut bytes, self.step);
        put_word(&mut bytes, self.weight.to_bits());
        for numbers in [&self.x, &self.v, &self.sums, &self.begun] {
            put_word(&mut bytes, numbers.len() as u64);
            numbers.iter().for_each(|n| put_word(&mut bytes, n.to_bits()));
        }
        put_word(&mut bytes, self.divergences.len() as u64);
        for d in &self.divergences {
            [d.chain as u64, d.step, d.value.to_bits()].into_iter().for_each(|w| put_word(&mut bytes, w));
        }
        let sum = fingerprint(&bytes);
        put_word(&mut bytes, sum);
        replace(path, &bytes).map_err(|source| CheckpointError::Io { path: path.into(), source })
    }

    pub(super) fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes =
            std::fs::read(path).map_err(|source| CheckpointError::Io { path: path.into(), source })?;
        if !bytes.starts_with(MARK) {
            return Err(CheckpointError::Foreign { path: path.into() });
        }
        let mut reader = Reader { bytes: &bytes, at: MARK.len() };
        let damaged = |byte| CheckpointError::Damaged { path: path.into(), byte };
        let version = reader.word().map_err(damaged)?;
        if version != VERSION {
            return Err(CheckpointError::Version { path: path.into(), version });
        }
        reader.checkpoint().map_err(damaged)
    }

    /// Itself, if it belongs to the run of this identity.
    pub(super) fn of(self, path: &Path, identity: &str) -> Result<Self, CheckpointError> {
        if self.identity == identity {
            return Ok(self);
        }
        let lines = self.identity.lines().zip(identity.lines());
        let mut different = lines.filter(|(there, here)| there != here).collect::<Vec<_>>();
        // A potential may be known by what it returns where chains start, which other settings decide: those are named first.
        different.sort_by_key(|(_, here)| here.starts_with("potential"));
        let difference = match different.first() {
            Some((there, here)) => format!("there {there}, here {here}"),
            None => "it has other settings".into(),
        };
        Err(CheckpointError::OtherRun { path: path.into(), difference })
    }
}

fn put_word(bytes: &mut Vec<u8>, word: u64) {
    bytes.extend_from_slice(&word.to_le_bytes());
}

/// Reads words off the bytes; an error is the byte that should have been there.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], usize> {
        let end =
            self.at.checked_add(count).filter(|&end| end <= self.bytes.len()).ok_or(self.bytes.len())?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u64, usize> {
        let bytes = self.take(8)?.try_into().map_err(|_| self.at)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A length that the rest of the file can hold, in units of `size` bytes.
    fn length(&mut self, size: usize) -> Result<usize, usize> {
        let at = self.at;
        let length = usize::try_from(self.word()?).map_err(|_| at)?;
        if length <= (self.bytes.len() - self.at) / size { Ok(length) } else { Err(at) }
    }

    fn numbers(&mut self) -> Result<Vec<f64>, usize> {
        let length = self.length(8)?;
        (0..length).map(|_| self.word().map(f64::from_bits)).collect()
    }

    fn checkpoint(&mut self) -> Result<Checkpoint, usize> {
        let length = self.length(1)?;
        let at = self.at;
        let identity = std::str::from_utf8(self.take(length)?).map_err(|_| at)?.to_owned();
        let (step, weight) = (self.word()?, f64::from_bits(self.word()?));
        let (x, v, sums, begun) = (self.numbers()?, self.numbers()?, self.numbers()?, self.numbers()?);
        let divergence = |r: &mut Self| {
            Ok(Divergence { chain: r.word()? as usize, step: r.word()?, value: f64::from_bits(r.word()?) })
        };
        let divergences = (0..self.length(24)?).map(|_| divergence(self)).collect::<Result<_, usize>>()?;
        let expected = fingerprint(&self.bytes[..self.at]);
        let at = self.at;
        if self.word()? != expected || self.at != self.bytes.len() {
            return Err(at);
        }
        Ok(Checkpoint { identity, step, weight, x, v, sums, begun, divergences })
    }
}

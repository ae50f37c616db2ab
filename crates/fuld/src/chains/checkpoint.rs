//! The state of a run on disk, from which the run continues with the same draws.
//!
//! A file holds, in little-endian order: a mark, the format version, the
//! [`RunSpec`](super::RunSpec) as JSON, step and weight, positions, velocities, sums, the draws of
//! the unfinished segment, and divergences, each preceded by its length, and a checksum of all
//! this. Specification, version and lengths are checked on reading. The file is written beside its
//! place and renamed into it, so that a whole checkpoint is there whenever a run is killed.

use super::outcome::Divergence;
use super::sink::Layout;
use super::spec::{DYNAMICS_VERSION, RunSpec};
use crate::durable::{fingerprint, replace};
use crate::exact::Levels;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

const MARK: &[u8; 8] = b"FULDRUN\n";
/// Version of the format: 3 keeps the specification as JSON, 4 the state of the adaptation.
const VERSION: u64 = 4;

/// A checkpoint that cannot be used. The file is left as it is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("checkpoint {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{path} is not a checkpoint of fuld: it does not begin with FULDRUN")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written in another format.
    #[error("checkpoint {path} has version {version}, expected {VERSION}; begin the run again")]
    Version {
        /// The file.
        path: PathBuf,
        /// Version of its format.
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
    /// The file was made by another version of the dynamics, whose draws differ.
    #[error(
        "checkpoint {path} was made by version {stored} of the dynamics, now {DYNAMICS_VERSION}; begin the run again"
    )]
    Stale {
        /// The file.
        path: PathBuf,
        /// Version of the dynamics that made it.
        stored: u32,
    },
    /// The file belongs to a run with another specification.
    #[error(
        "checkpoint {path} belongs to another run: {difference}; continue with the settings stored there, or choose another file"
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// First difference between the specifications.
        difference: String,
    },
    /// The state of the adaptation in the file does not belong to its specification.
    #[error("checkpoint {path} has the adaptation of another run; begin the run again")]
    Adaptation {
        /// The file.
        path: PathBuf,
    },
    /// An array in the file does not have the length that its specification requires.
    #[error("checkpoint {path} has {given} {what}, expected {expected}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// Contents of the array.
        what: &'static str,
        /// Length that the specification requires.
        expected: usize,
        /// Length in the file.
        given: usize,
    },
}

/// Everything that a run requires to continue.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Checkpoint {
    /// Specification of the run, as JSON.
    pub(super) spec: String,
    pub(super) step: u64,
    pub(super) weight: f64,
    pub(super) x: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) sums: Vec<f64>,
    /// Draws of the unfinished segment: for each chain its draws, for each draw its values.
    pub(super) begun: Vec<f64>,
    pub(super) divergences: Vec<Divergence>,
    /// State of the adaptation of exact sampling.
    pub(super) adaptation: Vec<f64>,
}

impl Checkpoint {
    pub(super) fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        replace(path, &self.to_bytes())
            .map_err(|source| CheckpointError::Io { path: path.into(), source })
    }

    /// Returns the contents of the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        put_word(&mut bytes, VERSION);
        put_word(&mut bytes, self.spec.len() as u64);
        bytes.extend_from_slice(self.spec.as_bytes());
        put_word(&mut bytes, self.step);
        put_word(&mut bytes, self.weight.to_bits());
        for numbers in [&self.x, &self.v, &self.sums, &self.begun, &self.adaptation] {
            put_word(&mut bytes, numbers.len() as u64);
            numbers.iter().for_each(|n| put_word(&mut bytes, n.to_bits()));
        }
        put_word(&mut bytes, self.divergences.len() as u64);
        for d in &self.divergences {
            [d.chain as u64, d.step, d.value.to_bits()]
                .into_iter()
                .for_each(|w| put_word(&mut bytes, w));
        }
        let sum = fingerprint(&bytes);
        put_word(&mut bytes, sum);
        bytes
    }

    pub(super) fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = std::fs::read(path)
            .map_err(|source| CheckpointError::Io { path: path.into(), source })?;
        Self::from_bytes(&bytes, path)
    }

    /// Reads the contents of a file; errors name its path.
    pub(super) fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, CheckpointError> {
        if !bytes.starts_with(MARK) {
            return Err(CheckpointError::Foreign { path: path.into() });
        }
        let mut reader = Reader { bytes, at: MARK.len() };
        let damaged = |byte| CheckpointError::Damaged { path: path.into(), byte };
        let version = reader.word().map_err(damaged)?;
        if version != VERSION {
            return Err(CheckpointError::Version { path: path.into(), version });
        }
        reader.checkpoint().map_err(damaged)
    }

    /// Returns the checkpoint if it belongs to this run and its arrays have the right lengths.
    pub(super) fn of(self, path: &Path, layout: &Layout) -> Result<Self, CheckpointError> {
        let spec = &layout.spec;
        if let Some(stored) =
            RunSpec::stored_version(&self.spec).filter(|&version| version != DYNAMICS_VERSION)
        {
            return Err(CheckpointError::Stale { path: path.into(), stored });
        }
        if let Some(difference) = spec.difference(&self.spec) {
            return Err(CheckpointError::OtherRun { path: path.into(), difference });
        }
        let levels = spec.temper.unwrap_or(1);
        let coordinates = levels * spec.chains * spec.dim;
        // A segment that is not complete yet is in the checkpoint; complete ones are in the sink.
        let unfinished = (spec.draws_at(self.step) % layout.segment as u64) as usize;
        let last = usize::try_from(spec.total_steps().min(self.step)).unwrap_or(usize::MAX);
        // The adaptation begins with the first step.
        let sizes = [levels, spec.chains, spec.dim];
        let restores = || Levels::from_numbers(&self.adaptation, spec.warmup, sizes).is_some();
        let adapts = spec.adapt == Some(true) && self.step > 0;
        if adapts && !restores() || !adapts && !self.adaptation.is_empty() {
            return Err(CheckpointError::Adaptation { path: path.into() });
        }
        let chain = self.divergences.iter().map(|d| d.chain).max().unwrap_or(0);
        for (what, expected, given) in [
            ("steps", last, usize::try_from(self.step).unwrap_or(usize::MAX)),
            ("positions", coordinates, self.x.len()),
            ("velocities", coordinates, self.v.len()),
            ("sums", spec.chains * spec.averages.len(), self.sums.len()),
            (
                "values of the unfinished segment",
                spec.chains * layout.width() * unfinished,
                self.begun.len(),
            ),
            ("as the index of a chain", chain.min(spec.chains - 1), chain),
        ] {
            if given != expected {
                return Err(CheckpointError::Shape { path: path.into(), what, expected, given });
            }
        }
        Ok(self)
    }
}

/// Returns the seed of the run whose state is in a file; None if there is no file or another
/// format.
pub fn stored_seed(path: &Path) -> Option<u64> {
    let spec: serde_json::Value = serde_json::from_str(&Checkpoint::read(path).ok()?.spec).ok()?;
    spec["seed"].as_u64()
}

fn put_word(bytes: &mut Vec<u8>, word: u64) {
    bytes.extend_from_slice(&word.to_le_bytes());
}

/// Reads words from bytes. An error is the position of the first byte that is missing or wrong.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], usize> {
        let end = self
            .at
            .checked_add(count)
            .filter(|&end| end <= self.bytes.len())
            .ok_or(self.bytes.len())?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u64, usize> {
        let bytes = self.take(8)?.try_into().map_err(|_| self.at)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a number of items of `size` bytes, which must fit in the rest of the file.
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
        let spec = std::str::from_utf8(self.take(length)?).map_err(|_| at)?.to_owned();
        let (step, weight) = (self.word()?, f64::from_bits(self.word()?));
        let (x, v, sums, begun) =
            (self.numbers()?, self.numbers()?, self.numbers()?, self.numbers()?);
        let adaptation = self.numbers()?;
        let divergence = |r: &mut Self| {
            Ok(Divergence {
                chain: r.word()? as usize,
                step: r.word()?,
                value: f64::from_bits(r.word()?),
            })
        };
        let divergences =
            (0..self.length(24)?).map(|_| divergence(self)).collect::<Result<_, usize>>()?;
        let expected = fingerprint(&self.bytes[..self.at]);
        let at = self.at;
        if self.word()? != expected || self.at != self.bytes.len() {
            return Err(at);
        }
        Ok(Checkpoint { spec, step, weight, x, v, sums, begun, divergences, adaptation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chains::Run;
    use crate::potential::Harmonic;
    use crate::{Alpha, Beta, Friction, Integrator, Schedule, System, Underdamped};

    /// A file of this run whose arrays have other lengths is refused instead of being indexed out
    /// of bounds.
    #[test]
    fn lengths_are_checked() {
        let parameters = Underdamped {
            alpha: Alpha::GAUSS,
            gamma: Friction::new(1.0).unwrap(),
            beta: Beta::ONE,
        };
        let system = System::fuld(parameters).unwrap();
        let run = Run::new(system, Integrator::Baoab, Schedule::constant(0.1).unwrap());
        let run = Run { chains: 2, warmup: 1, draws: 20, ..run };
        let layout = run.layout(&Harmonic::isotropic(3, 1.0).unwrap()).unwrap();
        let whole = Checkpoint {
            spec: layout.spec.to_json(),
            step: 5,
            weight: 0.4,
            x: vec![0.0; 6],
            v: vec![0.0; 6],
            sums: Vec::new(),
            begun: vec![0.0; 4 * 6],
            divergences: Vec::new(),
            adaptation: Vec::new(),
        };
        let of = |checkpoint: Checkpoint| checkpoint.of(Path::new("file"), &layout);
        assert!(of(whole.clone()).is_ok());
        let lost = Divergence { chain: 2, step: 1, value: 0.0 };
        for (bad, says) in [
            (Checkpoint { x: vec![0.0; 5], ..whole.clone() }, "has 5 positions, expected 6"),
            (Checkpoint { v: vec![0.0; 7], ..whole.clone() }, "has 7 velocities, expected 6"),
            (Checkpoint { sums: vec![1.0], ..whole.clone() }, "has 1 sums, expected 0"),
            (
                Checkpoint { begun: vec![0.0; 30], ..whole.clone() },
                "has 30 values of the unfinished segment, expected 24",
            ),
            (
                Checkpoint { step: 22, begun: Vec::new(), ..whole.clone() },
                "has 22 steps, expected 21",
            ),
            (
                Checkpoint { divergences: vec![lost], ..whole.clone() },
                "has 2 as the index of a chain, expected 1",
            ),
        ] {
            let error = of(bad).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}

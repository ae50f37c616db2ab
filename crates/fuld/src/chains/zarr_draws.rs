//! Reading of the stores that [`ZarrSink`](super::ZarrSink) writes, some coordinates at a time.

use super::spec::RunSpec;
use super::zarr::{ATTRIBUTES, stored_run};
use serde::Deserialize;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The saved draws of a Zarr store of this program. Values stay on disk until they are requested.
#[derive(Clone, Debug)]
pub struct ZarrDraws {
    path: PathBuf,
    chains: usize,
    draws: usize,
    dim: usize,
    /// Draws per chunk.
    segment: usize,
    spec: RunSpec,
}

impl ZarrDraws {
    /// Opens the store in a directory. Its format version is checked, and its shape against the specification of its run.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = path.join("posterior/x/.zarray");
        let json = std::fs::read_to_string(&file).map_err(named(&file))?;
        let array: Array = serde_json::from_str(&json).map_err(|error| invalid(&file, &error))?;
        let (chains, draws, dim, segment) = match (array.shape.as_slice(), array.chunks.as_slice()) {
            (&[chains, draws], &[_, segment]) if segment > 0 => (chains, draws, 1, segment),
            (&[chains, draws, dim], &[_, segment, _]) if segment > 0 => (chains, draws, dim, segment),
            _ => return Err(invalid(&file, &"shape and chunks must have 2 or 3 dimensions")),
        };
        let file = path.join(ATTRIBUTES);
        let attributes = std::fs::read_to_string(&file).map_err(named(&file))?;
        let spec = stored_run(&attributes).map_err(|error| invalid(&file, &error))?;
        let spec: RunSpec = serde_json::from_str(&spec).map_err(|error| invalid(&file, &error))?;
        if (spec.chains, spec.dim) != (chains, dim) || draws as u64 > spec.draws {
            let expected = (spec.chains, spec.draws, spec.dim);
            return Err(invalid(&file, &format!("shape {expected:?}, got {:?}", (chains, draws, dim))));
        }
        Ok(Self { path, chains, draws, dim, segment, spec })
    }

    /// Returns the specification of the run that wrote the store.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Returns the number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Returns the number of draws per chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Returns the dimension of a position.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns one coordinate of the positions, one vector per chain. Panics if there is no such coordinate.
    pub fn coordinate(&self, coordinate: usize) -> io::Result<Vec<Vec<f64>>> {
        Ok(self.coordinates(coordinate..coordinate + 1)?.swap_remove(0))
    }

    /// Returns a range of coordinates, each as [`coordinate`](Self::coordinate) does, in one pass over the store. Panics if there are no such
    /// coordinates.
    pub fn coordinates(&self, coordinates: Range<usize>) -> io::Result<Vec<Vec<Vec<f64>>>> {
        assert!(coordinates.end <= self.dim, "coordinates {coordinates:?} of {}", self.dim);
        let mut all = vec![vec![Vec::with_capacity(self.draws); self.chains]; coordinates.len()];
        self.read("x", |chain, _, draw| {
            for (series, word) in all.iter_mut().zip(&draw[coordinates.clone()]) {
                series[chain].push(f64::from_le_bytes(*word));
            }
        })?;
        Ok(all)
    }

    /// Returns all positions: for each chain its draws, for each draw its coordinates.
    pub fn positions(&self) -> io::Result<Vec<f64>> {
        self.whole("x")
    }

    /// Returns all velocities in the same order, if they were recorded.
    pub fn velocities(&self) -> Option<io::Result<Vec<f64>>> {
        self.path.join("posterior/v/.zarray").exists().then(|| self.whole("v"))
    }

    fn whole(&self, variable: &str) -> io::Result<Vec<f64>> {
        let mut values = Vec::new();
        let count = self.chains.checked_mul(self.draws).and_then(|n| n.checked_mul(self.dim));
        let count = count.ok_or_else(|| io::Error::other("chains * draws * dim overflows usize"))?;
        values.try_reserve_exact(count).map_err(io::Error::other)?;
        values.resize(count, 0.0);
        self.read(variable, |chain, draw, words| {
            let at = (chain * self.draws + draw) * self.dim;
            for (value, word) in values[at..at + self.dim].iter_mut().zip(words) {
                *value = f64::from_le_bytes(*word);
            }
        })?;
        Ok(values)
    }

    /// Calls `take(chain, draw, values)` for every draw of a variable, chunk after chunk.
    fn read(&self, variable: &str, mut take: impl FnMut(usize, usize, &[[u8; 8]])) -> io::Result<()> {
        for (number, first) in (0..self.draws).step_by(self.segment).enumerate() {
            let chunk = if self.dim == 1 { format!("0.{number}") } else { format!("0.{number}.0") };
            let file = self.path.join("posterior").join(variable).join(chunk);
            let bytes = std::fs::read(&file).map_err(named(&file))?;
            if bytes.len() != 8 * self.chains * self.segment * self.dim {
                return Err(io::Error::other(format!("{} has {} bytes", file.display(), bytes.len())));
            }
            let count = self.segment.min(self.draws - first);
            for (chain, bytes) in bytes.chunks_exact(8 * self.segment * self.dim).enumerate() {
                let (words, _) = bytes.as_chunks::<8>();
                for (draw, words) in words.chunks_exact(self.dim).take(count).enumerate() {
                    take(chain, first + draw, words);
                }
            }
        }
        Ok(())
    }
}

fn named(file: &Path) -> impl Fn(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

/// Describes a file whose content is not that of a store of this program.
fn invalid(file: &Path, problem: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{} does not describe a store of this program: {problem}", file.display()))
}

/// The parts of a Zarr array's description that are read.
#[derive(Deserialize)]
struct Array {
    shape: Vec<usize>,
    chunks: Vec<usize>,
}

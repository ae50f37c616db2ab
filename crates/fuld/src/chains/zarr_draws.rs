//! Reading of the stores that [`ZarrSink`](super::ZarrSink) writes, some coordinates at a time.

use super::spec::RunSpec;
use super::zarr::{ATTRIBUTES, ChunkGrid, METADATA, damaged, stored_run};
use serde_json::Value;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The saved draws of a Zarr store of this program. Values stay on disk until they are requested.
#[derive(Clone, Debug)]
pub struct ZarrDraws {
    path: PathBuf,
    draws: usize,
    grid: ChunkGrid,
    spec: RunSpec,
}

impl ZarrDraws {
    /// Opens the store in a directory. Its format version is checked, and the shape of every array and the length of every chunk
    /// against the specification of its run; a difference is an error of the kind [`InvalidData`](io::ErrorKind::InvalidData).
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        // This file describes all arrays at one moment, even while a run adds draws.
        let file = path.join(METADATA);
        let arrays = read_json(&file)?["metadata"].take();
        let attributes = path.join(ATTRIBUTES);
        let spec = stored_run(&read(&attributes)?).map_err(|problem| damaged(&attributes, &problem))?;
        let spec: RunSpec = serde_json::from_str(&spec).map_err(|error| damaged(&attributes, &error))?;
        let grid = ChunkGrid::new(&spec).ok_or_else(|| {
            let RunSpec { chains, draws, dim, .. } = spec;
            damaged(&attributes, &format!("{chains} chains of {draws} draws with {dim} coordinates"))
        })?;
        let draws = arrays[ChunkGrid::array("x")]["shape"][1].as_u64().filter(|&draws| draws <= spec.draws);
        let draws = draws.unwrap_or(spec.draws);
        for (name, expected) in grid.arrays(draws) {
            compare(&file, &format!("{name}: "), &arrays[&name], &expected)?;
        }
        for variable in grid.variables {
            let file = path.join(ChunkGrid::array(variable));
            let stored = read_json(&file)?;
            let later = stored["shape"][1].as_u64().filter(|later| (draws..=spec.draws).contains(later));
            compare(&file, "", &stored, &grid.variable(later.unwrap_or(draws)))?;
        }
        grid.check_chunks(&path, draws)?;
        let draws = usize::try_from(draws).map_err(io::Error::other)?;
        Ok(Self { path, draws, grid, spec })
    }

    /// Returns the specification of the run that wrote the store.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Returns the number of chains.
    pub fn chains(&self) -> usize {
        self.spec.chains
    }

    /// Returns the number of draws per chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Returns the dimension of a position.
    pub fn dim(&self) -> usize {
        self.spec.dim
    }

    /// Returns one coordinate of the positions, one vector per chain. Panics if the coordinate is not below [`dim`](Self::dim).
    pub fn coordinate(&self, coordinate: usize) -> io::Result<Vec<Vec<f64>>> {
        Ok(self.coordinates(coordinate..coordinate + 1)?.swap_remove(0))
    }

    /// Returns a range of coordinates, each as [`coordinate`](Self::coordinate) does, in one pass over the store. Panics if the
    /// range ends above [`dim`](Self::dim).
    pub fn coordinates(&self, coordinates: Range<usize>) -> io::Result<Vec<Vec<Vec<f64>>>> {
        assert!(coordinates.end <= self.dim(), "coordinates {coordinates:?} of {}", self.dim());
        let mut all = vec![vec![Vec::with_capacity(self.draws); self.chains()]; coordinates.len()];
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
        self.spec.velocities.then(|| self.whole("v"))
    }

    fn whole(&self, variable: &str) -> io::Result<Vec<f64>> {
        let dim = self.dim();
        let mut values = Vec::new();
        let count = self.chains().checked_mul(self.draws).and_then(|n| n.checked_mul(dim));
        let count = count.ok_or_else(|| io::Error::other("chains * draws * dim overflows usize"))?;
        values.try_reserve_exact(count).map_err(io::Error::other)?;
        values.resize(count, 0.0);
        self.read(variable, |chain, draw, words| {
            let at = (chain * self.draws + draw) * dim;
            for (value, word) in values[at..at + dim].iter_mut().zip(words) {
                *value = f64::from_le_bytes(*word);
            }
        })?;
        Ok(values)
    }

    /// Calls `take(chain, draw, values)` for every draw of a variable, chunk after chunk.
    fn read(&self, variable: &str, mut take: impl FnMut(usize, usize, &[[u8; 8]])) -> io::Result<()> {
        let segment = self.grid.segment;
        for (number, first) in (0..self.draws).step_by(segment).enumerate() {
            let file = self.path.join(self.grid.chunk(variable, number as u64));
            let bytes = std::fs::read(&file).map_err(named(&file))?;
            self.grid.check_length(&file, bytes.len() as u64)?;
            let count = segment.min(self.draws - first);
            for (chain, bytes) in bytes.chunks_exact(8 * segment * self.dim()).enumerate() {
                let (words, _) = bytes.as_chunks::<8>();
                for (draw, words) in words.chunks_exact(self.dim()).take(count).enumerate() {
                    take(chain, first + draw, words);
                }
            }
        }
        Ok(())
    }
}

fn read(file: &Path) -> io::Result<String> {
    std::fs::read_to_string(file).map_err(named(file))
}

fn read_json(file: &Path) -> io::Result<Value> {
    serde_json::from_str(&read(file)?).map_err(|error| damaged(file, &error))
}

/// Returns an error that names the first field of an array's description that is not the expected one.
fn compare(file: &Path, array: &str, stored: &Value, expected: &Value) -> io::Result<()> {
    let mut fields = expected.as_object().into_iter().flatten();
    match fields.find(|(name, expected)| stored[name.as_str()] != **expected) {
        None => Ok(()),
        Some((name, expected)) => {
            let stored = &stored[name.as_str()];
            Err(damaged(file, &format!("{array}{name} is {stored}, expected {expected}")))
        }
    }
}

fn named(file: &Path) -> impl Fn(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

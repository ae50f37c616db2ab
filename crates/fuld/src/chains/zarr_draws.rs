//! Reading of the stores that [`ZarrSink`](super::ZarrSink) writes, some coordinates at a time.

use super::sink::STATISTICS;
use super::spec::RunSpec;
use super::zarr::{
    ATTRIBUTES, COORDINATES, ChunkGrid, METADATA, NUMBERS, TEXT, Variable, damaged, stored_run,
};
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
    /// Opens the store in a directory. Its format version is checked, and the shape of every array
    /// and the length of every chunk against the specification of its run; a difference is an error
    /// of the kind [`InvalidData`](io::ErrorKind::InvalidData).
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        // This file describes all arrays at one moment, even while a run adds draws.
        let file = path.join(METADATA);
        let arrays = read_json(&file)?["metadata"].take();
        let attributes = path.join(ATTRIBUTES);
        let spec =
            stored_run(&read(&attributes)?).map_err(|problem| damaged(&attributes, &problem))?;
        let spec: RunSpec =
            serde_json::from_str(&spec).map_err(|error| damaged(&attributes, &error))?;
        let grid = ChunkGrid::new(&spec).ok_or_else(|| {
            let RunSpec { chains, draws, dim, .. } = spec;
            damaged(
                &attributes,
                &format!("{chains} chains of {draws} draws with {dim} coordinates"),
            )
        })?;
        let positions = grid.variables[0].array();
        let draws = arrays[positions]["shape"][1].as_u64().filter(|&draws| draws <= spec.draws);
        let draws = draws.unwrap_or(spec.draws);
        // Coordinates have numbers or names.
        let stored = arrays[COORDINATES]["dtype"].as_str();
        let coordinates =
            stored.filter(|dtype| dtype.starts_with(TEXT)).unwrap_or(NUMBERS).to_owned();
        for (name, expected, _) in grid.arrays(draws, &coordinates) {
            compare(&file, &format!("{name}: "), &arrays[&name], &expected)?;
        }
        for variable in &grid.variables {
            let file = path.join(variable.array());
            let stored = read_json(&file)?;
            let later =
                stored["shape"][1].as_u64().filter(|later| (draws..=spec.draws).contains(later));
            compare(&file, "", &stored, &grid.describe(variable, later.unwrap_or(draws)))?;
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

    /// Returns one coordinate of the positions, one vector per chain. Panics if the coordinate is
    /// not below [`dim`](Self::dim).
    pub fn coordinate(&self, coordinate: usize) -> io::Result<Vec<Vec<f64>>> {
        Ok(self.coordinates(coordinate..coordinate + 1)?.swap_remove(0))
    }

    /// Returns a range of coordinates, each as [`coordinate`](Self::coordinate) does, in one pass
    /// over the store. Panics if the range ends above [`dim`](Self::dim).
    pub fn coordinates(&self, coordinates: Range<usize>) -> io::Result<Vec<Vec<Vec<f64>>>> {
        assert!(coordinates.end <= self.dim(), "coordinates {coordinates:?} of {}", self.dim());
        let mut all = vec![vec![Vec::with_capacity(self.draws); self.chains()]; coordinates.len()];
        self.read(&self.grid.variables[0], |chain, _, draw| {
            for (series, x) in all.iter_mut().zip(&draw[coordinates.clone()]) {
                series[chain].push(*x);
            }
        })?;
        Ok(all)
    }

    /// Returns all positions: for each chain its draws, for each draw its coordinates.
    pub fn positions(&self) -> io::Result<Vec<f64>> {
        self.whole(&self.grid.variables[0])
    }

    /// Returns all velocities in the same order, if they were recorded.
    pub fn velocities(&self) -> Option<io::Result<Vec<f64>>> {
        self.grid.find("v").map(|variable| self.whole(&variable))
    }

    /// Returns one of the [`STATISTICS`](super::STATISTICS) by its number, draw after draw of each
    /// chain; None unless the run was exact.
    pub fn statistic(&self, number: usize) -> Option<io::Result<Vec<f64>>> {
        self.grid.find(STATISTICS.get(number)?).map(|variable| self.whole(&variable))
    }

    fn whole(&self, variable: &Variable) -> io::Result<Vec<f64>> {
        let width = variable.width;
        let mut values = Vec::new();
        let count = self.chains().checked_mul(self.draws).and_then(|n| n.checked_mul(width));
        let count =
            count.ok_or_else(|| io::Error::other("chains * draws * dim overflows usize"))?;
        values.try_reserve_exact(count).map_err(io::Error::other)?;
        values.resize(count, 0.0);
        self.read(variable, |chain, draw, numbers| {
            values[(chain * self.draws + draw) * width..][..width].copy_from_slice(numbers);
        })?;
        Ok(values)
    }

    /// Calls `take(chain, draw, values)` for every draw of a variable, chunk after chunk.
    fn read(
        &self,
        variable: &Variable,
        mut take: impl FnMut(usize, usize, &[f64]),
    ) -> io::Result<()> {
        let (segment, width) = (self.grid.segment, variable.width);
        for (number, first) in (0..self.draws).step_by(segment).enumerate() {
            let file = self.path.join(variable.chunk(number as u64));
            let bytes = std::fs::read(&file).map_err(named(&file))?;
            self.grid.check_length(variable, &file, bytes.len() as u64)?;
            let numbers = variable.numbers(&bytes);
            let count = segment.min(self.draws - first);
            for (chain, numbers) in numbers.chunks_exact(segment * width).enumerate() {
                for (draw, numbers) in numbers.chunks_exact(width).take(count).enumerate() {
                    take(chain, first + draw, numbers);
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

/// Returns an error that names the first field of an array's description that is not the expected
/// one.
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

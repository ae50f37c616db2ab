//! Draws that [`ZarrSink`](super::ZarrSink) left on disk, read back some coordinates at a time.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The draws in a Zarr store of this program, as far as they were saved. Numbers stay on disk until they are asked for.
#[derive(Clone, Debug)]
pub struct ZarrDraws {
    path: PathBuf,
    chains: usize,
    draws: usize,
    dim: usize,
    /// Draws of a chunk.
    segment: usize,
}

impl ZarrDraws {
    /// Opens the store in a directory. Those of other programs need not be readable.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = path.join("posterior/x/.zarray");
        let json = std::fs::read_to_string(&file).map_err(named(&file))?;
        let foreign = || io::Error::other(format!("{} is not as this program writes it", file.display()));
        let (shape, chunks) =
            (numbers(&json, "shape").ok_or_else(foreign)?, numbers(&json, "chunks").ok_or_else(foreign)?);
        match (shape.as_slice(), chunks.as_slice()) {
            (&[chains, draws], &[_, segment]) if segment > 0 => {
                Ok(Self { path, chains, draws, dim: 1, segment })
            }
            (&[chains, draws, dim], &[_, segment, _]) if segment > 0 => {
                Ok(Self { path, chains, draws, dim, segment })
            }
            _ => Err(foreign()),
        }
    }

    /// Chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Draws a chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Coordinates of a position.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// One coordinate of the positions, one vector a chain. Panics if there is no such coordinate.
    pub fn coordinate(&self, coordinate: usize) -> io::Result<Vec<Vec<f64>>> {
        Ok(self.coordinates(coordinate..coordinate + 1)?.swap_remove(0))
    }

    /// Some coordinates of the positions, each as [`coordinate`](Self::coordinate) gives it; the store is read only once for all of
    /// them. Panics if there are no such coordinates.
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

    /// All positions: for each chain its draws, for each draw its coordinates.
    pub fn positions(&self) -> io::Result<Vec<f64>> {
        self.whole("x")
    }

    /// All velocities in the same order, if they were recorded.
    pub fn velocities(&self) -> Option<io::Result<Vec<f64>>> {
        self.path.join("posterior/v/.zarray").exists().then(|| self.whole("v"))
    }

    fn whole(&self, variable: &str) -> io::Result<Vec<f64>> {
        let mut values = Vec::new();
        let count = self.chains.checked_mul(self.draws).and_then(|n| n.checked_mul(self.dim));
        let count = count.ok_or_else(|| io::Error::other("more draws than memory has addresses"))?;
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

    /// Hands every draw of a variable to `take(chain, draw, its numbers)`, chunk after chunk.
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

/// The list of whole numbers that a key has in our own JSON.
fn numbers(json: &str, key: &str) -> Option<Vec<usize>> {
    let (_, rest) = json.split_once(&format!("\"{key}\":["))?;
    let (list, _) = rest.split_once(']')?;
    list.split(',').map(|number| number.trim().parse().ok()).collect()
}

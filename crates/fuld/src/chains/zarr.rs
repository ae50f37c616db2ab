//! Draws on disk as Zarr, in the layout that ArviZ and xarray open directly.
//!
//! The store has a group `posterior` with an array for the positions, dimensions (chain, draw, …), and the coordinates
//! `chain` and `draw`. It is Zarr version 2, uncompressed, one chunk a segment: the format needs some lines of JSON and raw
//! little-endian numbers, less than any library for it, and every file is written whole or not at all. The shape on disk grows whenever
//! the run is saved, so that it can be looked at while it goes on, or after it was killed.

use super::sink::{Layout, Sink};
use crate::durable::replace;
use std::io;
use std::path::{Path, PathBuf};

/// The file that says whose draws a store holds.
const MARK: &str = ".zattrs";

/// A Zarr store that receives draws: positions as variable `x`, velocities, if recorded, as `v`.
#[derive(Clone, Debug)]
pub struct ZarrSink {
    path: PathBuf,
    layout: Layout,
    /// Draws of each chain on disk.
    filled: u64,
}

impl ZarrSink {
    /// A store in the directory `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let layout = Layout { chains: 0, draws: 0, dim: 0, velocities: false, segment: 0, run: 0 };
        Self { path: path.into(), layout, filled: 0 }
    }

    fn positions(&self) -> PathBuf {
        self.path.join("posterior/x")
    }

    /// What says whose draws these are.
    fn mark(&self) -> String {
        format!(r#"{{"fuld_run":"{:016x}"}}"#, self.layout.run)
    }

    fn variables(&self) -> &'static [&'static str] {
        if self.layout.velocities { &["x", "v"] } else { &["x"] }
    }

    /// The files that describe the store, at its present size: name and content.
    fn metadata(&self) -> Vec<(String, String)> {
        let Layout { chains, dim, segment, .. } = self.layout;
        let draws = self.filled;
        let group = || r#"{"zarr_format":2}"#.to_owned();
        let index =
            |length: u64, chunk: usize| array_json(&length.to_string(), &chunk.to_string(), "<i8", "null");
        let mut files = vec![
            (".zgroup".to_owned(), group()),
            (MARK.to_owned(), self.mark()),
            ("posterior/.zgroup".into(), group()),
            ("posterior/chain/.zarray".into(), index(chains as u64, chains)),
            ("posterior/chain/.zattrs".into(), dimensions_json(r#""chain""#)),
            ("posterior/draw/.zarray".into(), index(draws, segment)),
            ("posterior/draw/.zattrs".into(), dimensions_json(r#""draw""#)),
        ];
        // One coordinate makes a scalar: no third dimension, as ArviZ expects.
        let mut names = r#""chain","draw""#.to_owned();
        let (mut shape, mut chunks) = (format!("{chains},{draws}"), format!("{chains},{segment}"));
        if dim > 1 {
            names += r#","coordinate""#;
            shape += &format!(",{dim}");
            chunks += &format!(",{dim}");
            files.push(("posterior/coordinate/.zarray".into(), index(dim as u64, dim)));
            files.push(("posterior/coordinate/.zattrs".into(), dimensions_json(r#""coordinate""#)));
        }
        for variable in self.variables() {
            files.push((
                format!("posterior/{variable}/.zarray"),
                array_json(&shape, &chunks, "<f8", r#""NaN""#),
            ));
            files.push((format!("posterior/{variable}/.zattrs"), dimensions_json(&names)));
        }
        let entries: Vec<String> = files.iter().map(|(name, json)| format!(r#""{name}":{json}"#)).collect();
        let all = format!(r#"{{"metadata":{{{}}},"zarr_consolidated_format":1}}"#, entries.join(","));
        files.push((".zmetadata".into(), all));
        files
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(named)?;
        }
        replace(&path, bytes).map_err(named)
    }

    /// Writes the fixed coordinates and then the descriptions, at the present size.
    fn describe(&self) -> io::Result<()> {
        self.put("posterior/chain/0", &indices(0, self.layout.chains))?;
        if self.layout.dim > 1 {
            self.put("posterior/coordinate/0", &indices(0, self.layout.dim))?;
        }
        self.metadata().iter().try_for_each(|(name, json)| self.put(name, json.as_bytes()))
    }
}

impl Sink for ZarrSink {
    fn vacant(&self) -> io::Result<()> {
        if !self.positions().join(".zarray").exists() {
            return Ok(());
        }
        let message = format!("{} holds draws already; name another directory", self.path.display());
        Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
    }

    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        self.layout = *layout;
        self.filled = done;
        let store = self.path.display();
        let problem = match std::fs::read_to_string(self.path.join(MARK)) {
            Ok(mark) if mark == self.mark() => None,
            Ok(_) => Some(format!(
                "{store} holds the draws of another run; name the directory that this run began with"
            )),
            Err(_) if self.vacant().is_err() => {
                Some(format!("{store} holds draws that no run of this program left"))
            }
            Err(_) if done > 0 => {
                Some(format!("{store} does not hold the {done} draws that the checkpoint speaks of"))
            }
            Err(_) => None,
        };
        match problem {
            Some(problem) => Err(io::Error::other(problem)),
            None => self.describe(),
        }
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        let Layout { chains, dim, segment, .. } = self.layout;
        let width = self.layout.width();
        let count = values.len() / (chains * width);
        let number = first / segment as u64;
        let chunk = if dim == 1 { format!("0.{number}") } else { format!("0.{number}.0") };
        for (i, variable) in self.variables().iter().enumerate() {
            let mut bytes = Vec::with_capacity(8 * chains * segment * dim);
            for chain in values.chunks_exact(count * width) {
                for draw in chain.chunks_exact(width) {
                    draw[i * dim..][..dim].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
                }
                // Chunks are all of one size: the last is filled up.
                (count * dim..segment * dim).for_each(|_| bytes.extend_from_slice(&f64::NAN.to_le_bytes()));
            }
            self.put(&format!("posterior/{variable}/{chunk}"), &bytes)?;
        }
        self.put(&format!("posterior/draw/{number}"), &indices(first, segment))?;
        self.filled = first + count as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.describe()?;
        // The names of new files are durable once their directory is.
        sync_directory(&self.path.join("posterior/draw"))?;
        self.variables().iter().try_for_each(|name| sync_directory(&self.path.join("posterior").join(name)))
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { std::fs::File::open(path)?.sync_all() } else { Ok(()) }
}

/// `count` integers from `first` on, little-endian.
fn indices(first: u64, count: usize) -> Vec<u8> {
    (first..first + count as u64).flat_map(|i| (i as i64).to_le_bytes()).collect()
}

fn array_json(shape: &str, chunks: &str, dtype: &str, fill: &str) -> String {
    format!(
        r#"{{"chunks":[{chunks}],"compressor":null,"dtype":"{dtype}","fill_value":{fill},"filters":null,"order":"C","shape":[{shape}],"zarr_format":2}}"#
    )
}

fn dimensions_json(names: &str) -> String {
    format!(r#"{{"_ARRAY_DIMENSIONS":[{names}]}}"#)
}

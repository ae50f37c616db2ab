//! Draws on disk as Zarr, in the layout that ArviZ and xarray open directly.
//!
//! The store has a group `posterior` with an array for the positions, dimensions (chain, draw, …),
//! and the coordinates `chain` and `draw`; exact sampling adds a group `sample_stats` with its
//! [`STATISTICS`]. It is Zarr version 2, uncompressed, one chunk per segment: the format requires
//! some lines of JSON and raw little-endian numbers, less code than a library for it, and every
//! file is written whole or not at all. The shape on disk grows whenever the run is saved, so that
//! the store can be read during the run, or after the run was killed.
//!
//! The attributes of the root group are the version of this format, `fuld_format_version`, and the
//! [`RunSpec`] as JSON, `fuld_run`.

use super::sink::{Layout, STATISTICS, Sink};
use super::spec::RunSpec;
use crate::Integrator;
use crate::durable::replace;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// File with the format version and the specification of the run.
pub(super) const ATTRIBUTES: &str = ".zattrs";
/// File with a copy of all descriptions, which is written after them.
pub(super) const METADATA: &str = ".zmetadata";
/// The description of the coordinates.
pub(super) const COORDINATES: &str = "posterior/coordinate/.zarray";
/// The type of an array of numbers of chains, draws and coordinates.
pub(super) const NUMBERS: &str = "<i8";
/// The beginning of the type of an array of names, which ends with their length.
pub(super) const TEXT: &str = "<U";
/// Version of the store's format.
const FORMAT_VERSION: u64 = 1;

/// A Zarr store that receives draws: positions as variable `x`, velocities, if recorded, as `v`.
/// Coordinates are numbered 0, 1, … unless they have [names](Self::with_names).
#[derive(Clone, Debug)]
pub struct ZarrSink {
    path: PathBuf,
    /// Names of the coordinates, if given.
    names: Option<Vec<String>>,
    /// Shape and identity of the draws; None before the run began.
    begun: Option<(Layout, ChunkGrid)>,
    /// Draws of each chain on disk.
    filled: u64,
}

/// Returns the specification of the run in a store's attributes, after checking the format version.
pub(super) fn stored_run(attributes: &str) -> Result<String, String> {
    let attributes: Value =
        serde_json::from_str(attributes).map_err(|error| format!("no JSON: {error}"))?;
    match (attributes["fuld_format_version"].as_u64(), attributes["fuld_run"].as_str()) {
        (Some(FORMAT_VERSION), Some(run)) => Ok(run.to_owned()),
        (Some(version), _) if version != FORMAT_VERSION => {
            Err(format!("format version {version}, expected {FORMAT_VERSION}"))
        }
        _ => Err(format!("no fuld_format_version, expected {FORMAT_VERSION}")),
    }
}

/// Returns the error of a file of a store that does not have the expected contents.
pub(super) fn damaged(file: &Path, problem: &dyn std::fmt::Display) -> io::Error {
    let text = format!("{} is damaged: {problem}", file.display());
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A variable of a store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variable {
    /// The group of the store: `posterior` or `sample_stats`.
    group: &'static str,
    name: &'static str,
    /// Where its values begin in a draw.
    offset: usize,
    /// Values per draw.
    pub(super) width: usize,
    /// Whether its values are 0 or 1, kept as a byte.
    flag: bool,
}

impl Variable {
    /// Returns the path of its chunk within the store.
    pub(super) fn chunk(&self, number: u64) -> String {
        let third = if self.width == 1 { "" } else { ".0" };
        format!("{}/{}/0.{number}{third}", self.group, self.name)
    }

    /// Returns the path of its description within the store.
    pub(super) fn array(&self) -> String {
        array(self.group, self.name)
    }

    /// Returns its bytes in one chunk.
    fn bytes(&self, chains: usize, segment: usize) -> u64 {
        (chains * segment * self.width * if self.flag { 1 } else { 8 }) as u64
    }

    /// Returns the numbers of a chunk.
    pub(super) fn numbers(&self, bytes: &[u8]) -> Vec<f64> {
        if self.flag {
            return bytes.iter().map(|&byte| f64::from(byte)).collect();
        }
        bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
    }

    fn dimensions(&self) -> &'static [&'static str] {
        if self.width == 1 { &["chain", "draw"] } else { &["chain", "draw", "coordinate"] }
    }
}

fn array(group: &str, name: &str) -> String {
    format!("{group}/{name}/.zarray")
}

/// The arrays of a store and the chunks into which its draws are split, as the specification of the
/// run determines them.
#[derive(Clone, Debug)]
pub(super) struct ChunkGrid {
    chains: usize,
    dim: usize,
    /// Draws per chunk.
    pub(super) segment: usize,
    pub(super) variables: Vec<Variable>,
}

impl ChunkGrid {
    /// Returns the grid of a run, or `None` if a count is zero or a chunk has more bytes than
    /// memory.
    pub(super) fn new(spec: &RunSpec) -> Option<Self> {
        let (chains, dim, segment) = (spec.chains, spec.dim, spec.segment());
        chains.checked_mul(segment)?.checked_mul(dim)?.checked_mul(8).filter(|&bytes| bytes > 0)?;
        let names: &[&'static str] = if spec.velocities { &["x", "v"] } else { &["x"] };
        let posterior = names.iter().enumerate().map(|(i, &name)| Variable {
            group: "posterior",
            name,
            offset: i * dim,
            width: dim,
            flag: false,
        });
        let mut variables: Vec<Variable> = posterior.collect();
        if spec.integrator == Integrator::Exact {
            variables.extend(STATISTICS.iter().enumerate().map(|(i, &name)| Variable {
                group: "sample_stats",
                name,
                offset: names.len() * dim + i,
                width: 1,
                flag: name == "diverging",
            }));
        }
        Some(Self { chains, dim, segment, variables })
    }

    /// Returns a variable of the store; None if the run does not record it.
    pub(super) fn find(&self, name: &str) -> Option<Variable> {
        self.variables.iter().find(|variable| variable.name == name).copied()
    }

    /// Returns the groups of the store.
    fn groups(&self) -> impl Iterator<Item = &'static str> {
        let statistics = self.variables.iter().any(|variable| variable.group == "sample_stats");
        std::iter::once("posterior").chain(statistics.then_some("sample_stats"))
    }

    /// Returns the paths, descriptions and dimensions of all arrays of a store with this many draws
    /// and coordinates of this type.
    pub(super) fn arrays(
        &self,
        draws: u64,
        coordinates: &str,
    ) -> Vec<(String, Value, &'static [&'static str])> {
        let index =
            |length: u64, chunk: usize| array_json(&[length], &[chunk], NUMBERS, &Value::Null);
        let mut arrays = Vec::new();
        for group in self.groups() {
            arrays.push((
                array(group, "chain"),
                index(self.chains as u64, self.chains),
                &["chain"][..],
            ));
            arrays.push((array(group, "draw"), index(draws, self.segment), &["draw"]));
        }
        if self.dim > 1 {
            arrays.push((
                COORDINATES.into(),
                array_json(&[self.dim as u64], &[self.dim], coordinates, &Value::Null),
                &["coordinate"],
            ));
        }
        arrays.extend(
            self.variables.iter().map(|v| (v.array(), self.describe(v, draws), v.dimensions())),
        );
        arrays
    }

    /// Returns the description of a variable with this many draws.
    pub(super) fn describe(&self, variable: &Variable, draws: u64) -> Value {
        let (mut shape, mut chunks) =
            (vec![self.chains as u64, draws], vec![self.chains, self.segment]);
        // With one coordinate the variable is a scalar without a third dimension, as ArviZ expects.
        if variable.width > 1 {
            shape.push(variable.width as u64);
            chunks.push(variable.width);
        }
        if variable.flag {
            array_json(&shape, &chunks, "|b1", &false.into())
        } else {
            array_json(&shape, &chunks, "<f8", &"NaN".into())
        }
    }

    /// Checks the length of a chunk.
    pub(super) fn check_length(
        &self,
        variable: &Variable,
        file: &Path,
        length: u64,
    ) -> io::Result<()> {
        let expected = variable.bytes(self.chains, self.segment);
        if length == expected {
            return Ok(());
        }
        Err(damaged(file, &format!("it has {length} bytes, expected {expected}")))
    }

    /// Checks that all chunks of the first `draws` draws exist and have the right length.
    pub(super) fn check_chunks(&self, store: &Path, draws: u64) -> io::Result<()> {
        for number in 0..draws.div_ceil(self.segment as u64) {
            for variable in &self.variables {
                let file = store.join(variable.chunk(number));
                let length = file.metadata().map_err(|error| damaged(&file, &error))?.len();
                self.check_length(variable, &file, length)?;
            }
        }
        Ok(())
    }
}

impl ZarrSink {
    /// Creates a sink that writes a store in the directory `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), names: None, begun: None, filled: 0 }
    }

    /// Sets the names of the coordinates.
    pub fn with_names(self, names: &[String]) -> Self {
        Self { names: Some(names.to_vec()), ..self }
    }

    /// Returns the type of the array of coordinates, as Zarr and NumPy write it, and its bytes.
    fn coordinates(&self, dim: usize) -> (String, Vec<u8>) {
        let Some(names) = self.names.as_ref().filter(|names| names.len() == dim) else {
            return (NUMBERS.into(), indices(0, dim));
        };
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
        let padded = |name: &String| {
            name.chars().chain(std::iter::repeat('\0')).take(longest).collect::<Vec<_>>()
        };
        let bytes =
            names.iter().flat_map(padded).flat_map(|sign| u32::from(sign).to_le_bytes()).collect();
        (format!("{TEXT}{longest}"), bytes)
    }

    fn begun(&self) -> io::Result<&(Layout, ChunkGrid)> {
        self.begun
            .as_ref()
            .ok_or_else(|| io::Error::other("a store receives draws only after its run began"))
    }

    fn positions(&self) -> PathBuf {
        self.path.join("posterior/x")
    }

    /// Returns the files that describe the store at its present size, with their contents.
    fn metadata(&self, spec: &RunSpec, grid: &ChunkGrid) -> Vec<(String, Value)> {
        let group = || json!({ "zarr_format": 2 });
        let mut files =
            vec![(".zgroup".to_owned(), group()), (ATTRIBUTES.to_owned(), attributes(spec))];
        files.extend(grid.groups().map(|name| (format!("{name}/.zgroup"), group())));
        for (path, array, dimensions) in grid.arrays(self.filled, &self.coordinates(grid.dim).0) {
            files.push((
                path.replace(".zarray", ".zattrs"),
                json!({ "_ARRAY_DIMENSIONS": dimensions }),
            ));
            files.push((path, array));
        }
        let all: serde_json::Map<String, Value> = files.iter().cloned().collect();
        files.push((METADATA.into(), json!({ "metadata": all, "zarr_consolidated_format": 1 })));
        files
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(named)?;
        }
        replace(&path, bytes).map_err(named)
    }

    /// Writes the fixed coordinates and then the descriptions, at the present size.
    fn describe(&self) -> io::Result<()> {
        let (layout, grid) = self.begun()?;
        grid.groups().try_for_each(|group| {
            self.put(&format!("{group}/chain/0"), &indices(0, layout.chains))
        })?;
        if layout.dim > 1 {
            self.put("posterior/coordinate/0", &self.coordinates(layout.dim).1)?;
        }
        let files = self.metadata(&layout.spec, grid);
        files.iter().try_for_each(|(name, json)| self.put(name, json.to_string().as_bytes()))
    }
}

impl Sink for ZarrSink {
    fn vacant(&self) -> io::Result<()> {
        if !self.positions().join(".zarray").exists() {
            return Ok(());
        }
        let message =
            format!("{} already contains draws; name another folder", self.path.display());
        Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
    }

    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        let Some(grid) = ChunkGrid::new(&layout.spec) else {
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                "a chunk of the store has more bytes than memory",
            ));
        };
        let store = self.path.display();
        let attributes = attributes(&layout.spec).to_string();
        let problem = match std::fs::read_to_string(self.path.join(ATTRIBUTES)) {
            Ok(stored) if stored == attributes => {
                grid.check_chunks(&self.path, done)?;
                None
            }
            Ok(stored) => {
                let difference = match stored_run(&stored) {
                    Ok(run) => layout.spec.difference(&run).unwrap_or_default(),
                    Err(error) => error,
                };
                Some(format!(
                    "{store} holds the draws of another run ({difference}); choose the directory of this run or an empty one"
                ))
            }
            Err(_) if self.vacant().is_err() => {
                Some(format!("{store} holds draws that were not written by this program"))
            }
            Err(_) if done > 0 => Some(format!(
                "{store} does not hold the {done} draws per chain that the checkpoint requires"
            )),
            Err(_) => None,
        };
        if let Some(problem) = problem {
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        self.begun = Some((layout.clone(), grid));
        self.filled = done;
        self.describe()
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        let (layout, grid) = self.begun()?;
        let Layout { chains, segment, .. } = *layout;
        let width = layout.width();
        let count = values.len() / (chains * width);
        let number = first / segment as u64;
        for variable in &grid.variables {
            let mut bytes = Vec::with_capacity(variable.bytes(chains, segment) as usize);
            let mut put = |x: f64| {
                if variable.flag {
                    bytes.push(u8::from(x == 1.0))
                } else {
                    bytes.extend_from_slice(&x.to_le_bytes())
                }
            };
            for chain in values.chunks_exact(count * width) {
                for draw in chain.chunks_exact(width) {
                    draw[variable.offset..][..variable.width].iter().for_each(|&x| put(x));
                }
                // All chunks have the same size, so the last is padded.
                (count * variable.width..segment * variable.width).for_each(|_| put(f64::NAN));
            }
            self.put(&variable.chunk(number), &bytes)?;
        }
        for group in grid.groups() {
            self.put(&format!("{group}/draw/{number}"), &indices(first, segment))?;
        }
        self.filled = first + count as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.describe()?;
        // The names of new files are durable once their directory is.
        let (_, grid) = self.begun()?;
        grid.groups().try_for_each(|group| sync_directory(&self.path.join(group).join("draw")))?;
        let directory = |variable: &Variable| self.path.join(variable.group).join(variable.name);
        grid.variables.iter().try_for_each(|variable| sync_directory(&directory(variable)))
    }
}

/// Returns the attributes of the root group.
fn attributes(spec: &RunSpec) -> Value {
    json!({ "fuld_format_version": FORMAT_VERSION, "fuld_run": spec.to_json() })
}

fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { std::fs::File::open(path)?.sync_all() } else { Ok(()) }
}

/// Returns `count` integers from `first` on, as little-endian bytes.
fn indices(first: u64, count: usize) -> Vec<u8> {
    (first..first + count as u64).flat_map(|i| (i as i64).to_le_bytes()).collect()
}

fn array_json(shape: &[u64], chunks: &[usize], dtype: &str, fill: &Value) -> Value {
    json!({
        "chunks": chunks,
        "compressor": null,
        "dtype": dtype,
        "fill_value": fill,
        "filters": null,
        "order": "C",
        "shape": shape,
        "zarr_format": 2,
    })
}

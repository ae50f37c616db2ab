//! Draws on disk as Zarr, in the layout that ArviZ and xarray open directly.
//!
//! The store has a group `posterior` with an array for the positions, dimensions (chain, draw, …), and the coordinates
//! `chain` and `draw`. It is Zarr version 2, uncompressed, one chunk per segment: the format requires some lines of JSON and raw
//! little-endian numbers, less code than a library for it, and every file is written whole or not at all. The shape on disk grows
//! whenever the run is saved, so that the store can be read during the run, or after the run was killed.
//!
//! The attributes of the root group are the version of this format, `fuld_format_version`, and the [`RunSpec`] as JSON, `fuld_run`.

use super::sink::{Layout, Sink};
use super::spec::RunSpec;
use crate::durable::replace;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// File with the format version and the specification of the run.
pub(super) const ATTRIBUTES: &str = ".zattrs";
/// Version of the store's format.
const FORMAT_VERSION: u64 = 1;

/// A Zarr store that receives draws: positions as variable `x`, velocities, if recorded, as `v`.
#[derive(Clone, Debug)]
pub struct ZarrSink {
    path: PathBuf,
    /// Shape and identity of the draws; None before the run began.
    layout: Option<Layout>,
    /// Draws of each chain on disk.
    filled: u64,
}

/// Returns the specification of the run in a store's attributes, after checking the format version.
pub(super) fn stored_run(attributes: &str) -> Result<String, String> {
    let attributes: Value = serde_json::from_str(attributes).map_err(|error| format!("no JSON: {error}"))?;
    match (attributes["fuld_format_version"].as_u64(), attributes["fuld_run"].as_str()) {
        (Some(FORMAT_VERSION), Some(run)) => Ok(run.to_owned()),
        (Some(version), _) if version != FORMAT_VERSION => {
            Err(format!("format version {version}, expected {FORMAT_VERSION}"))
        }
        _ => Err(format!("no fuld_format_version, expected {FORMAT_VERSION}")),
    }
}

impl ZarrSink {
    /// Creates a sink that writes a store in the directory `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), layout: None, filled: 0 }
    }

    fn layout(&self) -> io::Result<&Layout> {
        self.layout
            .as_ref()
            .ok_or_else(|| io::Error::other("a store receives draws only after its run began"))
    }

    fn positions(&self) -> PathBuf {
        self.path.join("posterior/x")
    }

    /// Returns the files that describe the store at its present size, with their contents.
    fn metadata(&self, layout: &Layout) -> Vec<(String, String)> {
        let Layout { chains, dim, segment, .. } = *layout;
        let draws = self.filled;
        let group = || r#"{"zarr_format":2}"#.to_owned();
        let index =
            |length: u64, chunk: usize| array_json(&length.to_string(), &chunk.to_string(), "<i8", "null");
        let mut files = vec![
            (".zgroup".to_owned(), group()),
            (ATTRIBUTES.to_owned(), attributes(&layout.spec)),
            ("posterior/.zgroup".into(), group()),
            ("posterior/chain/.zarray".into(), index(chains as u64, chains)),
            ("posterior/chain/.zattrs".into(), dimensions_json(r#""chain""#)),
            ("posterior/draw/.zarray".into(), index(draws, segment)),
            ("posterior/draw/.zattrs".into(), dimensions_json(r#""draw""#)),
        ];
        // With one coordinate the variable is a scalar without a third dimension, as ArviZ expects.
        let mut names = r#""chain","draw""#.to_owned();
        let (mut shape, mut chunks) = (format!("{chains},{draws}"), format!("{chains},{segment}"));
        if dim > 1 {
            names += r#","coordinate""#;
            shape += &format!(",{dim}");
            chunks += &format!(",{dim}");
            files.push(("posterior/coordinate/.zarray".into(), index(dim as u64, dim)));
            files.push(("posterior/coordinate/.zattrs".into(), dimensions_json(r#""coordinate""#)));
        }
        for variable in variables(layout) {
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
        let layout = self.layout()?;
        self.put("posterior/chain/0", &indices(0, layout.chains))?;
        if layout.dim > 1 {
            self.put("posterior/coordinate/0", &indices(0, layout.dim))?;
        }
        self.metadata(layout).iter().try_for_each(|(name, json)| self.put(name, json.as_bytes()))
    }
}

impl Sink for ZarrSink {
    fn vacant(&self) -> io::Result<()> {
        if !self.positions().join(".zarray").exists() {
            return Ok(());
        }
        let message = format!("{} holds draws already; choose another directory", self.path.display());
        Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
    }

    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        self.layout = Some(layout.clone());
        self.filled = done;
        let store = self.path.display();
        let problem = match std::fs::read_to_string(self.path.join(ATTRIBUTES)) {
            Ok(there) if there == attributes(&layout.spec) => None,
            Ok(there) => {
                let difference = match stored_run(&there) {
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
            Err(_) if done > 0 => {
                Some(format!("{store} does not hold the {done} draws per chain that the checkpoint requires"))
            }
            Err(_) => None,
        };
        match problem {
            Some(problem) => Err(io::Error::other(problem)),
            None => self.describe(),
        }
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        let layout = self.layout()?;
        let Layout { chains, dim, segment, .. } = *layout;
        let width = layout.width();
        let count = values.len() / (chains * width);
        let number = first / segment as u64;
        let chunk = if dim == 1 { format!("0.{number}") } else { format!("0.{number}.0") };
        for (i, variable) in variables(layout).iter().enumerate() {
            let mut bytes = Vec::with_capacity(8 * chains * segment * dim);
            for chain in values.chunks_exact(count * width) {
                for draw in chain.chunks_exact(width) {
                    draw[i * dim..][..dim].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
                }
                // All chunks have the same size, so the last is padded.
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
        variables(self.layout()?)
            .iter()
            .try_for_each(|name| sync_directory(&self.path.join("posterior").join(name)))
    }
}

/// Returns the attributes of the root group.
fn attributes(spec: &RunSpec) -> String {
    json!({ "fuld_format_version": FORMAT_VERSION, "fuld_run": spec.to_json() }).to_string()
}

fn variables(layout: &Layout) -> &'static [&'static str] {
    if layout.velocities { &["x", "v"] } else { &["x"] }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { std::fs::File::open(path)?.sync_all() } else { Ok(()) }
}

/// Returns `count` integers from `first` on, as little-endian bytes.
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

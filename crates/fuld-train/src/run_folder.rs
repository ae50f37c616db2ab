//! The folder of a run: its settings, its checkpoint while it is under way, and what it left.

use crate::mlp::Mlp;
use crate::settings::Settings;
use crate::train::RunResult;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use fuld::durable::{fingerprint, replace};
use fuld::folder::OwnedFolder;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A folder that belongs to one run, and for as long as this lives to one process.
#[derive(Debug)]
pub struct RunFolder(OwnedFolder);

/// Why a folder cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder itself cannot be used.
    #[error(transparent)]
    Folder(#[from] fuld::folder::FolderError),
    /// It holds the result of a run with other settings.
    #[error("{} holds a run with other settings: there {there}, here {here}; name another folder with --out, or begin anew with --fresh", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
        /// The first line that differs.
        there: String,
        /// What it is here.
        here: String,
    },
    /// A file is not what this program writes.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl RunFolder {
    /// Makes the folder if need be and takes hold of it.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Ok(Self(OwnedFolder::open(path, "train")?))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The file of the checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path().join("checkpoint.bin")
    }

    /// Forgets whatever is there of an earlier run.
    pub fn clear(&self) -> Result<(), FolderError> {
        Ok(self.0.remove([
            "result.toml",
            "checkpoint.bin",
            "metrics.csv",
            "tail-index.csv",
            "calibration.csv",
            "weights.safetensors",
        ])?)
    }

    /// The result, if the run is finished. An error if it is that of another run.
    pub fn result(&self, settings: &Settings) -> Result<Option<RunResult>, FolderError> {
        let Some(result) = read_result(self.path())? else { return Ok(None) };
        if result.settings == *settings {
            return Ok(Some(result));
        }
        let (there, here) = (result.settings.identity(), settings.identity());
        let differing = there.lines().zip(here.lines()).find(|(there, here)| there != here);
        let (there, here) = differing.unwrap_or(("more settings", "fewer, or the other way round"));
        Err(FolderError::OtherRun { path: self.path().into(), there: there.into(), here: here.into() })
    }

    /// Puts the result away, its own file last: where that is, everything is. Then the checkpoint goes.
    pub fn keep(&self, result: &RunResult, weights: &[Weights]) -> Result<(), FolderError> {
        let put = |name: &str, bytes: &[u8]| {
            let path = self.path().join(name);
            replace(&path, bytes).map_err(at(&path))
        };
        put("metrics.csv", metrics(result).as_bytes())?;
        if !result.tails.is_empty() {
            put("tail-index.csv", tails(result).as_bytes())?;
        }
        if !result.found.is_empty() {
            put("calibration.csv", calibrations(result).as_bytes())?;
        }
        put("weights.safetensors", &safetensors(weights))?;
        let text = toml::to_string(result).map_err(|error| FolderError::Unreadable {
            path: self.path().join("result.toml"),
            reason: error.to_string(),
        })?;
        put("result.toml", sealed(&text).as_bytes())?;
        let _ = fs::remove_file(self.checkpoint());
        Ok(())
    }
}

/// The result in a folder, if there is one.
pub fn read_result(folder: &Path) -> Result<Option<RunResult>, FolderError> {
    let path = folder.join("result.toml");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(&path)(error)),
    };
    let unreadable = |reason: String| FolderError::Unreadable { path, reason };
    let Some(result) = unsealed(&text) else {
        return Err(unreadable("it was cut or changed; move it away, or begin anew with --fresh".into()));
    };
    toml::from_str(result).map(Some).map_err(|error| unreadable(error.to_string()))
}

/// Before the checksum at the end of a result. A list that is cut off between two entries is still TOML.
const SEAL: &str = "# checksum ";

fn sealed(text: &str) -> String {
    format!("{text}{SEAL}{:016x}\n", fingerprint(text.as_bytes()))
}

/// What was sealed, if it is whole.
fn unsealed(text: &str) -> Option<&str> {
    let body = &text[..text.rfind(SEAL)?];
    (text == sealed(body)).then_some(body)
}

fn at(path: &Path) -> impl Fn(io::Error) -> FolderError {
    let at = fuld::folder::FolderError::at(path);
    move |source| FolderError::Folder(at(source))
}

fn metrics(result: &RunResult) -> String {
    let mut text = String::from("iteration,train_images,train_loss,train_accuracy,test_loss,test_accuracy\n");
    for m in &result.measurements {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{}",
            m.iteration, m.train_images, m.train_loss, m.train_accuracy, m.test_loss, m.test_accuracy
        );
    }
    text
}

fn tails(result: &RunResult) -> String {
    let mut text = String::from("iteration,layer,alpha,low,high,gaussian,coordinates,silent\n");
    for t in &result.tails {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{}",
            t.iteration, t.layer, t.alpha, t.low, t.high, t.gaussian, t.coordinates, t.silent
        );
    }
    text
}

fn calibrations(result: &RunResult) -> String {
    let mut text = String::from("iteration,layer,noise_alpha,noise_scale,alpha,kappa,limit,bent\n");
    for c in &result.found {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{}",
            c.iteration, c.layer, c.noise_alpha, c.noise_scale, c.alpha, c.kappa, c.limit, c.bent
        );
    }
    text
}

/// The weights of a layer, inputs × outputs.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Inputs and outputs.
    pub shape: [usize; 2],
    /// One row of outputs for each input.
    pub numbers: Vec<f32>,
}

impl Weights {
    /// The layers of one run of a stack.
    pub fn of<B: Backend>(net: &Mlp<B>, run: usize) -> Vec<Self> {
        let layer = |layer: &Tensor<B, 3>| {
            let [_, inputs, outputs] = layer.dims();
            let numbers = layer.clone().narrow(0, run, 1).into_data().iter::<f32>().collect();
            Self { shape: [inputs, outputs], numbers }
        };
        net.layers.iter().map(layer).collect()
    }
}

/// The layers as the format safetensors has them: length of the header, header in JSON, numbers.
fn safetensors(layers: &[Weights]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut end = 0;
    for (layer, weights) in layers.iter().enumerate() {
        let begin = end;
        end += weights.numbers.len() * 4;
        let entry =
            serde_json::json!({ "dtype": "F32", "shape": weights.shape, "data_offsets": [begin, end] });
        header.insert(format!("layers.{layer}.weight"), entry);
    }
    let header = serde_json::Value::Object(header).to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(layers.iter().flat_map(|layer| &layer.numbers).flat_map(|number| number.to_le_bytes()));
    bytes
}

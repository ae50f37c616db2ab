//! Loading of data sets by name or from a folder.

use super::error::DataError;
use super::images::Images;
use super::layout::{CIFAR10, FileLayout, MNIST, Presence};
use super::{cifar10, digits, mnist};
use crate::checksum::hexadecimal;
use crate::spec::DataDescription;
use ring::digest::{Context, SHA256};
use std::path::{Path, PathBuf};

/// Training and test images.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// `digits`, `mnist` or `cifar10`.
    pub name: &'static str,
    /// The training images.
    pub train: Images,
    /// The test images.
    pub test: Images,
    /// The number of classes; labels are below it.
    pub classes: usize,
}

impl DataSet {
    /// Loads a data set: `digits` from the program, `mnist` or `cifar10` from the data directory,
    /// or the set in a folder.
    ///
    /// Names take precedence over folders. To load from a folder called `mnist`, write `./mnist`.
    pub fn load(source: &str, data_directory: &Path) -> Result<Self, DataError> {
        match source {
            "digits" => {
                let (train, test) = digits::read()?;
                Ok(Self { name: "digits", train, test, classes: 10 })
            }
            "mnist" => from_data_directory(&MNIST, data_directory),
            "cifar10" => from_data_directory(&CIFAR10, data_directory),
            path if Path::new(path).is_dir() => from_folder(Path::new(path)),
            other => Err(DataError::Unknown(other.into())),
        }
    }
}

impl DataSet {
    /// Returns the properties that settings depend on. Reads every pixel.
    pub fn description(&self) -> DataDescription {
        let mut sum = Context::new(&SHA256);
        for part in
            [self.train.pixels(), self.train.labels(), self.test.pixels(), self.test.labels()]
        {
            // The lengths are included so that moving bytes from one part to the next changes the
            // sum.
            sum.update(&(part.len() as u64).to_le_bytes());
            sum.update(part);
        }
        DataDescription {
            name: self.name.into(),
            fingerprint: hexadecimal(sum.finish()),
            images: self.train.len(),
            inputs: self.train.features(),
            classes: self.classes,
        }
    }
}

/// Returns whether the files of `mnist` or `cifar10` are in the data directory. Does not read them.
pub fn presence(set: &str, data_directory: &Path) -> Result<Presence, DataError> {
    match set {
        "mnist" => Ok(MNIST.search(data_directory)),
        "cifar10" => Ok(CIFAR10.search(data_directory)),
        other => Err(DataError::Unknown(other.into())),
    }
}

fn from_data_directory(layout: &FileLayout, data_directory: &Path) -> Result<DataSet, DataError> {
    match layout.search(data_directory) {
        Presence::Whole { files, .. } => read(layout.set, &files),
        Presence::Partial { folder, missing } => {
            Err(DataError::Missing { set: layout.set, folder, missing })
        }
        Presence::Absent => {
            Err(DataError::NotFetched { set: layout.set, folder: data_directory.into() })
        }
    }
}

fn from_folder(given: &Path) -> Result<DataSet, DataError> {
    use Presence::{Partial, Whole};
    match (MNIST.search(given), CIFAR10.search(given)) {
        (Whole { folder: mnist, .. }, Whole { folder: cifar10, .. }) => {
            Err(DataError::Both { folder: given.into(), mnist, cifar10 })
        }
        (Whole { files, .. }, _) => read(MNIST.set, &files),
        (_, Whole { files, .. }) => read(CIFAR10.set, &files),
        (Partial { folder, missing }, _) => {
            Err(DataError::Missing { set: MNIST.set, folder, missing })
        }
        (_, Partial { folder, missing }) => {
            Err(DataError::Missing { set: CIFAR10.set, folder, missing })
        }
        _ if !given.is_dir() => Err(DataError::Unknown(given.display().to_string())),
        _ => Err(DataError::Nothing(given.into())),
    }
}

fn read(set: &'static str, files: &[PathBuf]) -> Result<DataSet, DataError> {
    let (train, test) = match files {
        [images, labels, test_images, test_labels] => {
            (mnist::read(images, labels)?, mnist::read(test_images, test_labels)?)
        }
        [train @ .., test] => {
            (cifar10::read(train, cifar10::BATCH)?, cifar10::read(&[test], cifar10::BATCH)?)
        }
        [] => return Err(DataError::Unknown(set.into())),
    };
    Ok(DataSet { name: set, train, test, classes: 10 })
}

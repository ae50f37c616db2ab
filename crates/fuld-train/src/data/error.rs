//! Why a data set cannot be had.

use super::images::ImagesError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a data set cannot be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{}, byte {byte}: {flaw}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where, counted after decompression.
        byte: u64,
        /// What is wrong there.
        flaw: FileFlaw,
    },
    /// Neither a known name nor a folder.
    #[error(
        "no data set {0:?}: give digits, mnist, cifar10 or a folder that holds MNIST's or CIFAR-10's files"
    )]
    Unknown(String),
    /// A known set that is not on this machine.
    #[error("{set} is not in {}: fetch it with `fuld data fetch {set}`, or name the folder that holds its files", folder.display())]
    NotFetched {
        /// Its name.
        set: &'static str,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Some files of a set are there, others are not.
    #[error("{} holds {set} only in part; missing: {}", folder.display(), missing.join(", "))]
    Missing {
        /// The set.
        set: &'static str,
        /// The folder with those that are there.
        folder: PathBuf,
        /// Those that are not.
        missing: Vec<String>,
    },
    /// A folder with more than one set.
    #[error("{} holds both MNIST ({}) and CIFAR-10 ({}): name the folder of one of them", folder.display(), mnist.display(), cifar10.display())]
    Both {
        /// The folder that was given.
        folder: PathBuf,
        /// Where MNIST is.
        mnist: PathBuf,
        /// Where CIFAR-10 is.
        cifar10: PathBuf,
    },
    /// A folder without any set.
    #[error("{} holds neither MNIST (train-images-idx3-ubyte.gz, …) nor CIFAR-10 (data_batch_1.bin, …)", .0.display())]
    Nothing(PathBuf),
    /// No place for data sets is known.
    #[error("no place for data sets: set FULD_DATA to a folder, or give --dir")]
    NoDirectory,
    /// The contents do not make a set of images.
    #[error(transparent)]
    Images(#[from] ImagesError),
}

impl DataError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    pub(super) fn damaged(path: &Path, byte: u64, flaw: FileFlaw) -> Self {
        Self::Damaged { path: path.into(), byte, flaw }
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FileFlaw {
    /// It ends too early.
    #[error("the file ends here, {missing} bytes too early; fetch it again")]
    Truncated {
        /// How many bytes are missing.
        missing: u64,
    },
    /// It goes on where it should end.
    #[error("the file should end here but goes on")]
    TooLong,
    /// The compressed stream is broken.
    #[error("the compressed data are broken ({0}); fetch the file again")]
    Compression(String),
    /// It is another kind of file.
    #[error(
        "magic number {found:#010x} where {expected:#010x} should be: these are no {wanted} in IDX format"
    )]
    Magic {
        /// What it begins with.
        found: u32,
        /// What it should begin with.
        expected: u32,
        /// What was looked for: images or labels.
        wanted: &'static str,
    },
    /// Images and labels were confused.
    #[error("this file holds {found} where {wanted} should be: were two files exchanged?")]
    Exchanged {
        /// What it holds.
        found: &'static str,
        /// What it should hold.
        wanted: &'static str,
    },
    /// It holds nothing.
    #[error("the file promises 0 {0}; at least one is needed")]
    Empty(&'static str),
    /// The images have another size.
    #[error("images of {height} × {width} pixels; MNIST's have 28 × 28")]
    Dimensions {
        /// Rows.
        height: u32,
        /// Columns.
        width: u32,
    },
    /// The number of labels is not that of the images.
    #[error("{labels} labels for the {images} images of {}", of.display())]
    Count {
        /// How many labels.
        labels: u32,
        /// How many images.
        images: u32,
        /// The file of the images.
        of: PathBuf,
    },
    /// A label that is no class.
    #[error("label {0}; the classes are 0 to 9")]
    Label(u8),
}

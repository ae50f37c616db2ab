//! Errors of loading a data set: which file is wrong, at which byte, and what to do about it.

use super::images::ImagesError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of loading a data set.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The contents of a file are wrong.
    #[error("{}, byte {byte}: {flaw}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset of the flaw, counted after decompression.
        byte: u64,
        /// The flaw.
        flaw: FileFlaw,
    },
    /// The name is neither that of a data set nor a folder.
    #[error(
        "unknown data set {0:?}: give digits, mnist, cifar10 or a folder with the files of MNIST or CIFAR-10"
    )]
    Unknown(String),
    /// The data directory does not contain the set.
    #[error("{set} is not in {}: fetch it with `fuld data fetch {set} --data-dir {}`, or name the folder that contains its files", folder.display(), folder.display())]
    NotFetched {
        /// The name of the set.
        set: &'static str,
        /// The data directory.
        folder: PathBuf,
    },
    /// Some files of a set are missing.
    #[error("{} contains only a part of {set}; missing: {}", folder.display(), missing.join(", "))]
    Missing {
        /// The name of the set.
        set: &'static str,
        /// The folder with the other files.
        folder: PathBuf,
        /// The names of the missing files.
        missing: Vec<String>,
    },
    /// The folder contains more than one set.
    #[error("{} contains both MNIST ({}) and CIFAR-10 ({}): name the folder of one of them", folder.display(), mnist.display(), cifar10.display())]
    Both {
        /// The folder that was given.
        folder: PathBuf,
        /// The folder of MNIST.
        mnist: PathBuf,
        /// The folder of CIFAR-10.
        cifar10: PathBuf,
    },
    /// The folder contains no set.
    #[error("{} contains neither MNIST (train-images-idx3-ubyte.gz, …) nor CIFAR-10 (data_batch_1.bin, …)", .0.display())]
    Nothing(PathBuf),
    /// None of the environment variables that determine the data directory is set.
    #[error("the data directory is not known: set FULD_DATA to a folder, or give --data-dir")]
    NoDirectory,
    /// The contents are not a set of images.
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

/// A flaw in the contents of a file.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FileFlaw {
    /// The file is too short.
    #[error("the file ends here; {missing} bytes are missing: fetch it again")]
    Truncated {
        /// The number of missing bytes.
        missing: u64,
    },
    /// The file is too long.
    #[error("the file continues where it should end")]
    TooLong,
    /// The compressed data are invalid.
    #[error("the compressed data are invalid ({0}); fetch the file again")]
    Compression(String),
    /// The file has another format.
    #[error(
        "magic number {found:#010x} instead of {expected:#010x}: the file does not contain {wanted} in IDX format"
    )]
    Magic {
        /// The first four bytes of the file.
        found: u32,
        /// The first four bytes of a file of this kind.
        expected: u32,
        /// The expected contents: images or labels.
        wanted: &'static str,
    },
    /// The file contains images instead of labels, or labels instead of images.
    #[error("the file contains {found} instead of {wanted}: were two files exchanged?")]
    Exchanged {
        /// The contents: images or labels.
        found: &'static str,
        /// The expected contents.
        wanted: &'static str,
    },
    /// The file contains no images or no labels.
    #[error("the file contains 0 {0}; at least 1 is required")]
    Empty(&'static str),
    /// The images have another size.
    #[error("the images have {height} × {width} pixels; those of MNIST have 28 × 28")]
    Dimensions {
        /// Rows.
        height: u32,
        /// Columns.
        width: u32,
    },
    /// The numbers of labels and images differ.
    #[error("the file contains {labels} labels, but {} contains {images} images", images_file.display())]
    Count {
        /// The number of labels.
        labels: u32,
        /// The number of images.
        images: u32,
        /// The file of the images.
        images_file: PathBuf,
    },
    /// A label is not a class.
    #[error("a label must be one of the classes 0 to 9, got {0}")]
    Label(u8),
}

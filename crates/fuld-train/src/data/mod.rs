//! Data sets of labelled images: their contents, their files, and how to fetch them.
//!
//! [`DataSet::load`] loads a set by name or from a folder, [`Minibatches`] defines its order in
//! training, and [`fetch()`] downloads the sets that are not part of the program.

mod byte_reader;
mod cifar10;
mod data_set;
mod digits;
mod directory;
mod download;
mod error;
mod fetch;
mod fetch_error;
mod fetch_event;
mod images;
mod layout;
mod minibatches;
mod mnist;
mod partial_file;
mod records;
mod root_certificates;
mod sources;
mod unpack;

pub use data_set::{DataSet, presence};
pub use directory::data_directory;
pub use download::RetryPolicy;
pub use error::{DataError, FileFlaw};
pub use fetch::{FetchOutcome, fetch};
pub use fetch_error::{DownloadError, FetchError, MirrorFailure};
pub use fetch_event::{FetchEvent, FetchWatch};
pub use images::{ImageShape, Images, ImagesError, Standardization};
pub use layout::Presence;
pub use minibatches::{MinibatchError, Minibatches};
pub use sources::{Archive, ArchiveContents, ArchiveMember, DataSource};

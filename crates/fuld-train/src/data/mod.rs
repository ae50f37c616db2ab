//! Data sets of labelled images: their contents, their files, and how to fetch them.
//!
//! [`DataSet::load`] loads a set by name or from a folder, [`Minibatches`] defines its order in training, and [`fetch()`] downloads
//! the sets that are not part of the program.

mod checksum;
mod cifar10;
mod digits;
mod directory;
mod download;
mod error;
mod fetch;
mod images;
mod layout;
mod minibatches;
mod mnist;
mod partial_file;
mod progress;
mod records;
mod root_certificates;
mod set;
mod sources;
mod stream;
mod unpack;

pub use directory::data_directory;
pub use download::RetryPolicy;
pub use error::{DataError, FileFlaw};
pub use fetch::{DownloadError, FetchError, Fetched, MirrorFailure, fetch};
pub use images::{ImageShape, Images, ImagesError, Standardization};
pub use layout::Presence;
pub use minibatches::{MinibatchError, Minibatches};
pub use progress::{FetchEvent, FetchWatch};
pub use set::{DataSet, presence};
pub use sources::{Archive, Contents, Member, Source};

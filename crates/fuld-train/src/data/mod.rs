//! Data sets of images with labels: what is in them, where they are, and how they get there.
//!
//! [`DataSet::load`] gives a set by its name or from a folder, [`Batches`] the order in which training goes through it, and
//! [`fetch()`] brings the sets that the program does not carry.

mod batches;
mod checksum;
mod cifar10;
mod digits;
mod directory;
mod download;
mod error;
mod fetch;
mod folder;
mod images;
mod mnist;
mod part;
mod progress;
mod records;
mod set;
mod sources;
mod stream;
mod trust;
mod unpack;

pub use batches::{BatchError, Batches};
pub use directory::data_directory;
pub use download::Patience;
pub use error::{DataError, Flaw};
pub use fetch::{FetchError, Fetched, MirrorFailure, Reason, fetch};
pub use folder::Presence;
pub use images::{Images, ImagesError, Shape, Standard};
pub use progress::Progress;
pub use set::{DataSet, presence};
pub use sources::{Archive, Contents, Member, Source};

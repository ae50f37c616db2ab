//! What happens while files are fetched.

use super::fetch::DownloadError;

/// An event of a fetch.
#[derive(Clone, Copy, Debug)]
pub enum FetchEvent<'a> {
    /// A file is being fetched.
    Began {
        /// Its name.
        name: &'a str,
        /// Its length in bytes.
        size: u64,
        /// Bytes that an earlier fetch left.
        present: u64,
    },
    /// So many bytes of the file are present.
    Received(u64),
    /// A mirror failed, and the next one is tried.
    MirrorFailed {
        /// The address that was requested.
        url: &'a str,
        /// The reason.
        error: &'a DownloadError,
    },
    /// The file is complete.
    Finished {
        /// Its name.
        name: &'a str,
        /// Its length in bytes.
        size: u64,
        /// The address that it came from.
        url: &'a str,
    },
    /// No mirror delivered the file.
    Failed,
}

/// A receiver of the events of a fetch.
pub type FetchWatch<'a> = dyn FnMut(FetchEvent<'_>) + 'a;

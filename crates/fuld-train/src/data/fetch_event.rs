//! Events of a fetch, for progress bars and logs.

use super::fetch_error::DownloadError;

/// An event of a fetch.
#[derive(Clone, Copy, Debug)]
pub enum FetchEvent<'a> {
    /// The fetch of a file began.
    Began {
        /// The name of the file.
        name: &'a str,
        /// The length in bytes.
        size: u64,
        /// Bytes that an earlier fetch left.
        present: u64,
    },
    /// More bytes of the file were received.
    Received(
        /// The number of bytes present.
        u64,
    ),
    /// A mirror failed, and the next one is tried.
    MirrorFailed {
        /// The address that was requested.
        url: &'a str,
        /// The reason.
        error: &'a DownloadError,
    },
    /// The file is complete.
    Finished {
        /// The name of the file.
        name: &'a str,
        /// The length in bytes.
        size: u64,
        /// The address that delivered it.
        url: &'a str,
    },
    /// No mirror delivered the file.
    Failed,
}

/// A receiver of the events of a fetch.
pub type FetchWatch<'a> = dyn FnMut(FetchEvent<'_>) + 'a;

//! SHA-256 of files and of what is compressed in them.

use super::stream;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The sum of all that a reader gives, in hexadecimal.
pub(super) fn of(mut bytes: impl Read) -> io::Result<String> {
    let mut sum = Sha256::new();
    io::copy(&mut bytes, &mut sum)?;
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The sum of a file's bytes.
pub(super) fn of_file(path: &Path) -> io::Result<String> {
    of(File::open(path)?)
}

/// The sum of a file's contents, decompressed if it is compressed.
pub(super) fn of_contents(path: &Path) -> io::Result<String> {
    of(stream::open(path)?)
}

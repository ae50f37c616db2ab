//! SHA-256 of files and of their decompressed contents.

use super::byte_reader;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Returns the SHA-256 of everything a reader delivers, in hexadecimal.
fn of(mut bytes: impl Read) -> io::Result<String> {
    let mut sum = Sha256::new();
    io::copy(&mut bytes, &mut sum)?;
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the SHA-256 of a file's bytes.
pub(super) fn of_file(path: &Path) -> io::Result<String> {
    of(File::open(path)?)
}

/// Returns the SHA-256 of a file's contents, after decompression if it is compressed.
pub(super) fn of_contents(path: &Path) -> io::Result<String> {
    of(byte_reader::open(path)?)
}

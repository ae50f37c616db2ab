//! SHA-256 in hexadecimal.

use ring::digest::{Context, Digest, SHA256, digest};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Returns the SHA-256 of bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hexadecimal(digest(&SHA256, bytes))
}

/// Returns the SHA-256 of everything a reader delivers.
pub(crate) fn of(mut bytes: impl Read) -> io::Result<String> {
    let (mut sum, mut buffer) = (Context::new(&SHA256), vec![0; 1 << 16]);
    loop {
        match bytes.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(sum.finish())),
            Ok(read) => sum.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns a checksum in hexadecimal.
pub(crate) fn hexadecimal(digest: Digest) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of a file's bytes.
pub(crate) fn of_file(path: &Path) -> io::Result<String> {
    of(File::open(path)?)
}

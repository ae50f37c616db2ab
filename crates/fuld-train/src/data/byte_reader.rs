//! A reader of plain or gzip-compressed files whose errors name the file and the byte.
//!
//! The first two bytes of a file, not its name, determine whether it is decompressed.

use super::error::{DataError, FileFlaw};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The first bytes of every gzip file (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// Opens a file for reading, and decompresses it if it is compressed.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(CHUNK, File::open(path)?);
    if file.fill_buf()?.starts_with(&GZIP) {
        Ok(Box::new(MultiGzDecoder::new(file)))
    } else {
        Ok(Box::new(file))
    }
}

/// A sequential reader of a file.
pub(super) struct ByteReader {
    path: PathBuf,
    bytes: Box<dyn Read>,
    /// Bytes read so far, counted after decompression.
    position: u64,
}

impl ByteReader {
    /// Opens a file, see [`open`].
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let bytes = open(path).map_err(|source| DataError::io(path, source))?;
        Ok(Self { path: path.into(), bytes, position: 0 })
    }

    /// Fills `out` with the next bytes.
    pub(super) fn fill(&mut self, out: &mut [u8]) -> Result<(), DataError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.read(&mut out[filled..])? {
                Some(0) | None => {
                    return Err(
                        self.flaw(FileFlaw::Truncated { missing: (out.len() - filled) as u64 })
                    );
                }
                Some(read) => filled += read,
            }
        }
        Ok(())
    }

    /// Reads a big-endian integer.
    pub(super) fn big_endian_u32(&mut self) -> Result<u32, DataError> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    /// Reads the next `count` bytes. Memory is allocated as they arrive, because `count` comes from
    /// the file and may be wrong.
    pub(super) fn take(&mut self, count: u64) -> Result<Vec<u8>, DataError> {
        let mut taken = Vec::new();
        let mut left = count;
        while left > 0 {
            let start = taken.len();
            let wanted = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
            taken.resize(start + wanted, 0);
            let read = self.read(&mut taken[start..])?;
            let Some(read @ 1..) = read else {
                return Err(self.flaw(FileFlaw::Truncated { missing: left }));
            };
            taken.truncate(start + read);
            left -= read as u64;
        }
        taken.shrink_to_fit();
        Ok(taken)
    }

    /// Returns an error unless the file ends here.
    pub(super) fn expect_end(&mut self) -> Result<(), DataError> {
        match self.read(&mut [0])? {
            Some(0) => Ok(()),
            // The contents are complete, but the checksum at the end of the compressed data is
            // missing.
            None => Err(self.flaw(FileFlaw::Compression("their end is missing".into()))),
            Some(read) => {
                self.position -= read as u64;
                Err(self.flaw(FileFlaw::TooLong))
            }
        }
    }

    fn flaw(&self, flaw: FileFlaw) -> DataError {
        DataError::damaged(&self.path, self.position, flaw)
    }

    /// Reads some bytes and returns their number, 0 at the end of the file, or `None` if compressed
    /// data end too early.
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, DataError> {
        loop {
            match self.bytes.read(out) {
                Ok(read) => {
                    self.position += read as u64;
                    return Ok(Some(read));
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                Err(e) if matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput) => {
                    return Err(self.flaw(FileFlaw::Compression(e.to_string())));
                }
                Err(e) => return Err(DataError::io(&self.path, e)),
            }
        }
    }
}

//! A file as a stream of bytes that knows where it is: plain or compressed, as its first bytes say.

use super::error::{DataError, FileFlaw};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const CHUNK: usize = 1 << 16;

/// Opens a file for reading, decompressed if it is compressed.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(CHUNK, File::open(path)?);
    if file.fill_buf()?.starts_with(&GZIP) {
        Ok(Box::new(MultiGzDecoder::new(file)))
    } else {
        Ok(Box::new(file))
    }
}

/// A file that is read from the front, with errors that name it and the byte.
pub(super) struct Stream {
    path: PathBuf,
    bytes: Box<dyn Read>,
    at: u64,
}

impl Stream {
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let bytes = open(path).map_err(|source| DataError::io(path, source))?;
        Ok(Self { path: path.into(), bytes, at: 0 })
    }

    /// The next bytes, as many as `out` holds.
    pub(super) fn fill(&mut self, out: &mut [u8]) -> Result<(), DataError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.read(&mut out[filled..])? {
                Some(0) | None => {
                    return Err(self.flaw(FileFlaw::Truncated { missing: (out.len() - filled) as u64 }));
                }
                Some(read) => filled += read,
            }
        }
        Ok(())
    }

    /// A big-endian word.
    pub(super) fn word(&mut self) -> Result<u32, DataError> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    /// The next `count` bytes. Room is made as they arrive: the count may be a lie.
    pub(super) fn take(&mut self, count: u64) -> Result<Vec<u8>, DataError> {
        let mut taken = Vec::new();
        let mut left = count;
        while left > 0 {
            let start = taken.len();
            let wanted = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
            taken.resize(start + wanted, 0);
            let read = self.read(&mut taken[start..])?;
            let Some(read @ 1..) = read else { return Err(self.flaw(FileFlaw::Truncated { missing: left })) };
            taken.truncate(start + read);
            left -= read as u64;
        }
        taken.shrink_to_fit();
        Ok(taken)
    }

    /// Makes sure that nothing follows.
    pub(super) fn end(&mut self) -> Result<(), DataError> {
        match self.read(&mut [0])? {
            Some(0) => Ok(()),
            // All contents are there, but not the end of the compressed stream with its checksum.
            None => Err(self.flaw(FileFlaw::Compression("its end is missing".into()))),
            Some(read) => {
                self.at -= read as u64;
                Err(self.flaw(FileFlaw::TooLong))
            }
        }
    }

    pub(super) fn flaw(&self, flaw: FileFlaw) -> DataError {
        DataError::damaged(&self.path, self.at, flaw)
    }

    /// How many bytes came; none if a compressed stream broke off.
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, DataError> {
        loop {
            match self.bytes.read(out) {
                Ok(read) => {
                    self.at += read as u64;
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

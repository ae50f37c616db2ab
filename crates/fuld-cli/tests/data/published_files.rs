//! Small files in the publishers' formats, and sources that offer them.

use flate2::{Compression, write::GzEncoder};
use fuld_train::data::{Archive, ArchiveContents, DataSource, RetryPolicy};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::time::Duration;

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns bytes that do not compress.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let words = fuld::random::Stream::new(1, 0, fuld::random::Purpose::Start).words();
    words.take(count).map(|word| word as u8).collect()
}

/// Returns images in MNIST's format.
pub(crate) fn idx_images(count: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [0x0803, count, 28, 28].into_iter().flat_map(u32::to_be_bytes).collect();
    bytes.extend((0..count * 784).map(|n| n as u8));
    bytes
}

/// Returns labels in MNIST's format.
pub(crate) fn idx_labels(labels: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [0x0801, labels.len() as u32].into_iter().flat_map(u32::to_be_bytes).collect();
    bytes.extend(labels);
    bytes
}

/// Returns a source of one compressed file, and the file.
pub(crate) fn one_file(mirrors: &[&str]) -> (DataSource, Vec<u8>) {
    let contents = noise(20_000);
    let file = gz(&contents);
    let archive = Archive {
        name: "one.gz".into(),
        size: file.len() as u64,
        sha256: sum(&file),
        contents: ArchiveContents::Compressed {
            sha256: sum(&contents),
            spellings: vec!["one.gz".into(), "one".into()],
        },
    };
    let mirrors = mirrors.iter().map(|&mirror| mirror.into()).collect();
    (
        DataSource { name: "made".into(), folder: "made".into(), mirrors, archives: vec![archive] },
        file,
    )
}

pub(crate) fn hasty() -> RetryPolicy {
    RetryPolicy { stall: Duration::from_millis(300), attempts: 4, pause: Duration::from_millis(1) }
}

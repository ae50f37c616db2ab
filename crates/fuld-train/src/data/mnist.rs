//! MNIST's files: images and labels in IDX format, plain or compressed.

use super::error::{DataError, FileFlaw};
use super::images::{ImageShape, Images, Standardization};
use super::stream::Stream;
use std::path::Path;

const IMAGES: u32 = 0x0803;
const LABELS: u32 = 0x0801;
const SIDE: u32 = 28;
/// Where the counts of both kinds of file are.
const COUNT_AT: u64 = 4;
/// Where the labels begin.
const LABELS_AT: u64 = 8;

/// The four files, in the order of training images and labels, then test images and labels.
pub(super) const STEMS: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// Reads one pair of files.
pub(super) fn read(images: &Path, labels: &Path) -> Result<Images, DataError> {
    let (count, pixels) = read_images(images)?;
    let labels = read_labels(labels, count, images)?;
    let shape = ImageShape { channels: 1, height: SIDE as usize, width: SIDE as usize };
    let standard = Standardization { peak: 255, channels: vec![(0.1307, 0.3081)] };
    Ok(Images::new(shape, pixels, labels, &standard)?)
}

fn read_images(path: &Path) -> Result<(u32, Vec<u8>), DataError> {
    let mut file = Stream::open(path)?;
    let count = read_count(&mut file, path, IMAGES)?;
    let (height, width) = (file.word()?, file.word()?);
    if (height, width) != (SIDE, SIDE) {
        return Err(DataError::damaged(path, 8, FileFlaw::Dimensions { height, width }));
    }
    let pixels = file.take(u64::from(count) * u64::from(SIDE * SIDE))?;
    file.end()?;
    Ok((count, pixels))
}

fn read_labels(path: &Path, images: u32, of: &Path) -> Result<Vec<u8>, DataError> {
    let mut file = Stream::open(path)?;
    let count = read_count(&mut file, path, LABELS)?;
    if count != images {
        let flaw = FileFlaw::Count { labels: count, images, of: of.into() };
        return Err(DataError::damaged(path, COUNT_AT, flaw));
    }
    let labels = file.take(count.into())?;
    file.end()?;
    match labels.iter().position(|&label| label > 9) {
        Some(at) => Err(DataError::damaged(path, LABELS_AT + at as u64, FileFlaw::Label(labels[at]))),
        None => Ok(labels),
    }
}

/// What the file is and how many it holds.
fn read_count(file: &mut Stream, path: &Path, expected: u32) -> Result<u32, DataError> {
    let kind = |magic| match magic {
        IMAGES => Some("images"),
        LABELS => Some("labels"),
        _ => None,
    };
    let wanted = kind(expected).unwrap_or_default();
    let found = file.word()?;
    if found != expected {
        let flaw = match kind(found) {
            Some(found) => FileFlaw::Exchanged { found, wanted },
            None => FileFlaw::Magic { found, expected, wanted },
        };
        return Err(DataError::damaged(path, 0, flaw));
    }
    match file.word()? {
        0 => Err(DataError::damaged(path, COUNT_AT, FileFlaw::Empty(wanted))),
        count => Ok(count),
    }
}

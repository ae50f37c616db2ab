//! The files of MNIST: images and labels in IDX format, plain or compressed.

use super::byte_reader::ByteReader;
use super::error::{DataError, FileFlaw};
use super::images::{ImageShape, Images, Standardization};
use std::path::Path;

/// The magic number of IDX files with three dimensions of bytes.
const IMAGES: u32 = 0x0803;
/// The magic number of IDX files with one dimension of bytes.
const LABELS: u32 = 0x0801;
/// Rows and columns of an image.
const SIDE: u32 = 28;
/// The offset of the number of images or labels.
const COUNT_AT: u64 = 4;
/// The offset of the size of the images.
const SIZE_AT: u64 = 8;
/// The offset of the first label.
const LABELS_AT: u64 = 8;

/// The names of the four files without `.gz`: training images and labels, then test images and
/// labels.
pub(super) const STEMS: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// Reads a file of images and the file of their labels.
pub(super) fn read(images: &Path, labels: &Path) -> Result<Images, DataError> {
    let (count, pixels) = read_images(images)?;
    let labels = read_labels(labels, count, images)?;
    let shape = ImageShape { channels: 1, height: SIDE as usize, width: SIDE as usize };
    let standard = Standardization { peak: 255, channels: vec![(0.1307, 0.3081)] };
    Ok(Images::new(shape, pixels, labels, &standard)?)
}

fn read_images(path: &Path) -> Result<(u32, Vec<u8>), DataError> {
    let mut file = ByteReader::open(path)?;
    let count = read_count(&mut file, path, IMAGES)?;
    let (height, width) = (file.big_endian_u32()?, file.big_endian_u32()?);
    if (height, width) != (SIDE, SIDE) {
        return Err(DataError::damaged(path, SIZE_AT, FileFlaw::Dimensions { height, width }));
    }
    let pixels = file.take(u64::from(count) * u64::from(SIDE * SIDE))?;
    file.expect_end()?;
    Ok((count, pixels))
}

fn read_labels(path: &Path, images: u32, images_file: &Path) -> Result<Vec<u8>, DataError> {
    let mut file = ByteReader::open(path)?;
    let count = read_count(&mut file, path, LABELS)?;
    if count != images {
        let flaw = FileFlaw::Count { labels: count, images, images_file: images_file.into() };
        return Err(DataError::damaged(path, COUNT_AT, flaw));
    }
    let labels = file.take(count.into())?;
    file.expect_end()?;
    match labels.iter().position(|&label| label > 9) {
        Some(at) => {
            Err(DataError::damaged(path, LABELS_AT + at as u64, FileFlaw::Label(labels[at])))
        }
        None => Ok(labels),
    }
}

/// Reads the header up to the number of images or labels, and returns that number.
fn read_count(file: &mut ByteReader, path: &Path, expected: u32) -> Result<u32, DataError> {
    let kind = |magic| match magic {
        IMAGES => Some("images"),
        LABELS => Some("labels"),
        _ => None,
    };
    let wanted = kind(expected).unwrap_or_default();
    let found = file.big_endian_u32()?;
    if found != expected {
        let flaw = match kind(found) {
            Some(found) => FileFlaw::Exchanged { found, wanted },
            None => FileFlaw::Magic { found, expected, wanted },
        };
        return Err(DataError::damaged(path, 0, flaw));
    }
    match file.big_endian_u32()? {
        0 => Err(DataError::damaged(path, COUNT_AT, FileFlaw::Empty(wanted))),
        count => Ok(count),
    }
}

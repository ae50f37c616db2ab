//! The files of CIFAR-10 in its binary version: five batches of training images and one of test
//! images.

use super::error::DataError;
use super::images::{ImageShape, Images, Standardization};
use super::records;
use std::path::Path;

/// The six files; the last contains the test images.
pub(super) const NAMES: [&str; 6] = [
    "data_batch_1.bin",
    "data_batch_2.bin",
    "data_batch_3.bin",
    "data_batch_4.bin",
    "data_batch_5.bin",
    "test_batch.bin",
];
/// Images per file. The files do not state it, so a file with another number of images is damaged.
pub(super) const BATCH: usize = 10_000;

const SHAPE: ImageShape = ImageShape { channels: 3, height: 32, width: 32 };

/// Reads files of `batch` images each as one set.
pub(super) fn read<P: AsRef<Path>>(files: &[P], batch: usize) -> Result<Images, DataError> {
    let count = files.len() * batch;
    let (mut pixels, mut labels) =
        (Vec::with_capacity(count * SHAPE.features()), Vec::with_capacity(count));
    for file in files {
        records::append(file.as_ref(), batch, SHAPE.features(), &mut pixels, &mut labels)?;
    }
    let standard = Standardization {
        peak: 255,
        channels: vec![(0.491, 0.247), (0.482, 0.243), (0.447, 0.262)],
    };
    Ok(Images::new(SHAPE, pixels, labels, &standard)?)
}

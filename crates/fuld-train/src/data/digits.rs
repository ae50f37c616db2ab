//! The data set `digits`, which is part of the program.
//!
//! E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
//! Repository, 1998, doi:10.24432/C50P49, CC BY 4.0: 1,797 images of 8 × 8 pixels from 0 to 16.
//! `tools/data/digits.py` wrote the file.
//!
//! Every fifth image of each class, in the order of the file, is a test image. There are 1,442
//! training and 355 test images.

use super::images::{ImageShape, Images, ImagesError, Standardization};

/// The label and the 64 pixels of each image.
static BYTES: &[u8] = include_bytes!("digits/digits.bin");

const SHAPE: ImageShape = ImageShape { channels: 1, height: 8, width: 8 };
/// The brightest pixel.
const PEAK: u8 = 16;
/// The mean of the training pixels, in units of [`PEAK`].
const MEAN: f32 = 0.30513582;
/// The standard deviation of the training pixels, in units of [`PEAK`].
const DEVIATION: f32 = 0.37615756;

/// Returns training and test images.
pub(super) fn read() -> Result<(Images, Images), ImagesError> {
    let (train, test) = split();
    Ok((images(&train)?, images(&test)?))
}

/// Returns the records of the training and of the test images.
fn split() -> (Vec<&'static [u8]>, Vec<&'static [u8]>) {
    let mut class_sizes = [0u32; 256];
    BYTES.chunks_exact(1 + SHAPE.features()).partition(|record| {
        let class_size = &mut class_sizes[usize::from(record[0])];
        *class_size += 1;
        *class_size % 5 != 0
    })
}

fn images(records: &[&[u8]]) -> Result<Images, ImagesError> {
    let labels = records.iter().map(|record| record[0]).collect();
    let pixels = records.iter().flat_map(|record| &record[1..]).copied().collect();
    Images::new(
        SHAPE,
        pixels,
        labels,
        &Standardization { peak: PEAK, channels: vec![(MEAN, DEVIATION)] },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum;

    #[test]
    fn the_file_has_the_expected_checksum() {
        assert_eq!(
            checksum::of_bytes(BYTES),
            "d8121ca7764eccfaef1df6bc4589c6527c58fcbab0cb1b079e79f97f8cb8219a"
        );
        assert_eq!(BYTES.len(), 1797 * 65);
    }

    #[test]
    fn each_class_is_split_four_to_one() {
        let (train, test) = read().unwrap();
        let counts = |images: &Images| {
            let mut counts = [0; 10];
            images.labels().iter().for_each(|&label| counts[usize::from(label)] += 1);
            counts
        };
        assert_eq!(counts(&train), [143, 146, 142, 147, 145, 146, 145, 144, 140, 144]);
        assert_eq!(counts(&test), [35, 36, 35, 36, 36, 36, 36, 35, 34, 36]);
        assert!(train.pixels().iter().chain(test.pixels()).all(|&pixel| pixel <= PEAK));
    }

    #[test]
    fn constants_match_the_training_pixels() {
        let (train, _) = read().unwrap();
        let pixels = || train.pixels().iter().map(|&pixel| f64::from(pixel) / f64::from(PEAK));
        let count = train.pixels().len() as f64;
        let mean = pixels().sum::<f64>() / count;
        let deviation = (pixels().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert_eq!((mean as f32, deviation as f32), (MEAN, DEVIATION));
    }
}

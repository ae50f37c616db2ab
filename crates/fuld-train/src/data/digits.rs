//! The handwritten digits that the program carries.
//!
//! E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998,
//! doi:10.24432/C50P49, CC BY 4.0: 1,797 images of 8 × 8 pixels from 0 to 16. `tools/data/digits.py` wrote the file.
//!
//! Of the images of each class, in the order of the file, every fifth is for testing: 1,442 to train on, 355 to test on.

use super::images::{ImageShape, Images, ImagesError, Standardization};

/// For each image its label, then its pixels.
static BYTES: &[u8] = include_bytes!("digits/digits.bin");

const SHAPE: ImageShape = ImageShape { channels: 1, height: 8, width: 8 };
const PEAK: u8 = 16;
/// Over the training pixels, in units of the peak.
const MEAN: f32 = 0.30513582;
const DEVIATION: f32 = 0.37615756;

/// Training and test images.
pub(super) fn read() -> Result<(Images, Images), ImagesError> {
    let (train, test) = split();
    Ok((images(&train)?, images(&test)?))
}

/// The records of both parts.
fn split() -> (Vec<&'static [u8]>, Vec<&'static [u8]>) {
    let mut seen = [0u32; 256];
    BYTES.chunks_exact(1 + SHAPE.features()).partition(|record| {
        let seen = &mut seen[usize::from(record[0])];
        *seen += 1;
        *seen % 5 != 0
    })
}

fn images(records: &[&[u8]]) -> Result<Images, ImagesError> {
    let labels = records.iter().map(|record| record[0]).collect();
    let pixels = records.iter().flat_map(|record| &record[1..]).copied().collect();
    Images::new(SHAPE, pixels, labels, &Standardization { peak: PEAK, channels: vec![(MEAN, DEVIATION)] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_file_is_the_one_that_was_written() {
        let sum: String = Sha256::digest(BYTES).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(sum, "d8121ca7764eccfaef1df6bc4589c6527c58fcbab0cb1b079e79f97f8cb8219a");
        assert_eq!(BYTES.len(), 1797 * 65);
    }

    #[test]
    fn classes_are_spread_evenly() {
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
    fn mean_and_deviation_are_those_of_the_training_pixels() {
        let (train, _) = read().unwrap();
        let pixels = || train.pixels().iter().map(|&pixel| f64::from(pixel) / f64::from(PEAK));
        let count = train.pixels().len() as f64;
        let mean = pixels().sum::<f64>() / count;
        let deviation = (pixels().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert_eq!((mean as f32, deviation as f32), (MEAN, DEVIATION));
    }
}

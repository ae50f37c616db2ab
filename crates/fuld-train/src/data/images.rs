//! Images as bytes, and as standardised inputs of a network.

use std::ops::Range;
use thiserror::Error;

/// The shape of an image: one plane of `height` × `width` pixels per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageShape {
    /// 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// Rows of a plane.
    pub height: usize,
    /// Columns of a plane.
    pub width: usize,
}

impl ImageShape {
    /// Returns the pixels of one plane.
    pub fn plane(self) -> usize {
        self.height * self.width
    }

    /// Returns the number of pixels of one image, over all channels.
    pub fn features(self) -> usize {
        self.channels * self.plane()
    }
}

/// The conversion of bytes to numbers, (byte/peak − mean)/deviation, with a mean and a deviation
/// for each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Standardization {
    /// The byte that represents 1.
    pub peak: u8,
    /// Mean and deviation of each channel, in units of the peak.
    pub channels: Vec<(f32, f32)>,
}

impl Standardization {
    /// Returns factor and shift of each channel, which give a number as factor · byte + shift.
    fn factors_and_shifts(&self) -> Vec<(f32, f32)> {
        let factor_and_shift = |&(mean, deviation): &(f32, f32)| {
            let (peak, mean, deviation) =
                (f64::from(self.peak), f64::from(mean), f64::from(deviation));
            ((1.0 / (peak * deviation)) as f32, (-mean / deviation) as f32)
        };
        self.channels.iter().map(factor_and_shift).collect()
    }
}

/// An error of [`Images::new`].
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ImagesError {
    /// The numbers of pixels and labels do not fit, or there are no images.
    #[error(
        "expected {features} pixels for each label and at least one label, got {pixels} pixels and {labels} labels"
    )]
    Count {
        /// Bytes of all images.
        pixels: usize,
        /// The number of labels.
        labels: usize,
        /// Bytes of one image.
        features: usize,
    },
    /// The standardisation has another number of channels than the images.
    #[error("the standardisation must have {channels} channels like the images, got {given}")]
    Channels {
        /// Channels of the standardisation.
        given: usize,
        /// Channels of the images.
        channels: usize,
    },
    /// The standardisation divides by zero.
    #[error("peak and deviation must be positive and finite, got {peak} and {deviation}")]
    Scale {
        /// The peak.
        peak: u8,
        /// The first deviation that is not positive, or any if the peak is 0.
        deviation: f32,
    },
}

/// Images of one shape with their labels, kept as bytes and standardised when they are read.
#[derive(Clone, Debug)]
pub struct Images {
    shape: ImageShape,
    pixels: Vec<u8>,
    labels: Vec<u8>,
    /// For each channel, the factor and shift that convert a byte.
    factors_and_shifts: Vec<(f32, f32)>,
}

impl Images {
    /// Creates images from their bytes: image by image, each plane by plane, each plane row by row.
    pub fn new(
        shape: ImageShape,
        pixels: Vec<u8>,
        labels: Vec<u8>,
        standard: &Standardization,
    ) -> Result<Self, ImagesError> {
        let features = shape.features();
        if labels.is_empty()
            || features == 0
            || labels.len().checked_mul(features) != Some(pixels.len())
        {
            return Err(ImagesError::Count {
                pixels: pixels.len(),
                labels: labels.len(),
                features,
            });
        }
        if standard.channels.len() != shape.channels {
            return Err(ImagesError::Channels {
                given: standard.channels.len(),
                channels: shape.channels,
            });
        }
        for &(_, deviation) in &standard.channels {
            if standard.peak == 0 || !(deviation > 0.0 && deviation.is_finite()) {
                return Err(ImagesError::Scale { peak: standard.peak, deviation });
            }
        }
        Ok(Self { shape, pixels, labels, factors_and_shifts: standard.factors_and_shifts() })
    }

    /// Returns the number of images, which is never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns the shape of each image.
    pub fn shape(&self) -> ImageShape {
        self.shape
    }

    /// Returns the number of pixels of one image, over all channels.
    pub fn features(&self) -> usize {
        self.shape.features()
    }

    /// Returns all labels.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// Returns all bytes.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Returns factor and shift of each channel, which convert a byte to factor · byte + shift.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn factors_and_shifts(&self) -> &[(f32, f32)] {
        &self.factors_and_shifts
    }

    /// Writes the standardised images of these indices, one after the other.
    ///
    /// # Panics
    ///
    /// If an index is not below [`Self::len`], or the length of `out` is not `indices.len()` ×
    /// [`Self::features`].
    pub fn gather(&self, indices: &[u32], out: &mut [f32]) {
        let features = self.features();
        assert_eq!(out.len(), indices.len() * features, "numbers for {} images", indices.len());
        for (out, &index) in out.chunks_exact_mut(features).zip(indices) {
            let start = index as usize * features;
            self.standardise(&self.pixels[start..start + features], out);
        }
    }

    /// Writes the standardised images of a range, one after the other.
    ///
    /// # Panics
    ///
    /// If the range ends beyond [`Self::len`], or the length of `out` is not that of the range ×
    /// [`Self::features`].
    pub fn gather_range(&self, range: Range<usize>, out: &mut [f32]) {
        let features = self.features();
        assert_eq!(out.len(), range.len() * features, "numbers for {} images", range.len());
        let pixels = &self.pixels[range.start * features..range.end * features];
        for (out, image) in out.chunks_exact_mut(features).zip(pixels.chunks_exact(features)) {
            self.standardise(image, out);
        }
    }

    fn standardise(&self, image: &[u8], out: &mut [f32]) {
        let plane = self.shape.plane();
        let planes = out.chunks_exact_mut(plane).zip(image.chunks_exact(plane));
        for ((out, plane), &factor_and_shift) in planes.zip(&self.factors_and_shifts) {
            scale_and_shift(plane, factor_and_shift, out);
        }
    }
}

levy_stable::dispatched! {
    /// Computes factor · byte + shift for each byte.
    fn scale_and_shift(bytes: &[u8], factor_and_shift: (f32, f32), out: &mut [f32]) {
        let (factor, shift) = factor_and_shift;
        for (out, &byte) in out.iter_mut().zip(bytes) {
            *out = f32::from(byte) * factor + shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours() -> Images {
        let shape = ImageShape { channels: 2, height: 1, width: 2 };
        let standard = Standardization { peak: 10, channels: vec![(0.5, 0.5), (0.0, 2.0)] };
        Images::new(shape, (0..12).collect(), vec![7, 8, 9], &standard).unwrap()
    }

    #[test]
    fn each_channel_is_standardised_by_its_own_constants() {
        let mut out = [0.0; 8];
        colours().gather(&[2, 0], &mut out);
        let expected = [
            (0.8 - 0.5) / 0.5,
            (0.9 - 0.5) / 0.5,
            1.0 / 2.0,
            1.1 / 2.0,
            -1.0,
            (0.1 - 0.5) / 0.5,
            0.2 / 2.0,
            0.3 / 2.0f32,
        ];
        assert!(
            out.iter().zip(expected).all(|(out, expected)| (out - expected).abs() < 1e-6),
            "{out:?}"
        );
    }

    #[test]
    fn gathering_a_range_equals_gathering_its_indices() {
        let (mut one, mut other) = ([0.0; 8], [0.0; 8]);
        colours().gather_range(1..3, &mut one);
        colours().gather(&[1, 2], &mut other);
        assert_eq!(one, other);
    }

    #[test]
    fn inconsistent_sizes_and_constants_are_refused() {
        let shape = ImageShape { channels: 1, height: 1, width: 2 };
        let new = |pixels, labels: &[u8], peak, channels: &[(f32, f32)]| {
            let standard = Standardization { peak, channels: channels.to_vec() };
            Images::new(shape, vec![0; pixels], labels.to_vec(), &standard).map(|_| ())
        };
        let grey = [(0.0, 1.0)];
        assert_eq!(new(4, &[0, 1], 255, &grey), Ok(()));
        assert_eq!(
            new(3, &[0, 1], 255, &grey),
            Err(ImagesError::Count { pixels: 3, labels: 2, features: 2 })
        );
        assert_eq!(
            new(0, &[], 255, &grey),
            Err(ImagesError::Count { pixels: 0, labels: 0, features: 2 })
        );
        assert_eq!(new(2, &[0], 255, &[]), Err(ImagesError::Channels { given: 0, channels: 1 }));
        assert_eq!(
            new(2, &[0], 255, &[(0.0, 0.0)]),
            Err(ImagesError::Scale { peak: 255, deviation: 0.0 })
        );
        assert_eq!(new(2, &[0], 0, &grey), Err(ImagesError::Scale { peak: 0, deviation: 1.0 }));
    }
}

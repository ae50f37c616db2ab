//! Images as tensors of a backend. On the CPU they are gathered from bytes; on a GPU they stay on
//! the device and are selected there.

use crate::data::{DataSet, Images};
use crate::mlp::ImageBatch;
use burn::backend::Flex;
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor, TensorData};
use std::any::TypeId;
use std::ops::Range;

/// The training or test images of a data set, for a backend.
pub(super) struct DeviceImages<'a, B: Backend> {
    images: &'a Images,
    classes: usize,
    device: B::Device,
    /// All images and targets, if the backend's memory is not the host's.
    resident: Option<(Tensor<B, 2>, Tensor<B, 2>)>,
}

impl<'a, B: Backend> DeviceImages<'a, B> {
    pub(super) fn new(images: &'a Images, set: &DataSet, device: &B::Device) -> Self {
        let mut feed =
            Self { images, classes: set.classes, device: device.clone(), resident: None };
        if !feed.on_host() {
            let ImageBatch { images, targets } = feed.range(0..feed.images.len());
            feed.resident = Some((images.squeeze_dim(0), targets.squeeze_dim(0)));
        }
        feed
    }

    /// Returns whether the backend uses the host's memory, so that several threads may share its
    /// work.
    pub(super) fn on_host(&self) -> bool {
        TypeId::of::<B>() == TypeId::of::<Flex>()
    }

    /// Returns the images of these indices, which are equally many for each run and ordered by run.
    pub(super) fn pick(&self, indices: &[u32], runs: usize) -> ImageBatch<B> {
        let count = indices.len() / runs;
        let Some((images, targets)) = &self.resident else {
            let mut pixels = vec![0f32; indices.len() * self.images.features()];
            self.images.gather(indices, &mut pixels);
            return self.batch(pixels, indices.iter().map(|&i| i as usize), runs, count);
        };
        let indices: Vec<i32> = indices.iter().map(|&i| i as i32).collect();
        let indices =
            Tensor::<B, 1, Int>::from_data(TensorData::from(indices.as_slice()), &self.device);
        ImageBatch {
            images: images.clone().select(0, indices.clone()).reshape([
                runs,
                count,
                self.images.features(),
            ]),
            targets: targets.clone().select(0, indices).reshape([runs, count, self.classes]),
        }
    }

    /// Returns the images of a range as a batch for one run, which broadcasts over all runs.
    pub(super) fn range(&self, range: Range<usize>) -> ImageBatch<B> {
        if let Some((images, targets)) = &self.resident {
            let part =
                |tensor: &Tensor<B, 2>| tensor.clone().slice([range.clone()]).unsqueeze_dim(0);
            return ImageBatch { images: part(images), targets: part(targets) };
        }
        let mut pixels = vec![0f32; range.len() * self.images.features()];
        self.images.gather_range(range.clone(), &mut pixels);
        let count = range.len();
        self.batch(pixels, range, 1, count)
    }

    /// Returns the number of images.
    pub(super) fn len(&self) -> usize {
        self.images.len()
    }

    fn batch(
        &self,
        pixels: Vec<f32>,
        indices: impl Iterator<Item = usize>,
        runs: usize,
        count: usize,
    ) -> ImageBatch<B> {
        let mut targets = vec![0f32; runs * count * self.classes];
        for (row, index) in targets.chunks_exact_mut(self.classes).zip(indices) {
            row[usize::from(self.images.labels()[index])] = 1.0;
        }
        let tensor = |numbers, size| {
            Tensor::from_data(TensorData::new(numbers, [runs, count, size]), &self.device)
        };
        ImageBatch {
            images: tensor(pixels, self.images.features()),
            targets: tensor(targets, self.classes),
        }
    }
}

//! Images on the device, as bytes, and the minibatches that are gathered from them there.

use super::device::{Argument, Array, Device, Kernel, Lane, Plan};
use crate::data::{Images, MinibatchError, Minibatches};
use crate::engine::CudaError;
use rayon::prelude::*;

/// A set of images in the memory of a device.
#[derive(Debug)]
pub(super) struct DeviceImages<'a> {
    images: &'a Images,
    pixels: Array<u8>,
    labels: Array<u8>,
    /// Factor and shift of each channel.
    standard: Array<f32>,
}

impl<'a> DeviceImages<'a> {
    pub(super) fn plan(plan: &mut Plan, images: &'a Images) -> Self {
        Self {
            images,
            pixels: plan.array(images.pixels().len()),
            labels: plan.array(images.len()),
            standard: plan.array(2 * images.factors_and_shifts().len()),
        }
    }

    pub(super) fn upload<D: Device>(&self, device: &mut D) -> Result<(), CudaError> {
        let pairs = self.images.factors_and_shifts().iter();
        let standard: Vec<f32> = pairs.flat_map(|&(factor, shift)| [factor, shift]).collect();
        device.upload(self.pixels, self.images.pixels())?;
        device.upload(self.labels, self.images.labels())?;
        device.upload(self.standard, &standard)
    }

    /// Returns the first arguments of every kernel that gathers images.
    fn arguments(&self) -> Vec<Argument> {
        vec![
            self.pixels.into(),
            self.labels.into(),
            self.standard.into(),
            (self.images.features() as u32).into(),
            (self.images.shape().plane() as u32).into(),
        ]
    }

    /// Gathers the images of `count` indices.
    pub(super) fn gather<D: Device>(
        &self,
        device: &mut D,
        indices: Array<u32>,
        count: usize,
        (pixels, labels): (Array<f32>, Array<u8>),
    ) -> Result<(), CudaError> {
        let mut arguments = self.arguments();
        arguments.extend::<[Argument; 3]>([indices.into(), pixels.into(), labels.into()]);
        device.launch(Lane::Main, Kernel::GatherIndices, [count as u32, 1], &arguments)
    }

    /// Gathers `count` consecutive images.
    pub(super) fn gather_range<D: Device>(
        &self,
        device: &mut D,
        first: usize,
        count: usize,
        (pixels, labels): (Array<f32>, Array<u8>),
    ) -> Result<(), CudaError> {
        let mut arguments = self.arguments();
        arguments.extend::<[Argument; 3]>([(first as u32).into(), pixels.into(), labels.into()]);
        device.launch(Lane::Main, Kernel::GatherRange, [count as u32, 1], &arguments)
    }
}

/// The minibatches of a stack. The device has the permutations of the current epoch and of the
/// next, so that the next minibatch can always be gathered in advance.
#[derive(Debug)]
pub(super) struct Orders {
    batches: Vec<Minibatches>,
    batch: usize,
    /// Images of the set.
    count: usize,
    /// The permutations of an even and of an odd epoch: [parity][run][image].
    orders: Array<u32>,
    /// The epochs on the device, by parity.
    resident: [Option<u64>; 2],
}

impl Orders {
    pub(super) fn plan(
        plan: &mut Plan,
        count: usize,
        batch: usize,
        seeds: &[u64],
    ) -> Result<Self, MinibatchError> {
        let batches: Result<Vec<_>, _> =
            seeds.par_iter().map(|&seed| Minibatches::new(count, batch, seed)).collect();
        let orders = plan.array(2 * seeds.len() * count);
        Ok(Self { batches: batches?, batch, count, orders, resident: [None; 2] })
    }

    fn per_epoch(&self) -> u64 {
        (self.count / self.batch) as u64
    }

    /// Makes the permutation of an iteration available to work that is put into the main lane
    /// later. Earlier work may use the epoch before.
    pub(super) fn provide<D: Device>(
        &mut self,
        device: &mut D,
        iteration: u64,
    ) -> Result<(), CudaError> {
        let epoch = iteration / self.per_epoch();
        let parity = (epoch % 2) as usize;
        if self.resident[parity] == Some(epoch) {
            return Ok(());
        }
        let (count, batches) = (self.count, &mut self.batches);
        let runs = batches.len();
        let part = self.orders.part(parity * runs * count, runs * count);
        device.stage(part, &mut |orders| {
            let parts = orders.par_chunks_exact_mut(count).zip(batches.par_iter_mut());
            parts.for_each(|(order, batches)| order.copy_from_slice(batches.order(epoch)));
        })?;
        self.resident[parity] = Some(epoch);
        Ok(())
    }

    /// Gathers the minibatches `ahead` iterations after the device's current one.
    pub(super) fn gather<D: Device>(
        &self,
        device: &mut D,
        lane: Lane,
        images: &DeviceImages<'_>,
        (iteration, ahead): (Array<u64>, u32),
        (pixels, labels): (Array<f32>, Array<u8>),
    ) -> Result<(), CudaError> {
        let runs = self.batches.len();
        let mut arguments = images.arguments();
        arguments.extend::<[Argument; 8]>([
            self.orders.into(),
            iteration.into(),
            pixels.into(),
            labels.into(),
            ahead.into(),
            (runs as u32).into(),
            (self.batch as u32).into(),
            (self.count as u32).into(),
        ]);
        let grid = [(runs * self.batch) as u32, 1];
        device.launch(lane, Kernel::GatherMinibatch, grid, &arguments)
    }
}

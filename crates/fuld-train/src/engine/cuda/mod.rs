//! The engine for NVIDIA GPUs: products by cuBLAS, everything else in kernels that are compiled
//! when the program starts.
//!
//! An iteration is captured once, as a graph of kernels and products, and launched again and again.
//! The device counts the iterations, gathers the minibatches itself and keeps the losses, so that
//! the program waits only where it reads results.
//!
//! | module | contents |
//! |---|---|
//! | [`device`] | what the engine requires of a device |
//! | [`images`] | images on the device, and minibatches |
//! | [`passes`] | forward and backward pass |
//! | [`noise`], [`updates`], [`rule_numbers`] | what happens to gradients |
//! | [`stack`] | the engine, for any device |
//! | `gpu`, `products`, `compile`, `libraries` | the device on a GPU |
//! | `kernels.cu` | the kernels |
//!
//! Tests run the kernels and the engine on the CPU, by an emulation of blocks and threads, and the
//! calls of the driver with libraries that do their work there.

#[cfg(feature = "cuda")]
mod compile;
mod device;
#[cfg(test)]
mod emulated;
#[cfg(all(test, feature = "cuda"))]
mod fake_driver_tests;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(all(test, feature = "cuda"))]
mod gpu_tests;
mod images;
#[cfg(test)]
mod kernel_tests;
#[cfg(feature = "cuda")]
mod libraries;
mod noise;
mod passes;
#[cfg(feature = "cuda")]
mod products;
mod rule_numbers;
mod stack;
#[cfg(test)]
mod stack_tests;
#[cfg(test)]
mod update_tests;
mod updates;

/// Creates the engine on the first GPU. `tf32` allows products with ten-bit mantissas.
#[cfg(feature = "cuda")]
pub(super) fn open<'a>(
    data: &'a crate::data::DataSet,
    specs: &[crate::spec::TrainSpec],
    tf32: bool,
) -> Result<impl super::Engine + 'a, crate::engine::EngineError> {
    stack::Stack::new(data, specs, |plan| gpu::Gpu::open(plan, tf32))
}

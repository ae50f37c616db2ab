//! Errors of the GPU engine. Each says what to do.

use thiserror::Error;

/// An error of training on a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver's library is missing.
    #[error(
        "the NVIDIA driver was not found (libcuda.so.1): install the NVIDIA driver, or use --device cpu"
    )]
    NoDriver,
    /// There is no GPU, or the driver cannot use it.
    #[error("no NVIDIA GPU can be used ({0}): check nvidia-smi, or use --device cpu")]
    NoDevice(String),
    /// A runtime library is missing.
    #[error(
        "{name} was not found: install the runtime libraries of CUDA 12 or 13, for example \
         `pip install nvidia-cublas-cu12 nvidia-cuda-nvrtc-cu12`, and add the folders that contain \
         libcublas and libnvrtc to LD_LIBRARY_PATH"
    )]
    NoLibrary {
        /// The library.
        name: &'static str,
    },
    /// The stack does not fit into the device's memory.
    #[error(
        "training requires {:.1} GB of GPU memory, {:.1} GB are free: choose a smaller width, depth or batch, in a sweep a smaller --stack, or stop other programs on the GPU",
        *needed as f64 * 1e-9,
        *free as f64 * 1e-9
    )]
    Memory {
        /// Bytes that the stack needs.
        needed: usize,
        /// Bytes that are free.
        free: usize,
    },
    /// The runs of the stack differ in what they must share.
    #[error("all runs of a stack must have the same optimizer, and a guard or none")]
    Mixed,
    /// The kernels cannot be compiled for the device.
    #[error(
        "the GPU kernels cannot be compiled for {architecture}: install a version of libnvrtc that supports this GPU, or use --device cpu; the compiler says: {log}"
    )]
    Compile {
        /// The architecture, as in `sm_90`.
        architecture: String,
        /// What the compiler printed.
        log: String,
    },
    /// An operation of the driver failed.
    #[error(
        "the GPU failed at {at} ({source_text}): restart the program; training continues from its last checkpoint"
    )]
    Driver {
        /// The operation.
        at: &'static str,
        /// The driver's error.
        source_text: String,
    },
    /// A matrix product failed.
    #[error(
        "a matrix product failed on the GPU ({0}): check that libcublas and the driver are of the same CUDA version"
    )]
    Product(String),
}

//! Matrix products by cuBLAS.

use super::device::{Matrix, Product};
use crate::engine::CudaError;
use cudarc::cublas::sys::{
    cublasComputeType_t, cublasGemmAlgo_t, cublasHandle_t, cublasOperation_t,
    cublasSetWorkspace_v2, cudaDataType,
};
use cudarc::cublas::{result, result::CublasError};
use cudarc::driver::CudaStream;
use std::ffi::{c_int, c_longlong};

/// Bytes of the workspace of a lane, as NVIDIA recommends for its Hopper GPUs.
pub(super) const WORKSPACE: usize = 32 << 20;

/// The products of one lane. With a workspace of its own each lane gives the same bits whatever the
/// others do.
pub(super) struct Products {
    handle: cublasHandle_t,
    compute: cublasComputeType_t,
}

impl Drop for Products {
    fn drop(&mut self) {
        // SAFETY: the handle was created by `Products::new`. After a failure of the device it
        // cannot be destroyed, and need not be.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

fn failed(error: CublasError) -> CudaError {
    CudaError::Product(error.to_string())
}

impl Products {
    /// Creates the products of a lane. `workspace` is the address of [`WORKSPACE`] bytes.
    pub(super) fn new(lane: &CudaStream, workspace: u64, tf32: bool) -> Result<Self, CudaError> {
        let compute = if tf32 {
            cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32
        } else {
            cublasComputeType_t::CUBLAS_COMPUTE_32F
        };
        let products = Self { handle: result::create_handle().map_err(failed)?, compute };
        // SAFETY: the stream and the workspace outlive the handle. Setting the stream resets the
        // workspace, so it comes first.
        unsafe {
            result::set_stream(products.handle, lane.cu_stream().cast()).map_err(failed)?;
            cublasSetWorkspace_v2(products.handle, workspace as *mut _, WORKSPACE)
                .result()
                .map_err(failed)?;
        }
        Ok(products)
    }

    /// Puts a product into the lane. cuBLAS stores matrices by columns: what it takes for a matrix
    /// is our transpose, so it computes right · left.
    pub(super) fn multiply(&self, base: u64, product: &Product) -> Result<(), CudaError> {
        let operation = |matrix: &Matrix| {
            if matrix.transposed {
                cublasOperation_t::CUBLAS_OP_T
            } else {
                cublasOperation_t::CUBLAS_OP_N
            }
        };
        let address = |matrix: &Matrix| (base + matrix.numbers.offset() as u64) as *const _;
        let stride = |matrix: &Matrix| matrix.stride as c_longlong;
        let Product { runs, rows, inner, columns, left, right, out } = product;
        let (one, zero) = (1f32, 0f32);
        // SAFETY: the arrays are within the memory and have the sizes of the matrices; the factors
        // are read before the call returns.
        unsafe {
            result::gemm_strided_batched_ex(
                self.handle,
                operation(right),
                operation(left),
                *columns as c_int,
                *rows as c_int,
                *inner as c_int,
                (&raw const one).cast(),
                address(right),
                cudaDataType::CUDA_R_32F,
                right.columns as c_int,
                stride(right),
                address(left),
                cudaDataType::CUDA_R_32F,
                left.columns as c_int,
                stride(left),
                (&raw const zero).cast(),
                (base + out.offset() as u64) as *mut _,
                cudaDataType::CUDA_R_32F,
                *columns as c_int,
                (rows * columns) as c_longlong,
                *runs as c_int,
                self.compute,
                cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        }
        .map_err(failed)
    }
}

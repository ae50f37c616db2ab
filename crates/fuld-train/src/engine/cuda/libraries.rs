//! The libraries of the driver and of CUDA, which are opened when the program needs them.

use crate::engine::CudaError;
use cudarc::{cublas, driver, nvrtc};

/// Returns an error that says what to install if a library is missing. Without this test the first
/// call of a missing library would panic.
pub(super) fn find() -> Result<(), CudaError> {
    // SAFETY: the libraries are those of the system's driver and CUDA runtime; opening them runs
    // their initialisers only.
    let (driver, products, compiler) = unsafe {
        (
            driver::sys::is_culib_present(),
            cublas::sys::is_culib_present(),
            nvrtc::sys::is_culib_present(),
        )
    };
    if !driver {
        return Err(CudaError::NoDriver);
    }
    if !products {
        return Err(CudaError::NoLibrary { name: "libcublas" });
    }
    if !compiler {
        return Err(CudaError::NoLibrary { name: "libnvrtc" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a machine without a driver the first error names it.
    #[test]
    fn a_missing_driver_is_an_error_and_not_a_panic() {
        // SAFETY: as above.
        let present = unsafe { driver::sys::is_culib_present() };
        match find() {
            Err(CudaError::NoDriver) => assert!(!present),
            Ok(()) | Err(CudaError::NoLibrary { .. }) => assert!(present),
            Err(other) => panic!("{other}"),
        }
    }
}

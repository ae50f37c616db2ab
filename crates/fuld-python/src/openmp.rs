//! The threads of the OpenMP runtime that torch has loaded.
//!
//! After each of its operations torch's threads keep their cores busy for a while, waiting for the
//! next one. Threads of ours would share the cores with them, so we use theirs.

#[cfg(target_os = "linux")]
use std::ffi::{c_uint, c_void};

/// Calls `work` in this number of the runtime's threads at once, including this one; returns false
/// if there is no such runtime.
#[cfg(target_os = "linux")]
pub(crate) fn run<F: Fn() + Sync>(threads: usize, work: &F) -> bool {
    /// `GOMP_parallel(fn, data, num_threads, flags)`, which every OpenMP runtime of Linux has.
    type Parallel = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, c_uint, c_uint);

    extern "C" fn call<F: Fn() + Sync>(data: *mut c_void) {
        // SAFETY: it is the `work` below, which outlives the call that all threads have returned
        // from.
        unsafe { (*data.cast::<F>())() }
    }

    let Ok(threads) = c_uint::try_from(threads) else { return false };
    // SAFETY: the name ends in 0.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"GOMP_parallel".as_ptr()) };
    if symbol.is_null() {
        return false;
    }
    // SAFETY: what has this name has this type. `call` does not write to `work`, which may be used
    // by many threads.
    unsafe {
        let parallel: Parallel = std::mem::transmute(symbol);
        parallel(call::<F>, std::ptr::from_ref(work).cast_mut().cast(), threads, 0);
    }
    true
}

/// On other systems the runtimes have other names, and are not used.
#[cfg(not(target_os = "linux"))]
pub(crate) fn run<F: Fn() + Sync>(_threads: usize, _work: &F) -> bool {
    false
}

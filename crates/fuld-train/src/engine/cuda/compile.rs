//! Compilation of the kernels for the device's architecture, once per process.

use crate::engine::CudaError;
use cudarc::nvrtc::{result, sys};
use std::ffi::CString;
use std::sync::Mutex;

/// The source of all kernels.
pub(super) const SOURCE: &str = include_str!("kernels.cu");

/// The machine code of the architectures that were compiled for.
static COMPILED: Mutex<Vec<(String, Vec<u8>)>> = Mutex::new(Vec::new());

/// Returns the machine code of the kernels for an architecture such as `sm_90`.
pub(super) fn machine_code(architecture: &str) -> Result<Vec<u8>, CudaError> {
    let mut compiled = COMPILED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, code)) = compiled.iter().find(|(known, _)| known == architecture) {
        return Ok(code.clone());
    }
    let code = compile(architecture).map_err(|log| CudaError::Compile {
        architecture: architecture.into(),
        log: log.trim().into(),
    })?;
    compiled.push((architecture.into(), code.clone()));
    Ok(code)
}

/// Compiles the kernels, or returns what the compiler printed.
fn compile(architecture: &str) -> Result<Vec<u8>, String> {
    let source = CString::new(SOURCE).map_err(|error| error.to_string())?;
    let program = result::create_program(&source, Some(c"kernels.cu")).map_err(shown)?;
    // Products and sums are rounded separately, as on the CPU.
    let options = [format!("--gpu-architecture={architecture}"), "--fmad=false".into()];
    // SAFETY: the program was just created, and is destroyed once, below.
    unsafe {
        let code = match result::compile_program(program, &options) {
            Ok(()) => code_of(program).map_err(shown),
            Err(error) => Err(format!("{error}\n{}", log_of(program))),
        };
        result::destroy_program(program).map_err(shown)?;
        code
    }
}

fn shown(error: result::NvrtcError) -> String {
    error.to_string()
}

/// Returns the machine code of a compiled program.
///
/// # Safety
///
/// The program must exist and have been compiled.
unsafe fn code_of(program: sys::nvrtcProgram) -> Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program exists, and the buffer has the size that the library asks for.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &raw mut size).result()?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result()?;
        Ok(code)
    }
}

/// Returns what the compiler printed about a program.
///
/// # Safety
///
/// The program must exist and have been compiled.
unsafe fn log_of(program: sys::nvrtcProgram) -> String {
    // SAFETY: guaranteed by the caller.
    let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
    let bytes: Vec<u8> = log.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NVRTC needs no GPU, so that the kernels are compiled wherever it is installed.
    #[test]
    fn kernels_compile_where_the_compiler_is_installed() {
        // SAFETY: opening the library runs its initialisers only.
        if !unsafe { sys::is_culib_present() } {
            return;
        }
        let code = machine_code("sm_90").unwrap();
        assert!(code.starts_with(b"\x7fELF"));
        let Err(CudaError::Compile { architecture, log }) = machine_code("sm_1") else {
            panic!("there is no such architecture");
        };
        assert!(architecture == "sm_1" && !log.is_empty(), "{log}");
    }
}

//! The code that calls driver, cuBLAS and NVRTC, with libraries that do their work on the CPU.

use super::device::Kernel;
use super::emulated::compile;
use std::process::Command;

/// The tests that require a GPU, but for long ones, pass with the libraries of the test. A program
/// reads LD_LIBRARY_PATH when it starts, so that they run in a program of their own.
#[test]
#[cfg(target_os = "linux")]
fn the_gpu_tests_pass_with_emulated_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let call = |name: &str| {
        format!(
            "if (!strcmp(name, \"{name}\")) return deferred({name}, grid, threads, arguments);\n"
        )
    };
    let calls: String = Kernel::NAMES.iter().map(|name| call(name)).collect();
    let source = format!(
        "{}\nstatic Work work_of(const char* name, Index grid, unsigned threads, void** arguments) {{\n\
         {calls}REFUSE(\"there is no such kernel\")\n}}\n",
        include_str!("fake_driver.cpp")
    );
    let library = compile(folder.path(), &source);
    for name in ["libcuda.so", "libcublas.so", "libnvrtc.so"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).unwrap();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["gpu_tests::cuda_takes", "gpu_tests::cuda_stacks", "gpu_tests::cuda_memory"])
        .args(["--include-ignored", "--test-threads=1"])
        .env("LD_LIBRARY_PATH", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("3 passed"), "{text}\n{errors}");
}

//! The program `fuld`.

use fuld_cli::Cli;
use std::process::ExitCode;

/// mimalloc, because training with glibc's allocator spends up to a third of its time on page
/// faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Restores the default handling of a closed pipe, so that `fuld … | head` ends quietly.
fn restore_default_sigpipe() {
    // SAFETY: sets a signal back to its default before any other thread exists.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

fn main() -> ExitCode {
    restore_default_sigpipe();
    Cli::read().run()
}

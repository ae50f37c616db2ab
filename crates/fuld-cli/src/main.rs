//! The program `fuld`.

use fuld_cli::Cli;
use std::process::ExitCode;

/// With glibc's allocator, training spends up to a third of its time on page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Restores the default handling of a closed pipe, so that `fuld … | head` ends quietly.
fn end_with_the_reader() {
    // SAFETY: sets a signal back to its default before any other thread exists.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

fn main() -> ExitCode {
    end_with_the_reader();
    Cli::read().run()
}

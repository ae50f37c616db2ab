//! The program `fuld`.

use fuld_lab::cli::Cli;
use std::process::ExitCode;

/// `fuld … | head` ends quietly when head has enough, as other programs do; Rust would panic.
fn end_with_the_reader() {
    // SAFETY: sets a signal back to its default before there is any other thread.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    end_with_the_reader();
    Cli::read().run()
}

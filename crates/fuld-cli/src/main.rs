//! The program `fuld`.

use fuld_cli::Cli;
use std::io::Write;
use std::process::ExitCode;

/// `fuld … | head` ends quietly when head has enough, as other programs do; Rust would panic.
fn end_with_the_reader() {
    // SAFETY: sets a signal back to its default before there is any other thread.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

/// Results that standard output cannot take, as on a full disk, are an error like any other; Rust would panic. If standard error
/// takes nothing either, the exit code alone says so.
fn say_when_unheard() {
    let otherwise = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if let Some(reason) = text.strip_prefix("failed printing to stdout: ") {
            let _ = writeln!(std::io::stderr(), "error: standard output cannot be written: {reason}");
            std::process::exit(1);
        }
        if text.starts_with("failed printing to stderr: ") {
            std::process::exit(1);
        }
        otherwise(panic);
    }));
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    end_with_the_reader();
    say_when_unheard();
    Cli::read().run()
}

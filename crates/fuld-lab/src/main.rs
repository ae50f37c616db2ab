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

/// Results that standard output cannot take, as on a full disk, are an error like any other; Rust would panic.
fn say_when_unheard() {
    let otherwise = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        match panic.payload_as_str().and_then(|text| text.strip_prefix("failed printing to stdout: ")) {
            Some(reason) => {
                eprintln!("error: standard output cannot be written: {reason}");
                std::process::exit(1);
            }
            None => otherwise(panic),
        }
    }));
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    end_with_the_reader();
    say_when_unheard();
    Cli::read().run()
}

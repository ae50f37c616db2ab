//! Ctrl-C, and a scheduler's polite request to end: once to save and stop, twice to stop at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first signal is remembered, and the second one ends the program.
pub fn listen() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    })?;
    Ok(())
}

/// Whether there was a signal.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

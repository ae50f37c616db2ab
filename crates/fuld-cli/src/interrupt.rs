//! Ctrl-C and SIGTERM: the first signal asks the command to save and stop, the second ends the
//! program immediately.

use fuld::StopFlag;

/// Returns a flag that the first signal raises; the second signal ends the program.
pub(crate) fn listen() -> anyhow::Result<StopFlag> {
    let stop = StopFlag::default();
    let raised = stop.clone();
    ctrlc::set_handler(move || {
        if raised.request() {
            std::process::exit(130);
        }
    })?;
    Ok(stop)
}

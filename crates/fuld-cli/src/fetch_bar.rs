//! The progress of a fetch on standard error: a bar on a terminal, otherwise one line per file.

use crate::stderr::write_line;
use fuld_train::data::FetchEvent;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Time between two redraws of a bar while no data arrive.
const TICK: Duration = Duration::from_millis(250);

/// The progress of the file that is being fetched.
pub(super) struct FetchBar {
    bar: ProgressBar,
    quiet: bool,
}

impl FetchBar {
    pub(super) fn new(quiet: bool) -> Self {
        Self { bar: ProgressBar::hidden(), quiet }
    }

    /// Shows an event.
    pub(super) fn show(&mut self, event: FetchEvent<'_>) {
        match event {
            FetchEvent::Began { name, size, present } => self.begin(name, size, present),
            FetchEvent::Received(bytes) => self.bar.set_position(bytes),
            FetchEvent::MirrorFailed { url, error } => {
                self.line(&format!("{url}: {error}; trying the next server"));
            }
            FetchEvent::Finished { name, size, url } => {
                self.bar.finish_and_clear();
                self.line(&format!("{name}: {size} bytes from {url}"));
            }
            FetchEvent::Failed => self.bar.finish_and_clear(),
        }
    }

    fn begin(&mut self, name: &str, size: u64, present: u64) {
        if self.quiet || !std::io::stderr().is_terminal() {
            return;
        }
        let form = "{msg:28} {bar:24} {binary_bytes:>11} of {binary_total_bytes:11} {binary_bytes_per_sec:>12}, {eta} left";
        let style =
            ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar = ProgressBar::new(size)
            .with_style(style)
            .with_message(name.to_owned())
            .with_position(present);
        // Bytes of an earlier fetch must not count towards the speed.
        self.bar.reset_eta();
        self.bar.enable_steady_tick(TICK);
    }

    fn line(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| write_line(text));
        }
    }
}

//! What is told while files arrive.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// Who is watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Someone at a terminal: bars.
    Bars,
    /// A log: a line for each file.
    Lines,
    /// No one.
    Silent,
}

impl Progress {
    /// Bars if standard error is a terminal, otherwise lines.
    pub fn of_stderr() -> Self {
        if std::io::stderr().is_terminal() { Self::Bars } else { Self::Lines }
    }

    /// A bar for a file of which `have` of `size` bytes are there.
    pub(super) fn bar(self, name: &str, size: u64, have: u64) -> ProgressBar {
        if self != Self::Bars {
            return ProgressBar::hidden();
        }
        let form = "{msg:28} {bar:24} {binary_bytes:>11} of {binary_total_bytes:11} {binary_bytes_per_sec:>12}, {eta} left";
        let style = ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(size).with_style(style).with_message(name.to_owned()).with_position(have);
        // What was there before did not arrive now: without this it counts towards the speed.
        bar.reset_eta();
        bar
    }

    /// Says something, in either form above the bars.
    pub(super) fn say(self, bar: &ProgressBar, line: &str) {
        match self {
            Self::Bars => bar.suspend(|| eprintln!("{line}")),
            Self::Lines => eprintln!("{line}"),
            Self::Silent => {}
        }
    }
}

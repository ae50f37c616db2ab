//! The options --quiet, --verbose and --json, and the output that depends on them.

use crate::stderr::write_line;
use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::Serialize;
use std::io::Write;

/// Options of every command. Results go to standard output; notes, progress and errors to standard
/// error.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Print only results and errors, no progress and no notes
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 900)]
    pub(super) quiet: bool,
    /// Also print the settings in use and the time spent
    #[arg(short, long, global = true, display_order = 901)]
    pub(super) verbose: bool,
    /// Print the result as one JSON value on standard output
    #[arg(long, global = true, display_order = 902)]
    pub(super) json: bool,
}

impl Output {
    /// Prints a note on standard error, except with --quiet.
    pub(super) fn note(&self, text: impl FnOnce() -> String) {
        if !self.quiet {
            write_line(text());
        }
    }

    /// Prints a detail on standard error, only with --verbose.
    pub(super) fn detail(&self, text: impl FnOnce() -> String) {
        if self.verbose && !self.quiet {
            write_line(text());
        }
    }

    /// Returns the target of progress bars: nothing with --quiet, else standard error. Bars hide
    /// themselves if that is not a terminal.
    pub(super) fn progress(&self) -> ProgressDrawTarget {
        if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
    }

    /// Returns the bar, hidden with --quiet.
    pub(super) fn bar(&self, bar: ProgressBar) -> ProgressBar {
        bar.set_draw_target(self.progress());
        bar
    }

    /// Prints the result: `value` as JSON with --json, else by calling `text`.
    pub(super) fn result<T: Serialize>(
        &self,
        value: impl FnOnce() -> T,
        text: impl FnOnce(),
    ) -> anyhow::Result<()> {
        if self.json {
            let text = serde_json::to_string_pretty(&value())?;
            writeln!(std::io::stdout(), "{text}").context("writing to standard output")?;
        } else {
            text();
        }
        Ok(())
    }
}

//! How much is told, and in what form.

use crate::stderr::say;
use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::Serialize;
use std::io::Write;

/// Options of every command. Results go to standard output; notes, progress and errors to standard error.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Results and errors only: no progress, no notes
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 900)]
    pub(super) quiet: bool,
    /// Also say what was settled, and where the time went
    #[arg(short, long, global = true, display_order = 901)]
    pub(super) verbose: bool,
    /// Results as one JSON value on standard output, and nothing else there
    #[arg(long, global = true, display_order = 902)]
    pub(super) json: bool,
}

impl Output {
    /// Something good to know, on standard error.
    pub(super) fn note(&self, text: impl FnOnce() -> String) {
        if !self.quiet {
            say(text());
        }
    }

    /// Something for the curious, on standard error.
    pub(super) fn detail(&self, text: impl FnOnce() -> String) {
        if self.verbose && !self.quiet {
            say(text());
        }
    }

    /// Where progress is drawn: nowhere if it is not wanted. On what is no terminal it hides itself.
    pub(super) fn progress(&self) -> ProgressDrawTarget {
        if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
    }

    /// The bar, if it is wanted.
    pub(super) fn bar(&self, bar: ProgressBar) -> ProgressBar {
        bar.set_draw_target(self.progress());
        bar
    }

    /// The result: one JSON value, or what `text` prints.
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

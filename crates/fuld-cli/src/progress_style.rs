//! The style of progress bars that count iterations.

use indicatif::{ProgressState, ProgressStyle};
use std::fmt::Write;

/// Returns a style in which `{speed}` is the number of iterations per second.
pub(super) fn progress_style(template: &str) -> ProgressStyle {
    let speed = |state: &ProgressState, text: &mut dyn Write| {
        let _ = write!(text, "{:.0} it/s", state.per_sec());
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("speed", speed)
}

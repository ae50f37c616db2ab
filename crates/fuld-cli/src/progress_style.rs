//! The style of progress bars that count iterations.

use indicatif::{HumanDuration, ProgressState, ProgressStyle};
use std::fmt::Write;

/// Returns a style in which `{speed}` is the number of iterations per second, and `{left}` the time
/// left.
pub(super) fn progress_style(template: &str) -> ProgressStyle {
    let speed = |state: &ProgressState, text: &mut dyn Write| {
        let _ = write!(text, "{:.0} it/s", state.per_sec());
    };
    let left = |state: &ProgressState, text: &mut dyn Write| {
        // Without a speed the time would be 0.
        let _ = match state.per_sec() {
            speed if speed > 0.0 => write!(text, "{:#} left", HumanDuration(state.eta())),
            _ => write!(text, "time left not yet known"),
        };
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("speed", speed).with_key("left", left)
}

//! How progress bars of iterations look.

use indicatif::{ProgressState, ProgressStyle};
use std::fmt::Write;

/// A style in which `{speed}` is iterations a second, in whole numbers.
pub(super) fn style(template: &str) -> ProgressStyle {
    let speed = |state: &ProgressState, text: &mut dyn Write| {
        let _ = write!(text, "{:.0} it/s", state.per_sec());
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("speed", speed)
}

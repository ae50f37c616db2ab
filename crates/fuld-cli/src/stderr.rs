//! Standard error, which may take nothing, as on a full disk.

use std::fmt::Display;
use std::io::Write;

/// A line on standard error. That no one hears it is no reason to stop: results do not depend on it, and there is nowhere to complain.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

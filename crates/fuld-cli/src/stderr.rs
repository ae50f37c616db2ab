//! Lines on standard error.

use std::fmt::Display;
use std::io::Write;

/// Writes a line to standard error. Ignores errors, as on a full disk: results do not depend on
/// notes, and the error cannot be reported elsewhere.
pub(crate) fn write_line(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

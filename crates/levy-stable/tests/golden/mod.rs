//! Reading of golden values, and the definition of errors.

use std::path::Path;

/// Returns the rows of a golden file as strings, without comments and header.
pub(crate) fn rows(file: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Parses a number of a golden file. Numbers outside the range of doubles become 0 or infinite, as
/// in our results.
pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// |ours − exact| relative to `size`, where results below the normal range count by the digits that they still have and
/// equal infinities are equal.
pub(crate) fn error(ours: f64, exact: f64, size: f64) -> f64 {
    if ours == exact {
        0.0
    } else if ours.is_nan() || ours.is_infinite() || exact.is_infinite() {
        f64::INFINITY
    } else if size < 1e-290 {
        (ours - exact).abs() / (size + 1e-290)
    } else {
        (ours - exact).abs() / size
    }
}

/// The largest error and its position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Worst {
    pub(crate) error: f64,
    pub(crate) at: (f64, f64),
}

impl Worst {
    pub(crate) fn see(&mut self, error: f64, at: (f64, f64)) {
        if error.is_nan() || error > self.error {
            *self = Self { error, at };
        }
    }
}

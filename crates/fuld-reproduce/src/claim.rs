//! What the paper says, what was measured, and whether the two agree.

use serde::Serialize;
use std::fmt;

/// How a claim fared. It is computed from what was measured, never written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As the paper says.
    Holds,
    /// In some of what was tried, or by another amount.
    InPart,
    /// Not so.
    Fails,
}

impl Verdict {
    /// Holds if so, fails otherwise.
    pub fn of(so: bool) -> Self {
        if so { Self::Holds } else { Self::Fails }
    }

    /// Holds if all of it is so, in part if some of it is. Of nothing nothing holds.
    pub fn of_all(parts: impl IntoIterator<Item = bool>) -> Self {
        let parts: Vec<bool> = parts.into_iter().collect();
        match parts.iter().filter(|&&so| so).count() {
            0 => Self::Fails,
            count if count == parts.len() => Self::Holds,
            _ => Self::InPart,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::InPart => "holds in part",
            Self::Fails => "does not hold",
        })
    }
}

/// A claim, of the paper or of ours, and how it fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// What is claimed, in our words.
    pub says: String,
    /// What was measured, with its numbers.
    pub measured: String,
    /// Whether the two agree.
    pub verdict: Verdict,
    /// Whether it is ours, and not the paper's.
    pub ours: bool,
}

impl Claim {
    /// A claim of the paper and how it fared.
    pub fn new(says: impl Into<String>, measured: impl Into<String>, verdict: Verdict) -> Self {
        Self { says: says.into(), measured: measured.into(), verdict, ours: false }
    }

    /// A claim of ours.
    pub fn ours(says: impl Into<String>, measured: impl Into<String>, verdict: Verdict) -> Self {
        Self { ours: true, ..Self::new(says, measured, verdict) }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn parts_make_a_verdict() {
        assert_eq!(Verdict::of_all([true, true]), Verdict::Holds);
        assert_eq!(Verdict::of_all([true, false]), Verdict::InPart);
        assert_eq!(Verdict::of_all([false, false]), Verdict::Fails);
        assert_eq!(Verdict::of_all([]), Verdict::Fails);
    }
}

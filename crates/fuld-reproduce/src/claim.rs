//! Claims: what the paper or this project says, what was measured, and a verdict computed from the
//! measurement.
//!
//! A verdict comes from checks. Each check carries the sentence that explains its failure, so a
//! claim that does not hold always says why.

use serde::Serialize;
use std::fmt;

/// How a claim fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every check passed.
    Holds,
    /// Some checks passed.
    InPart,
    /// No check passed.
    Fails,
}

impl Verdict {
    /// Judges by the number of checks that pass: `Holds` if all do, `Fails` if none does or without
    /// checks.
    pub(crate) fn of_count(passed: usize, checks: usize) -> Self {
        match passed {
            0 => Self::Fails,
            all if all == checks => Self::Holds,
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

/// Who makes a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The paper or its supplement.
    Paper,
    /// This project.
    Ours,
}

/// A verdict and, unless the claim holds, the sentence why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    verdict: Verdict,
    why: String,
}

impl Judgement {
    /// Judges by checks: pairs of a condition and the clause that explains why the claim fails
    /// without it. The clauses of all failed checks make one sentence.
    pub(crate) fn of<W: Into<String>>(checks: impl IntoIterator<Item = (bool, W)>) -> Self {
        let (mut count, mut failed) = (0, Vec::new());
        for (holds, why) in checks {
            count += 1;
            if !holds {
                failed.push(why.into());
            }
        }
        let why = if count == 0 { "nothing was measured".into() } else { failed.join("; ") };
        Self::new(Verdict::of_count(count - failed.len(), count), why)
    }

    /// Judges by a verdict computed elsewhere and one sentence that explains it if it is not
    /// `Holds`.
    pub(crate) fn new(verdict: Verdict, why: impl Into<String>) -> Self {
        Self { verdict, why: why.into() }
    }
}

/// A claim and how it fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// A name that is unique within the exhibit.
    pub id: String,
    /// Who says it.
    pub source: Source,
    /// The statement.
    pub says: String,
    /// What was measured, with its numbers.
    pub measured: String,
    /// Whether the measurement supports the claim.
    pub verdict: Verdict,
    /// Why the claim does not hold, or holds in part only: one sentence. `None` if it holds.
    pub why: Option<String>,
}

impl Claim {
    /// Creates a claim of the paper.
    pub(crate) fn paper(
        id: impl Into<String>,
        says: impl Into<String>,
        measured: impl Into<String>,
        Judgement { verdict, why }: Judgement,
    ) -> Self {
        let why = (verdict != Verdict::Holds).then(|| sentence(&why));
        let (id, says, measured) = (id.into(), says.into(), measured.into());
        Self { id, source: Source::Paper, says, measured, verdict, why }
    }

    /// Creates a claim of this project.
    pub(crate) fn ours(
        id: impl Into<String>,
        says: impl Into<String>,
        measured: impl Into<String>,
        judgement: Judgement,
    ) -> Self {
        Self { source: Source::Ours, ..Self::paper(id, says, measured, judgement) }
    }
}

/// Lists a text for each row, separated by commas.
pub(crate) fn list<R>(rows: impl IntoIterator<Item = R>, text: impl Fn(R) -> String) -> String {
    rows.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Begins with a capital, where the letter is ASCII, and ends with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut text = text.trim().to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if !text.is_empty() && !text.ends_with('.') {
        text.push('.');
    }
    text
}

/// Numbers of claims by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Claims that hold.
    pub hold: usize,
    /// Claims that hold in part.
    pub hold_in_part: usize,
    /// Claims that do not hold.
    pub do_not_hold: usize,
}

impl Tally {
    /// Counts the claims of one source.
    pub fn of<'a>(source: Source, claims: impl IntoIterator<Item = &'a Claim>) -> Self {
        let mut tally = Self::default();
        for claim in claims.into_iter().filter(|claim| claim.source == source) {
            match claim.verdict {
                Verdict::Holds => tally.hold += 1,
                Verdict::InPart => tally.hold_in_part += 1,
                Verdict::Fails => tally.do_not_hold += 1,
            }
        }
        tally
    }

    /// Returns the number of all claims.
    pub fn all(&self) -> usize {
        self.hold + self.hold_in_part + self.do_not_hold
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hold, hold_in_part, do_not_hold } = self;
        write!(f, "{hold} of {} hold, {hold_in_part} in part, {do_not_hold} do not", self.all())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_make_a_verdict() {
        let verdict =
            |checks: &[bool]| Judgement::of(checks.iter().map(|&holds| (holds, "why"))).verdict;
        assert_eq!(verdict(&[true, true]), Verdict::Holds);
        assert_eq!(verdict(&[true, false]), Verdict::InPart);
        assert_eq!(verdict(&[false, false]), Verdict::Fails);
        assert_eq!(verdict(&[]), Verdict::Fails);
    }

    #[test]
    fn a_claim_that_does_not_hold_says_why() {
        let claim = |a: bool, b: bool| {
            Claim::paper(
                "id",
                "says",
                "measured",
                Judgement::of([(a, "the first is wrong"), (b, "so is b")]),
            )
        };
        assert_eq!((claim(true, true).verdict, claim(true, true).why), (Verdict::Holds, None));
        assert_eq!(claim(false, true).why.unwrap(), "The first is wrong.");
        assert_eq!(claim(false, false).why.unwrap(), "The first is wrong; so is b.");
        let nothing: [(bool, &str); 0] = [];
        let nothing = Claim::ours("id", "says", "measured", Judgement::of(nothing));
        assert_eq!(
            (nothing.verdict, nothing.why.unwrap().as_str()),
            (Verdict::Fails, "Nothing was measured.")
        );
        let written = Judgement::new(Verdict::InPart, "α is small");
        assert_eq!(Claim::paper("id", "", "", written).why.unwrap(), "α is small.");
    }

    #[test]
    fn sources_are_tallied_apart() {
        let judged = |verdict| Judgement::new(verdict, "x");
        let claims = [
            Claim::paper("a", "", "", judged(Verdict::Holds)),
            Claim::paper("b", "", "", judged(Verdict::Fails)),
            Claim::ours("c", "", "", judged(Verdict::InPart)),
        ];
        assert_eq!(
            Tally::of(Source::Paper, &claims).to_string(),
            "1 of 2 hold, 0 in part, 1 do not"
        );
        assert_eq!(
            Tally::of(Source::Ours, &claims).to_string(),
            "0 of 1 hold, 1 in part, 0 do not"
        );
    }
}

//! Claims: what the paper or this project says, what was measured, and a verdict computed from the measurement.
//!
//! A verdict comes from checks. Each check carries the sentence that explains its failure, so a claim that does not hold
//! always says why.

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
    /// All verdicts, the best first.
    pub const ALL: [Self; 3] = [Self::Holds, Self::InPart, Self::Fails];

    /// Returns `Holds` for true and `Fails` for false.
    pub fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    /// Combines checks: `Holds` if all pass, `InPart` if some do, `Fails` if none does or there is none.
    pub fn of_all(checks: impl IntoIterator<Item = bool>) -> Self {
        let checks: Vec<bool> = checks.into_iter().collect();
        match checks.iter().filter(|&&holds| holds).count() {
            0 => Self::Fails,
            count if count == checks.len() => Self::Holds,
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
pub struct Judgement {
    verdict: Verdict,
    why: String,
}

impl Judgement {
    /// Judges by checks: pairs of a condition and the clause that explains why the claim fails without it. The clauses of all
    /// failed checks make one sentence.
    pub fn of<W: Into<String>>(checks: impl IntoIterator<Item = (bool, W)>) -> Self {
        let (holds, why): (Vec<bool>, Vec<String>) =
            checks.into_iter().map(|(holds, why)| (holds, why.into())).unzip();
        let failed: Vec<&str> =
            holds.iter().zip(&why).filter(|(holds, _)| !**holds).map(|(_, why)| why.as_str()).collect();
        let why = if why.is_empty() { "nothing was measured".to_owned() } else { failed.join("; ") };
        Self { verdict: Verdict::of_all(holds), why }
    }

    /// Judges by a verdict computed elsewhere and one sentence that explains it if it is not `Holds`.
    pub fn new(verdict: Verdict, why: impl Into<String>) -> Self {
        Self { verdict, why: why.into() }
    }

    /// Replaces the sentence by one that explains more than the failed checks do.
    pub fn because(self, why: impl Into<String>) -> Self {
        Self { why: why.into(), ..self }
    }
}

/// A claim and how it fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// A name that is unique within the exhibit.
    pub id: String,
    /// Who says it.
    pub source: Source,
    /// What is claimed.
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
    pub fn paper(
        id: impl Into<String>,
        says: impl Into<String>,
        measured: impl Into<String>,
        judgement: Judgement,
    ) -> Self {
        let Judgement { verdict, why } = judgement;
        let why = (verdict != Verdict::Holds).then(|| sentence(&why));
        Self {
            id: id.into(),
            source: Source::Paper,
            says: says.into(),
            measured: measured.into(),
            verdict,
            why,
        }
    }

    /// Creates a claim of this project.
    pub fn ours(
        id: impl Into<String>,
        says: impl Into<String>,
        measured: impl Into<String>,
        judgement: Judgement,
    ) -> Self {
        Self { source: Source::Ours, ..Self::paper(id, says, measured, judgement) }
    }
}

/// Begins with a capital, where the letter is ASCII, and ends with a full stop.
fn sentence(text: &str) -> String {
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
        assert_eq!(Verdict::of_all([true, true]), Verdict::Holds);
        assert_eq!(Verdict::of_all([true, false]), Verdict::InPart);
        assert_eq!(Verdict::of_all([false, false]), Verdict::Fails);
        assert_eq!(Verdict::of_all([]), Verdict::Fails);
    }

    #[test]
    fn a_claim_that_does_not_hold_says_why() {
        let claim = |a: bool, b: bool| {
            Claim::paper("id", "says", "measured", Judgement::of([(a, "the first is wrong"), (b, "so is b")]))
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
        let written = Judgement::of([(false, "a")]).because("α is small");
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
        assert_eq!(Tally::of(Source::Paper, &claims).to_string(), "1 of 2 hold, 0 in part, 1 do not");
        assert_eq!(Tally::of(Source::Ours, &claims).to_string(), "0 of 1 hold, 1 in part, 0 do not");
    }
}

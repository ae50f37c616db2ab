//! What the estimates mean, in a sentence.

use super::estimates::{Finding, Findings};
use levy_stable::tail_index::Method;
use serde::Serialize;

/// Whether there is a heavy tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reading {
    Heavy,
    NotHeavy,
    /// Its largest numbers are not those of the stable law that its bulk is like.
    NotStable,
    Undecided,
}

/// The two methods that can tell α near 2 from 2: log-moments are too noisy there, and Hill sees the end of the bulk.
const JUDGES: [Method; 2] = [Method::Characteristic, Method::Blocks];

/// The reading, and a sentence with the numbers it rests on.
pub(super) fn reading(findings: &Findings) -> (Reading, String) {
    if let Some(sentence) = not_stable(findings) {
        return (Reading::NotStable, sentence);
    }
    let judged: Vec<(Method, &Finding)> =
        JUDGES.into_iter().filter_map(|judge| Some((judge, findings.by(judge)?))).collect();
    let begin = judged.iter().map(|(_, finding)| finding.gaussian.interval.low).fold(2.0, f64::min);
    let ends = || judged.iter().map(|(_, finding)| finding.data.alpha.high);
    let gaussian = format!("those of Gaussian numbers begin at {begin:.2}");
    match judged.iter().filter(|(_, finding)| finding.heavy()).count() {
        _ if judged.len() < JUDGES.len() => (
            Reading::Undecided,
            "Undecided: these are too few numbers for the methods that could tell.".into(),
        ),
        0 => {
            let end = ends().fold(2.0, f64::min);
            (
                Reading::NotHeavy,
                format!("No heavy tail to be seen: the intervals of alpha reach {end:.2}, and {gaussian}."),
            )
        }
        heavy if heavy == judged.len() => {
            let end = ends().fold(0.0, f64::max);
            (Reading::Heavy, format!("Heavy tails: the intervals of alpha end at {end:.2}, and {gaussian}."))
        }
        _ => {
            let says = |(judge, finding): &(Method, &Finding)| {
                let word = if finding.heavy() { "heavy" } else { "not heavy" };
                format!("{} says {word}", judge.title())
            };
            let said: Vec<String> = judged.iter().map(says).collect();
            let why = "either these are too few numbers, or they are not independent draws from a stable law";
            (Reading::Undecided, format!("Undecided: {}; {why}.", said.join(", ")))
        }
    }
}

/// Says so if Hill reads the largest numbers otherwise than those of the fitted law, intervals apart.
fn not_stable(findings: &Findings) -> Option<String> {
    let (bulk, hill) = (findings.by(Method::Characteristic)?, findings.by(Method::Hill)?);
    let (ours, theirs) = (hill.data.alpha, findings.hill_if_stable?);
    let how = match () {
        () if ours.low > theirs.high => "faster",
        () if ours.high < theirs.low => "more slowly",
        () => return None,
    };
    Some(format!(
        "Not a stable law: the bulk is like alpha = {:.2}, but the largest numbers fall off {how} than they would then: Hill's \
         interval is {:.2} to {:.2}, and would be within {:.2} to {:.2}.",
        bulk.data.estimate.alpha, ours.low, ours.high, theirs.low, theirs.high
    ))
}

//! The conclusion from the estimates: whether the tails are heavy.

use super::estimates::{MethodEstimate, SampleEstimates};
use levy_stable::tail_index::Method;
use serde::Serialize;

/// The conclusion from the estimates of all methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Conclusion {
    Heavy,
    NotHeavy,
    /// The largest numbers do not fit the stable law that fits the bulk.
    NotStable,
    Undecided,
}

/// The two methods that distinguish α near 2 from 2. Log-moments are too inaccurate there, and
/// Hill's estimate depends on the end of the bulk.
const DECIDING: [Method; 2] = [Method::Characteristic, Method::Blocks];

/// Returns the conclusion, and a sentence with the numbers that support it.
pub(super) fn conclusion(estimates: &SampleEstimates) -> (Conclusion, String) {
    if let Some(sentence) = not_stable(estimates) {
        return (Conclusion::NotStable, sentence);
    }
    let deciding: Vec<(Method, &MethodEstimate)> =
        DECIDING.into_iter().filter_map(|method| Some((method, estimates.by(method)?))).collect();
    let begin =
        deciding.iter().map(|(_, estimate)| estimate.gaussian.interval.low).fold(2.0, f64::min);
    let ends = || deciding.iter().map(|(_, estimate)| estimate.data.alpha.high);
    let gaussian = format!("those for Gaussian numbers begin at {begin:.2}");
    match deciding.iter().filter(|(_, estimate)| estimate.heavy()).count() {
        _ if deciding.len() < DECIDING.len() => (
            Conclusion::Undecided,
            "Undecided: too few numbers for the methods that could decide.".into(),
        ),
        0 => {
            let end = ends().fold(2.0, f64::min);
            (
                Conclusion::NotHeavy,
                format!(
                    "No evidence of heavy tails: the intervals of alpha reach {end:.2}, and {gaussian}."
                ),
            )
        }
        heavy if heavy == deciding.len() => {
            let end = ends().fold(0.0, f64::max);
            (
                Conclusion::Heavy,
                format!("Heavy tails: the intervals of alpha end at {end:.2}, and {gaussian}."),
            )
        }
        _ => {
            let result = |(method, estimate): &(Method, &MethodEstimate)| {
                let result = if estimate.heavy() { "heavy" } else { "not heavy" };
                format!("{result} according to {}", method.title())
            };
            let results: Vec<String> = deciding.iter().map(result).collect();
            let why = "either there are too few numbers, or they are not independent draws from a stable law";
            (Conclusion::Undecided, format!("Undecided: {}; {why}.", results.join(", ")))
        }
    }
}

/// Returns an explanation if Hill's interval for the data and that for the fitted law do not
/// overlap.
fn not_stable(estimates: &SampleEstimates) -> Option<String> {
    let (bulk, hill) = (estimates.by(Method::Characteristic)?, estimates.by(Method::Hill)?);
    let (ours, theirs) = (hill.data.alpha, estimates.hill_if_stable?);
    let how = match () {
        () if ours.low > theirs.high => "faster",
        () if ours.high < theirs.low => "more slowly",
        () => return None,
    };
    Some(format!(
        "Not a stable law: the bulk fits alpha = {:.2}, but the tails fall off {how} than those of that law: Hill's interval is \
         {:.2} to {:.2} instead of {:.2} to {:.2}.",
        bulk.data.estimate.alpha, ours.low, ours.high, theirs.low, theirs.high
    ))
}

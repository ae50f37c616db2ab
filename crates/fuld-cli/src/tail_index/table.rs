//! The printed table of estimates.

use super::estimates::{MethodEstimate, SampleEstimates};
use levy_stable::tail_index::{Interval, Method};
use std::fmt::Write;

/// Returns a table with one line per method: the estimates for the data, then α for Gaussian
/// numbers.
pub(super) fn table(estimates: &SampleEstimates, level: f64) -> String {
    let percent = format!("{:.4}", 100.0 * level);
    let interval = format!("{} % interval", percent.trim_end_matches('0').trim_end_matches('.'));
    let mut text = format!(
        "{:<24} {:>6}  {interval:<16}  {:>8}  {interval:<20}  alpha for Gaussian numbers\n",
        "method", "alpha", "scale"
    );
    for (method, found) in &estimates.all {
        let _ = match found {
            Ok(estimate) => writeln!(text, "{}", line(*method, estimate).trim_end()),
            Err(error) => writeln!(text, "{:<24} {:>6}  {error}", method.title(), "–"),
        };
    }
    text
}

fn line(method: Method, MethodEstimate { data, gaussian }: &MethodEstimate) -> String {
    let (scale, scales) = match (data.estimate.scale, data.scale) {
        (Some(scale), Some(interval)) => (short(scale), span(interval, short)),
        _ => ("–".into(), String::new()),
    };
    format!(
        "{:<24} {:>6.3}  {:<16}  {scale:>8}  {scales:<20}  {:.3}  {}",
        method.title(),
        data.estimate.alpha,
        span(data.alpha, |alpha| format!("{alpha:.3}")),
        gaussian.alpha,
        span(gaussian.interval, |alpha| format!("{alpha:.3}")),
    )
}

fn span(Interval { low, high }: Interval, form: impl Fn(f64) -> String) -> String {
    format!("{} to {}", form(low), form(high))
}

/// Formats a number with four digits.
fn short(number: f64) -> String {
    let size = number.abs();
    if (1e-3..1e4).contains(&size) {
        format!("{number:.*}", (3 - size.log10().floor() as i32).clamp(0, 6) as usize)
    } else {
        format!("{number:.2e}")
    }
}

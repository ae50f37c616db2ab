//! The overview of a function in a terminal: a table of some values and a sketch.

use super::figure::gauss;
use super::function::LawFunction;
use super::sketch::{Curve, sketch};
use levy_stable::SymmetricStable;
use std::fmt::Write;

/// Returns the points of the table.
pub(super) fn points(function: LawFunction, law: &SymmetricStable) -> Vec<f64> {
    let unit = if function == LawFunction::GradG { 1.0 } else { law.scale() };
    match function {
        LawFunction::Quantile => vec![0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 0.999],
        LawFunction::Isf => vec![0.5, 0.25, 0.1, 0.01, 1e-3, 1e-6, 1e-9],
        _ => [0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0].map(|x| x * unit).to_vec(),
    }
}

/// Returns a table and a sketch of a function, compared with the Gaussian.
pub(super) fn overview(function: LawFunction, laws: &[SymmetricStable]) -> String {
    let (name, argument) = (function.name(), function.argument());
    let gauss = gauss(function, laws);
    let all: Vec<&SymmetricStable> = laws.iter().chain(&gauss).collect();
    let mut text = match function {
        LawFunction::GradG => format!("{name}(v): minus the score of SαS(α^(-1/α))\n\n"),
        _ => format!("{name} of SαS({})\n\n", laws[0].scale()),
    };
    let _ = write!(text, "{argument:>10}");
    for law in &all {
        let kind = if law.alpha() == 2.0 { "Gaussian" } else { "" };
        let _ = write!(text, "{:>18}", format!("{kind} α = {}", law.alpha()).trim());
    }
    text.push('\n');
    for x in points(function, &laws[0]) {
        let _ = write!(text, "{:>10}", short(x));
        all.iter().for_each(|law| {
            let _ = write!(text, "{:>18}", short(function.at(law, x)));
        });
        text.push('\n');
    }
    let shown = move |law: &SymmetricStable, x: f64| match function.at(law, x) {
        value if function.spans_decades() => value.log10(),
        value => value,
    };
    let curve = |(i, law): (usize, &&SymmetricStable)| {
        let law = **law;
        Curve { of: Box::new(move |x| shown(&law, x)), dotted: i >= laws.len() }
    };
    let curves: Vec<Curve<'_>> = all.iter().enumerate().map(curve).collect();
    let what = if function.spans_decades() { format!("log10 {name}") } else { name.into() };
    let dotted = if gauss.is_some() { ", dotted: the Gaussian" } else { "" };
    let _ = write!(text, "\n{what}{dotted}\n\n{}", sketch(&curves, function.range(&laws[0])));
    text
}

/// Formats a number with at most ten digits.
fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    if (1e-4..1e7).contains(&size) {
        let digits = (9 - size.log10().floor() as i32).clamp(0, 12) as usize;
        let text = format!("{number:.digits$}");
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').into(),
            false => text,
        };
    }
    let text = format!("{number:.9e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

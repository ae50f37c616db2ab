//! Points of `fuld law` that start with a minus sign.
//!
//! clap accepts a plain negative number as a value, but not -1e-9 or a range such as -5..5/101. Its
//! setting for values that start with a hyphen would also treat every option after the first point
//! as a value. A space in front of such a point prevents clap from reading it as an option; the
//! parser of points removes the space.

use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;

/// Puts a space in front of the arguments of `law` that are negative points.
pub(super) fn protected(
    arguments: impl Iterator<Item = OsString>,
) -> impl Iterator<Item = OsString> {
    let mut command: Option<OsString> = None;
    arguments.enumerate().map(move |(i, argument)| {
        let text = argument.to_str().unwrap_or_default();
        if i > 0 && command.is_none() && !text.starts_with('-') {
            command = Some(argument.clone());
        }
        let law = command.as_ref().is_some_and(|command| command == "law");
        if law && is_negative_point(text) { format!(" {text}").into() } else { argument }
    })
}

/// Returns an error that shows the value as it was typed, without the space.
pub(super) fn restored(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) {
        let value = value.trim_start().to_owned();
        error.insert(ContextKind::InvalidValue, ContextValue::String(value));
    }
    error
}

fn is_negative_point(text: &str) -> bool {
    text.starts_with('-') && (text.contains("..") || text.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &[&str]) -> Vec<String> {
        protected(line.iter().map(OsString::from))
            .map(|argument| argument.into_string().unwrap())
            .collect()
    }

    #[test]
    fn only_negative_points_of_law_are_changed() {
        assert_eq!(
            of(&["fuld", "law", "pdf", "-1e-9", "-5..5", "-q"])[3..],
            [" -1e-9", " -5..5", "-q"]
        );
        assert_eq!(of(&["fuld", "-q", "law", "pdf", "-1e-9"])[4..], [" -1e-9"]);
        assert_eq!(of(&["fuld", "train", "-x"])[2..], ["-x"]);
        assert_eq!(of(&["fuld", "sample", "-x^2/2"])[2..], ["-x^2/2"]);
    }
}

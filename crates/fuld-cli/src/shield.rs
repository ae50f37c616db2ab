//! Values that begin with a minus and are no options.

use std::ffi::OsString;

/// Arguments as the parser of options needs them. What begins below zero and is more than a plain number, like -5..5/101 or -1e-9
/// after the word `law`, or -x^2/2 after the word `sample`, would be taken for options. With a blank before it, it is a value.
pub(super) fn shielded(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut is_value: Option<fn(&str) -> bool> = None;
    let mut path = false;
    arguments.map(move |argument| {
        // A path is as it is written.
        let as_written = std::mem::replace(&mut path, is_before_path(&argument));
        let text = argument.to_str().filter(|text| text.starts_with('-') && !as_written);
        match is_value {
            Some(is_value) if text.is_some_and(is_value) => {
                return [" ".into(), argument].into_iter().collect();
            }
            Some(_) => {}
            None if argument == "law" => is_value = Some(is_point),
            None if argument == "sample" => is_value = Some(is_formula),
            None => {}
        }
        argument
    })
}

fn is_before_path(argument: &OsString) -> bool {
    ["--out", "--config", "--save-config"].iter().any(|option| argument == option)
}

fn is_point(text: &str) -> bool {
    text.contains("..") || text.parse::<f64>().is_ok()
}

/// With a variable in it: neither a number, nor a long option, nor some of the short ones at once, like -qv.
fn is_formula(text: &str) -> bool {
    let rest = &text[1..];
    let options = rest.starts_with('-') || rest.chars().all(|c| "hVqv".contains(c));
    !options && text.parse::<f64>().is_err() && rest.contains(['x', 'y', 'z', 'w'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &[&str]) -> Vec<String> {
        let arguments = line.iter().map(OsString::from);
        shielded(arguments).map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn formulas_and_points_are_values_and_options_are_not() {
        assert_eq!(of(&["fuld", "sample", "-x^2/2", "-q"])[2..], [" -x^2/2", "-q"]);
        assert_eq!(of(&["fuld", "sample", "--gamma", "-2", "-qv"])[2..], ["--gamma", "-2", "-qv"]);
        assert_eq!(of(&["fuld", "sample", "--out", "-x", "--max"])[2..], ["--out", "-x", "--max"]);
        assert_eq!(of(&["fuld", "law", "pdf", "-1e-9", "-5..5", "-q"])[3..], [" -1e-9", " -5..5", "-q"]);
        assert_eq!(of(&["fuld", "train", "-x"])[2..], ["-x"]);
    }
}

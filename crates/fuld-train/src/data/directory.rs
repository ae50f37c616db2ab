//! Where data sets are kept.

use super::error::DataError;
use std::ffi::OsString;
use std::path::PathBuf;

/// The folder of data sets: `$FULD_DATA`, else `$XDG_DATA_HOME/fuld`, else `~/.local/share/fuld`.
pub fn data_directory() -> Result<PathBuf, DataError> {
    chosen(|name| std::env::var_os(name)).ok_or(DataError::NoDirectory)
}

fn chosen(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("FULD_DATA")
        // The XDG specification has relative paths ignored.
        .or_else(|| path("XDG_DATA_HOME").filter(|base| base.is_absolute()).map(|base| base.join("fuld")))
        .or_else(|| path("HOME").map(|home| home.join(".local/share/fuld")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen_of(set: &[(&str, &str)]) -> Option<PathBuf> {
        chosen(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).into()))
    }

    #[test]
    fn the_most_particular_wins() {
        let all = [("FULD_DATA", "sets"), ("XDG_DATA_HOME", "/xdg"), ("HOME", "/home/ada")];
        assert_eq!(chosen_of(&all), Some("sets".into()));
        assert_eq!(chosen_of(&all[1..]), Some("/xdg/fuld".into()));
        assert_eq!(chosen_of(&all[2..]), Some("/home/ada/.local/share/fuld".into()));
        assert_eq!(chosen_of(&[]), None);
    }

    #[test]
    fn empty_and_relative_ones_do_not_count() {
        let set = [("FULD_DATA", ""), ("XDG_DATA_HOME", "xdg"), ("HOME", "/home/ada")];
        assert_eq!(chosen_of(&set), Some("/home/ada/.local/share/fuld".into()));
    }
}

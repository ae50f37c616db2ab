//! The folder in which data sets are stored.

use super::error::DataError;
use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the folder of data sets: `$FULD_DATA`, else `$XDG_DATA_HOME/fuld`, else
/// `~/.local/share/fuld`.
pub fn data_directory() -> Result<PathBuf, DataError> {
    from_variables(|name| std::env::var_os(name)).ok_or(DataError::NoDirectory)
}

fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("FULD_DATA")
        // The XDG specification requires that relative paths are ignored.
        .or_else(|| {
            path("XDG_DATA_HOME").filter(|base| base.is_absolute()).map(|base| base.join("fuld"))
        })
        .or_else(|| path("HOME").map(|home| home.join(".local/share/fuld")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_variables(set: &[(&str, &str)]) -> Option<PathBuf> {
        from_variables(|name| {
            set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn the_most_specific_variable_takes_precedence() {
        let all = [("FULD_DATA", "sets"), ("XDG_DATA_HOME", "/xdg"), ("HOME", "/home/ada")];
        assert_eq!(with_variables(&all), Some("sets".into()));
        assert_eq!(with_variables(&all[1..]), Some("/xdg/fuld".into()));
        assert_eq!(with_variables(&all[2..]), Some("/home/ada/.local/share/fuld".into()));
        assert_eq!(with_variables(&[]), None);
    }

    #[test]
    fn empty_and_relative_paths_are_ignored() {
        let set = [("FULD_DATA", ""), ("XDG_DATA_HOME", "xdg"), ("HOME", "/home/ada")];
        assert_eq!(with_variables(&set), Some("/home/ada/.local/share/fuld".into()));
    }
}

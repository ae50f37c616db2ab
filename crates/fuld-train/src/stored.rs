//! Result files that contain the specification and the version of the rule that made them.
//!
//! A stored result is a TOML file. It contains the `version` of the rule, the specification as the
//! table `spec`, the result itself, and a checksum in the last line, because a file that is cut off
//! between two tables would still be valid TOML. A result is reused only if version and
//! specification are the wanted ones.

use fuld::durable::{fingerprint, replace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::Table;

/// A stored result, compared with the wanted version and specification.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored<T> {
    /// The file does not exist.
    Missing,
    /// The wanted result.
    Current(T),
    /// A result of the wanted run, or of an unknown one, that another version of the rule made.
    OtherVersion(u32),
    /// The result of another run.
    OtherSpec(Difference),
}

/// The first line in which two specifications differ.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("stored {stored}, requested {wanted}")]
pub struct Difference {
    /// The line of the stored specification.
    pub stored: String,
    /// The line of the wanted specification.
    pub wanted: String,
}

impl Difference {
    /// Compares two specifications in TOML.
    pub fn between(stored: &str, wanted: &str) -> Self {
        let mut lines = stored.lines().zip(wanted.lines());
        let (stored, wanted) = lines
            .find(|(stored, wanted)| stored != wanted)
            .unwrap_or(("with more or fewer settings", "otherwise the same"));
        Self { stored: stored.into(), wanted: wanted.into() }
    }
}

/// An error of reading or writing a result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoredError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a valid result.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// The checksum line begins with this.
const CHECKSUM: &str = "# checksum ";

/// The version of results that do not name one.
const UNNAMED_VERSION: u32 = 1;

/// Writes a result. A key `version` or `spec` of the result itself is replaced.
pub fn write(
    path: &Path,
    version: u32,
    spec: &impl Serialize,
    result: &impl Serialize,
) -> Result<(), StoredError> {
    let text = to_toml(version, spec, result).map_err(|error| StoredError::Unreadable {
        path: path.into(),
        reason: error.to_string(),
    })?;
    replace(path, sealed(&text).as_bytes())
        .map_err(|source| StoredError::Io { path: path.into(), source })
}

fn to_toml(
    version: u32,
    spec: &impl Serialize,
    result: &impl Serialize,
) -> Result<String, toml::ser::Error> {
    let mut table = Table::new();
    table.insert("version".into(), i64::from(version).into());
    table.extend(Table::try_from(result)?);
    table.insert("spec".into(), Table::try_from(spec)?.into());
    toml::to_string(&table)
}

/// Reads the result of the wanted version and specification.
pub fn read<T: DeserializeOwned>(
    path: &Path,
    version: u32,
    wanted: &impl Serialize,
) -> Result<Stored<T>, StoredError> {
    let Some(table) = read_table(path)? else { return Ok(Stored::Missing) };
    let stored_version = version_of(&table);
    let unreadable = |reason: String| StoredError::Unreadable { path: path.into(), reason };
    let wanted = Table::try_from(wanted).map_err(|error| unreadable(error.to_string()))?;
    match table.get("spec").and_then(toml::Value::as_table) {
        // Only the same run of another version is stale: a different run keeps its result.
        spec if stored_version != version && spec.is_none_or(|spec| *spec == wanted) => {
            Ok(Stored::OtherVersion(stored_version))
        }
        Some(spec) if *spec == wanted => {
            table.try_into().map(Stored::Current).map_err(|error| unreadable(error.to_string()))
        }
        spec => {
            let stored = spec.map(Table::to_string).unwrap_or_default();
            Ok(Stored::OtherSpec(Difference::between(&stored, &wanted.to_string())))
        }
    }
}

/// Reads a result of the wanted version, whatever its specification.
pub fn read_any<T: DeserializeOwned>(path: &Path, version: u32) -> Result<Stored<T>, StoredError> {
    let Some(table) = read_table(path)? else { return Ok(Stored::Missing) };
    match version_of(&table) {
        stored if stored != version => Ok(Stored::OtherVersion(stored)),
        _ => table.try_into().map(Stored::Current).map_err(|error| StoredError::Unreadable {
            path: path.into(),
            reason: error.to_string(),
        }),
    }
}

fn version_of(table: &Table) -> u32 {
    let version = table.get("version").and_then(toml::Value::as_integer);
    version.and_then(|version| u32::try_from(version).ok()).unwrap_or(UNNAMED_VERSION)
}

fn read_table(path: &Path) -> Result<Option<Table>, StoredError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoredError::Io { path: path.into(), source }),
    };
    let unreadable = |reason: String| StoredError::Unreadable { path: path.into(), reason };
    let Some(body) = unsealed(&text) else {
        return Err(unreadable(
            "its checksum is wrong, so it was cut off or changed; start again with --fresh (without --resume)"
                .into(),
        ));
    };
    body.parse().map(Some).map_err(|error: toml::de::Error| unreadable(error.to_string()))
}

/// Returns whether a file is a text with the right checksum.
pub fn is_sealed(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| unsealed(&text).is_some())
}

/// Returns a text in TOML with its checksum as the last line.
pub fn sealed(text: &str) -> String {
    format!("{text}{CHECKSUM}{:016x}\n", fingerprint(text.as_bytes()))
}

/// Returns the text without its checksum, or `None` if the checksum is wrong or missing.
pub fn unsealed(text: &str) -> Option<&str> {
    let body = &text[..text.rfind(CHECKSUM)?];
    (text == sealed(body)).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Spec {
        width: u32,
        seed: u64,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Outcome {
        loss: f64,
        curve: Vec<f64>,
    }

    #[test]
    fn only_results_of_the_wanted_version_and_specification_are_reused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.toml");
        let spec = Spec { width: 3, seed: 1 };
        let read = |version, spec: &Spec| read::<Outcome>(&path, version, spec).unwrap();
        assert_eq!(read(2, &spec), Stored::Missing);
        let outcome = Outcome { loss: 0.1, curve: vec![1.0, f64::INFINITY] };
        write(&path, 2, &spec, &outcome).unwrap();
        assert_eq!(read(3, &spec), Stored::OtherVersion(2));
        let difference = Difference { stored: "seed = 1".into(), wanted: "seed = 2".into() };
        assert_eq!(read(2, &Spec { width: 3, seed: 2 }), Stored::OtherSpec(difference.clone()));
        assert_eq!(read(3, &Spec { width: 3, seed: 2 }), Stored::OtherSpec(difference));
        assert_eq!(read_any::<Outcome>(&path, 3).unwrap(), Stored::OtherVersion(2));
        assert_eq!(read(2, &spec), Stored::Current(outcome));
        // A file without a version.
        std::fs::write(&path, sealed("loss = 1.0\n")).unwrap();
        assert_eq!(read(2, &spec), Stored::OtherVersion(1));
    }
}

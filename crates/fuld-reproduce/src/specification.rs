//! What identifies the tables of an exhibit: its settings, the seed, the data and the versions of
//! the rules that made them.
//!
//! The specification is written to `settings.toml` beside the tables. Tables of an equal
//! specification are used again; tables of any other one are made again, and the report of the
//! difference names the first key.

use crate::table::Tables;
use fuld::durable::replace;
use fuld::folder::is_plain;
use fuld_train::data::DataSet;
use fuld_train::spec::Device;
use fuld_train::stored::{sealed, unsealed};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Everything that the tables of an exhibit depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExhibitSpec {
    /// The exhibit, with its data set if it has one: `fig3`, `networks-digits`.
    pub exhibit: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// Whether the paper's whole grid was asked for; only exhibits that train have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<bool>,
    /// The hardware that trained networks, if it was not the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The versions of the rules.
    pub versions: Versions,
    /// The data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataIdentity>,
    /// The settings of the exhibit itself.
    #[serde(default)]
    pub settings: toml::Table,
}

/// Versions of the rules that make the numbers. A version changes when the numbers would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The exhibit's experiment.
    pub exhibit: u32,
    /// The simulation of chains, the stable law and the random numbers:
    /// [`fuld::chains::DYNAMICS_VERSION`].
    pub dynamics: u32,
    /// Training, for exhibits that train networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<u32>,
}

/// A data set by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataIdentity {
    /// `digits`, `mnist` or `cifar10`.
    pub name: String,
    /// The fingerprint of its images and labels.
    pub fingerprint: String,
}

impl DataIdentity {
    /// Identifies a loaded data set.
    pub(crate) fn of(data: &DataSet) -> Self {
        let description = data.description();
        Self { name: description.name, fingerprint: description.fingerprint }
    }
}

/// The file `settings.toml`: the specification, and the command that makes the exhibit again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of fuld that wrote the tables. It is information only: the versions of the rules
    /// decide.
    pub fuld: String,
    /// The command that makes the exhibit again.
    pub command: String,
    /// The SHA-256 checksum of the tables, so that a file that was changed by hand or damaged is
    /// noticed.
    #[serde(default)]
    pub tables: String,
    /// The files of the exhibit: tables, figures and settings of chains. No other file of the
    /// folder is read or deleted.
    #[serde(default)]
    pub files: Vec<String>,
    /// The specification.
    pub specification: ExhibitSpec,
}

/// The name of the file. It is written last, so a folder that has one has everything.
pub(crate) const FILE: &str = "settings.toml";

/// The names of files in the subfolder `runs` begin with this.
const RUNS: &str = "runs/";

impl Record {
    /// Creates the record of tables that are made now by a command.
    pub(crate) fn new(command: String, tables: &Tables, specification: ExhibitSpec) -> Self {
        let fuld = env!("CARGO_PKG_VERSION").into();
        Self { fuld, command, tables: tables.checksum(), files: tables.files(), specification }
    }

    /// Reads the record of a folder; `None` if there is none, if its checksum is wrong, or if it
    /// lists a file that is neither in the folder itself nor in `runs`.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join(FILE)).ok()?;
        let record: Self = toml::from_str(unsealed(&text)?).ok()?;
        let is_inside = |file: &String| is_plain(file.strip_prefix(RUNS).unwrap_or(file));
        record.files.iter().all(is_inside).then_some(record)
    }

    /// Returns the names of the files in the folder itself, and of those in its subfolder `runs`.
    pub(crate) fn files_by_folder(&self) -> (Vec<&str>, Vec<&str>) {
        let (runs, own): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|file| file.starts_with(RUNS));
        let runs = runs.into_iter().filter_map(|file| file.strip_prefix(RUNS)).collect();
        (own.into_iter().map(String::as_str).collect(), runs)
    }

    /// Writes the record into a folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let head = format!("# Make this exhibit again with: {}\n", self.command);
        replace(&folder.join(FILE), sealed(&(head + &text)).as_bytes())
    }

    /// Returns a line that says what made the tables.
    pub(crate) fn made_by(&self) -> String {
        let Self { fuld, command, specification, .. } = self;
        let Versions { exhibit, dynamics, training } = specification.versions;
        let training = training.map_or(String::new(), |version| format!(", training {version}"));
        let data = specification.data.as_ref();
        let data =
            data.map_or(String::new(), |data| format!(", data {} {}", data.name, data.fingerprint));
        format!(
            "fuld {fuld}, dynamics {dynamics}{training}, exhibit version {exhibit}, seed {}{data}; {command}",
            specification.seed
        )
    }
}

impl ExhibitSpec {
    /// Returns the first key in which an earlier specification differs from this one, with both
    /// values.
    pub(crate) fn difference(&self, earlier: &Self) -> Option<String> {
        let table = |specification: &Self| toml::Table::try_from(specification).ok();
        difference("", &table(earlier)?, &table(self)?)
    }
}

fn difference(prefix: &str, was: &toml::Table, is: &toml::Table) -> Option<String> {
    let keys = was.keys().chain(is.keys().filter(|key| !was.contains_key(*key)));
    for key in keys {
        let name = format!("{prefix}{key}");
        match (was.get(key), is.get(key)) {
            (a, b) if a == b => {}
            (Some(toml::Value::Table(a)), Some(toml::Value::Table(b))) => {
                return difference(&format!("{name}."), a, b);
            }
            (a, b) => {
                let text = |value: Option<&toml::Value>| {
                    value.map_or("absent".into(), ToString::to_string)
                };
                return Some(format!("{name} was {}, is {}", text(a), text(b)));
            }
        }
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn specification() -> ExhibitSpec {
        ExhibitSpec {
            exhibit: "fig3".into(),
            seed: 7,
            full: None,
            device: None,
            versions: Versions { exhibit: 1, dynamics: 2, training: None },
            data: None,
            settings: toml::toml! { alpha = 1.5
            chains = 512 },
        }
    }

    #[test]
    fn a_record_survives_its_file() {
        let folder = tempfile::TempDir::new().unwrap();
        assert_eq!(Record::read(folder.path()), None);
        let data = DataIdentity { name: "digits".into(), fingerprint: "ab".into() };
        let specification = ExhibitSpec { data: Some(data), full: Some(true), ..specification() };
        let command = "fuld reproduce --only fig3".to_owned();
        let record = Record {
            fuld: "0.1.0".into(),
            command,
            tables: "cd".into(),
            files: vec!["a.csv".into()],
            specification,
        };
        record.write(folder.path()).unwrap();
        assert_eq!(Record::read(folder.path()), Some(record.clone()));
        // A record that was changed by hand is not one of this program.
        let path = folder.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("seed = 7", "seed = 8")).unwrap();
        assert_eq!(Record::read(folder.path()), None);
        assert_eq!(
            record.made_by(),
            "fuld 0.1.0, dynamics 2, exhibit version 1, seed 7, data digits ab; fuld reproduce --only fig3"
        );
    }

    /// Files outside the folder would be deleted with the exhibit.
    #[test]
    fn a_record_lists_only_files_of_its_folder() {
        let folder = tempfile::TempDir::new().unwrap();
        let listing = |file: &str| {
            let files = vec!["a.csv".into(), file.into()];
            let (fuld, command, tables) = (String::new(), String::new(), String::new());
            let record = Record { fuld, command, tables, files, specification: specification() };
            record.write(folder.path()).unwrap();
            Record::read(folder.path())
        };
        let record = listing("runs/1.toml").unwrap();
        assert_eq!(record.files_by_folder(), (vec!["a.csv"], vec!["1.toml"]));
        for file in [
            "../../precious.png",
            "/precious.png",
            "runs/../../a.csv",
            "runs/",
            "training/a.toml",
            "..",
        ] {
            assert_eq!(listing(file), None, "{file}");
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let (old, mut new) = (specification(), specification());
        assert_eq!(new.difference(&old), None);
        new.settings.insert("alpha".into(), 1.2.into());
        assert_eq!(new.difference(&old).unwrap(), "settings.alpha was 1.5, is 1.2");
        new.versions.dynamics = 3;
        assert_eq!(new.difference(&old).unwrap(), "versions.dynamics was 2, is 3");
        new.versions.dynamics = 2;
        new.settings = old.settings.clone();
        new.full = Some(true);
        assert_eq!(new.difference(&old).unwrap(), "full was absent, is true");
    }
}

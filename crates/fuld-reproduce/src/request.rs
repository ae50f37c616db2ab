//! The request of a reproduction: exhibits, data sets and seed.

use crate::exhibit::Entry;
use crate::exhibits::exhibits;
use anyhow::Context as _;
use fuld_train::data::{DataError, DataSet, Presence, data_directory, presence};
use fuld_train::spec::Device;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The file in the output folder that stores the request, for `--resume`.
pub(crate) const REQUEST: &str = "reproduce.toml";

/// The exhibits to be made, with their data sets and seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reproduction {
    /// Ids of exhibits; all if empty.
    pub only: Vec<String>,
    /// Data sets by name, or folders that hold some; the built-in digits if empty.
    pub data: Vec<String>,
    /// Trains the paper's whole grids instead of a part of them.
    pub full: bool,
    /// The hardware that trains networks.
    pub device: Device,
    /// The seed of all randomness.
    pub seed: u64,
}

/// A request that cannot be fulfilled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproductionError {
    /// An id that does not exist.
    #[error("{0:?} is not an exhibit; --only takes {known}", known = ids(|_| true).join(", "))]
    UnknownExhibit(String),
    /// An option for training, but no exhibit that trains.
    #[error(
        "{0} is for the exhibits that train networks, which --only leaves out: add {them}",
        them = ids(|exhibit| exhibit.trains).join(" or ")
    )]
    NothingTrains(&'static str),
    /// The folder holds exhibits of another seed.
    #[error("{} holds {exhibit} of seed {there}, not {here}; --fresh deletes it, --out names another folder", folder.display())]
    OtherSeed {
        /// The folder.
        folder: PathBuf,
        /// One of the exhibits.
        exhibit: String,
        /// Its seed.
        there: u64,
        /// The seed asked for.
        here: u64,
    },
    /// There is nothing to resume.
    #[error("no reproduction to resume in {}; run it without --resume first", .0.display())]
    NothingToResume(PathBuf),
}

fn ids(is_meant: fn(&Entry) -> bool) -> Vec<&'static str> {
    exhibits().iter().filter(|exhibit| is_meant(exhibit)).map(|exhibit| exhibit.id).collect()
}

impl Reproduction {
    /// Reads the request stored in a folder.
    pub fn stored(out: &Path) -> anyhow::Result<Self> {
        let path = out.join(REQUEST);
        if !path.exists() {
            return Err(ReproductionError::NothingToResume(out.into()).into());
        }
        let text = std::fs::read_to_string(&path).map_err(anyhow::Error::from);
        let request = text.and_then(|text| Ok(toml::from_str(&text)?));
        request.with_context(|| format!("reading {}", path.display()))
    }

    /// Returns the union of this request and a later one of the same folder, so that `--resume`
    /// continues both.
    pub(crate) fn merged(&self, later: &Self) -> Self {
        let union = |a: &[String], b: &[String]| {
            let new = b.iter().filter(|name| !a.contains(name));
            a.iter().chain(new).cloned().collect::<Vec<_>>()
        };
        let only = match (&self.only[..], &later.only[..]) {
            // No id means all exhibits.
            ([], _) | (_, []) => Vec::new(),
            (earlier, later) => union(earlier, later),
        };
        let data = |request: &Self| match request.chosen() {
            Ok(chosen)
                if request.data.is_empty() && chosen.iter().any(|exhibit| exhibit.trains) =>
            {
                vec!["digits".into()]
            }
            _ => request.data.clone(),
        };
        let data = if self.data == later.data {
            self.data.clone()
        } else {
            union(&data(self), &data(later))
        };
        Self { only, data, full: self.full || later.full, device: later.device, seed: later.seed }
    }

    /// Returns the command that asks for this, as a shell reads it.
    pub(crate) fn command(&self) -> String {
        let quoted = |name: &String| {
            shlex::try_quote(name).map_or(name.clone(), |quoted| quoted.into_owned())
        };
        let data: Vec<String> = self.data.iter().map(quoted).collect();
        let options = [
            (!self.only.is_empty(), format!(" --only {}", self.only.join(","))),
            (!self.data.is_empty(), format!(" --data {}", data.join(","))),
            (self.full, " --full".into()),
            (self.device != Device::Cpu, " --device cuda".into()),
            (self.device == Device::CudaTf32, " --tf32".into()),
            (self.seed != 0, format!(" --seed {}", self.seed)),
        ];
        let given: String =
            options.into_iter().filter(|(given, _)| *given).map(|(_, text)| text).collect();
        format!("fuld reproduce{given}")
    }

    /// Returns the chosen exhibits, in the order of the report.
    pub(crate) fn chosen(&self) -> Result<Vec<Entry>, ReproductionError> {
        let all = exhibits();
        if let Some(id) = self.only.iter().find(|id| !all.iter().any(|exhibit| exhibit.id == **id))
        {
            return Err(ReproductionError::UnknownExhibit(id.clone()));
        }
        let is_chosen =
            |exhibit: &Entry| self.only.is_empty() || self.only.iter().any(|id| id == exhibit.id);
        let chosen: Vec<Entry> = all.into_iter().filter(is_chosen).collect();
        for (given, option) in [(!self.data.is_empty(), "--data"), (self.full, "--full")] {
            if given && !chosen.iter().any(|exhibit| exhibit.trains) {
                return Err(ReproductionError::NothingTrains(option));
            }
        }
        Ok(chosen)
    }

    /// Loads the data sets, each with the text that named it: those named, and all that the named
    /// folders hold.
    pub(crate) fn data(&self) -> Result<Vec<(String, DataSet)>, DataError> {
        let digits = ["digits".to_owned()];
        let mut all: Vec<(String, DataSet)> = Vec::new();
        for given in if self.data.is_empty() { &digits[..] } else { &self.data } {
            let sets = match given.as_str() {
                "digits" => vec![DataSet::load(given, Path::new(""))?],
                "mnist" | "cifar10" => vec![DataSet::load(given, &data_directory()?)?],
                folder => sets_in(Path::new(folder))?,
            };
            for set in sets {
                if !all.iter().any(|(_, other)| other.name == set.name) {
                    all.push((given.clone(), set));
                }
            }
        }
        Ok(all)
    }
}

/// Loads all data sets that a folder holds.
fn sets_in(folder: &Path) -> Result<Vec<DataSet>, DataError> {
    let mut sets = Vec::new();
    for name in ["mnist", "cifar10"] {
        if presence(name, folder)? != Presence::Absent {
            sets.push(DataSet::load(name, folder)?);
        }
    }
    if sets.is_empty() { Err(DataError::Nothing(folder.into())) } else { Ok(sets) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(only: &[&str], data: &[&str], full: bool) -> Reproduction {
        let [only, data] =
            [only, data].map(|names| names.iter().map(|&name| name.to_owned()).collect());
        Reproduction { only, data, full, device: Device::Cpu, seed: 7 }
    }

    #[test]
    fn a_later_choice_of_exhibits_does_not_forget_the_earlier_request() {
        let all = request(&[], &["mnist"], true);
        assert_eq!(all.merged(&request(&["fig1"], &[], false)), all);
        assert_eq!(request(&["fig1"], &[], false).merged(&all), all);
        let two = request(&["fig1"], &[], false).merged(&request(&["law", "fig1"], &[], false));
        assert_eq!(two, request(&["fig1", "law"], &[], false));
        // The built-in digits, where no data set is named, stay beside a named one.
        let both =
            request(&["networks"], &[], false).merged(&request(&["guard"], &["mnist"], false));
        assert_eq!(both, request(&["networks", "guard"], &["digits", "mnist"], false));
    }

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let command = request(&["networks"], &["my data", "digits"], true).command();
        assert_eq!(
            command,
            "fuld reproduce --only networks --data 'my data',digits --full --seed 7"
        );
        assert_eq!(shlex::split(&command).unwrap()[5], "my data,digits");
        let on_gpu = Reproduction { device: Device::CudaTf32, ..request(&[], &[], false) };
        assert_eq!(on_gpu.command(), "fuld reproduce --device cuda --tf32 --seed 7");
    }
}

//! The options --data and --data-dir, the same in every command that trains.

use super::Usage;
use clap::Args;
use fuld_train::data::{self, DataError, DataSource, Presence, presence};
use std::path::PathBuf;

/// The data sets, and the folder of those given by name.
#[derive(Args, Clone, Debug)]
pub(super) struct DataArgs {
    /// Data sets, separated by commas: digits (built in), mnist, cifar10, or folders with the files
    /// of mnist or cifar10 [default: digits]
    #[arg(long, value_name = "NAME|DIR", value_delimiter = ',', help_heading = "Data")]
    pub(super) data: Vec<String>,
    /// Folder of the data sets given by name [default: the data directory, see fuld data --help]
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub(super) data_dir: Option<PathBuf>,
}

impl DataArgs {
    /// Returns the folder of the data sets given by name.
    pub(super) fn directory(&self) -> Result<PathBuf, DataError> {
        self.data_dir.clone().map_or_else(data::data_directory, Ok)
    }

    /// Returns the data set of a single run, if one was given.
    pub(super) fn single(&self) -> Result<Option<String>, Usage> {
        match self.data.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            all => Err(Usage(format!(
                "--data names {} data sets, but a run trains on one; fuld sweep trains on several",
                all.len()
            ))),
        }
    }

    /// Returns the data sets, with the folders of those in --data-dir in place of their names.
    pub(super) fn located(&self) -> Result<Vec<String>, DataError> {
        let Some(directory) = &self.data_dir else { return Ok(self.data.clone()) };
        let located = |given: &String| {
            let Some(&set) = DataSource::NAMES.iter().find(|set| *set == given) else {
                return Ok(given.clone());
            };
            match presence(set, directory)? {
                Presence::Whole { folder, .. } | Presence::Partial { folder, .. } => {
                    Ok(folder.display().to_string())
                }
                Presence::Absent => Err(DataError::NotFetched { set, folder: directory.clone() }),
            }
        };
        self.data.iter().map(located).collect()
    }
}

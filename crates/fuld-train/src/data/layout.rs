//! The files of the data sets, and which of them a folder holds.

use super::{cifar10, mnist};
use std::path::{Path, PathBuf};

/// The folder and files of a data set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) set: &'static str,
    /// Its own folder within the data directory.
    pub(super) folder: &'static str,
    files: &'static [&'static str],
    /// The names under which a file is accepted; the first found is used.
    spell: fn(&str) -> Vec<String>,
}

pub(super) const MNIST: Layout =
    Layout { set: "mnist", folder: "mnist", files: &mnist::STEMS, spell: idx_spellings };

pub(super) const CIFAR10: Layout = Layout {
    set: "cifar10",
    folder: "cifar-10-batches-bin",
    files: &cifar10::NAMES,
    spell: |name| vec![name.into()],
};

/// The publisher's name, compressed or not, and the one with a dot that some archives have.
fn idx_spellings(stem: &str) -> Vec<String> {
    let dotted = stem.replace("-idx", ".idx");
    vec![format!("{stem}.gz"), stem.into(), format!("{dotted}.gz"), dotted]
}

/// Whether the files of a data set are present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// All files are present.
    Whole {
        /// The folder they are in.
        folder: PathBuf,
        /// The files, in the order of the layout.
        files: Vec<PathBuf>,
    },
    /// Some files are present.
    Partial {
        /// The folder they are in.
        folder: PathBuf,
        /// The names of the missing files.
        missing: Vec<String>,
    },
    /// No file is present.
    Absent,
}

impl Layout {
    /// Returns the names under which a file is accepted.
    pub(super) fn spellings(&self, file: &str) -> Vec<String> {
        (self.spell)(file)
    }

    /// Searches a folder, and the set's own folder in it.
    pub(super) fn search(&self, folder: &Path) -> Presence {
        let mut best = Presence::Absent;
        for place in [folder.to_path_buf(), folder.join(self.folder)] {
            match (self.search_one(&place), &best) {
                (whole @ Presence::Whole { .. }, _) => return whole,
                (partial @ Presence::Partial { .. }, Presence::Absent) => best = partial,
                _ => {}
            }
        }
        best
    }

    fn search_one(&self, folder: &Path) -> Presence {
        let mut files = Vec::new();
        let mut missing = Vec::new();
        for name in self.files {
            let spellings = self.spellings(name);
            match spellings.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
                Some(path) => files.push(path),
                None => missing.extend(spellings.into_iter().next()),
            }
        }
        match (files.is_empty(), missing.is_empty()) {
            (true, _) => Presence::Absent,
            (_, true) => Presence::Whole { folder: folder.into(), files },
            _ => Presence::Partial { folder: folder.into(), missing },
        }
    }
}

//! The file names of the data sets, and a search for them in a folder.

use super::{cifar10, mnist};
use std::path::{Path, PathBuf};

/// The names of a data set's folder and files.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileLayout {
    /// The name of the data set.
    pub(super) set: &'static str,
    /// The folder of the data set within the data directory.
    pub(super) folder: &'static str,
    files: &'static [&'static str],
    /// Returns the names under which a file is accepted; the first one present is used.
    spellings: fn(&str) -> Vec<String>,
}

pub(super) const MNIST: FileLayout =
    FileLayout { set: "mnist", folder: "mnist", files: &mnist::STEMS, spellings: idx_spellings };

pub(super) const CIFAR10: FileLayout = FileLayout {
    set: "cifar10",
    folder: "cifar-10-batches-bin",
    files: &cifar10::NAMES,
    spellings: |name| vec![name.into()],
};

/// Returns the publisher's name, compressed or not, and the name with a dot that some copies use.
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

impl FileLayout {
    /// Returns the names under which a file is accepted.
    pub(super) fn spellings(&self, file: &str) -> Vec<String> {
        (self.spellings)(file)
    }

    /// Searches a folder, and the set's folder within it. A complete set takes precedence over a
    /// partial one.
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

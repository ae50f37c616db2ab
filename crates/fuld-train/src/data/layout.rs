//! Which data sets a folder holds.

use super::{cifar10, mnist};
use std::path::{Path, PathBuf};

/// How a data set lies in folders.
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

/// Whether a data set is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// All its files are, in the order of the layout.
    Whole {
        /// The folder they are in.
        folder: PathBuf,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Some are.
    Partial {
        /// The folder they are in.
        folder: PathBuf,
        /// The names of those that are not.
        missing: Vec<String>,
    },
    /// None is.
    Absent,
}

impl Layout {
    /// The names under which a file is accepted.
    pub(super) fn spellings(&self, file: &str) -> Vec<String> {
        (self.spell)(file)
    }

    /// Looks into a folder and into the set's own folder in it.
    pub(super) fn look(&self, folder: &Path) -> Presence {
        let mut best = Presence::Absent;
        for place in [folder.to_path_buf(), folder.join(self.folder)] {
            match (self.look_here(&place), &best) {
                (whole @ Presence::Whole { .. }, _) => return whole,
                (partial @ Presence::Partial { .. }, Presence::Absent) => best = partial,
                _ => {}
            }
        }
        best
    }

    fn look_here(&self, folder: &Path) -> Presence {
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

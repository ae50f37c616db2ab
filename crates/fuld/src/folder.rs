//! Folders that belong to this program, recognised by a marker file and used by one process at a
//! time.
//!
//! A command that writes many files first takes a folder: it creates a new one, or recognises one
//! it made by the marker `.fuld`, which contains the name of the command. Any other folder that is
//! not empty is refused, so nothing of the user's is ever overwritten or deleted. Files are deleted
//! by their plain names only, and nothing is deleted behind a symbolic link.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// The marker. It is locked while a process uses the folder.
const MARKER: &str = ".fuld";

/// The text of the marker is this and the name of the command.
const MADE_BY: &str = "This folder was made by fuld ";

/// A folder that this program made, held by this process until the value is dropped.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
    /// The locked marker; the system unlocks it when the process ends, however it ends.
    _marker: File,
}

/// An error that keeps a folder from being used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another process uses the folder.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The folder holds files that this program did not write.
    #[error("{} contains `{file}`, which fuld did not write; name a new or empty folder with --out", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// One of the files.
        file: String,
    },
    /// The path, or the beginning of it, is a file.
    #[error("{} is a file, so {} cannot be a folder; name another folder with --out", file.display(), path.display())]
    IsFile {
        /// The path of the folder.
        path: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// The name of a file to be deleted is not a plain one.
    #[error("`{0}` is not the plain name of a file in the folder, so it is not deleted")]
    NotPlain(String),
    /// A subfolder whose files are to be deleted is a symbolic link.
    #[error("{} is a symbolic link, and fuld deletes nothing behind it; delete the link, or name another folder with --out", .0.display())]
    Link(PathBuf),
    /// The folder was made by another command.
    #[error("{} was made by `fuld {made_by}`; name another folder with --out", path.display())]
    OtherCommand {
        /// The folder.
        path: PathBuf,
        /// The command that made it.
        made_by: String,
    },
}

impl FolderError {
    /// Attaches a path to an I/O error.
    pub fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path: path.clone(), source }
    }
}

impl OwnedFolder {
    /// Takes a folder for a command such as `train`: creates it if it is missing, accepts it if it
    /// is empty or if the same command made it, and refuses any other. Hidden files do not count as
    /// content.
    pub fn open(path: &Path, command: &str) -> Result<Self, FolderError> {
        Self::open_with(path, command, File::try_lock)
    }

    /// Takes a folder like [`open`](Self::open), together with other processes that take it by this
    /// function.
    pub fn open_shared(path: &Path, command: &str) -> Result<Self, FolderError> {
        Self::open_with(path, command, File::try_lock_shared)
    }

    fn open_with(
        path: &Path,
        command: &str,
        try_lock: fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Self, FolderError> {
        fs::create_dir_all(path).map_err(|source| {
            match path.ancestors().find(|part| part.is_file()) {
                Some(file) => FolderError::IsFile { path: path.into(), file: file.into() },
                None => FolderError::Io { path: path.into(), source },
            }
        })?;
        if let Some(file) = foreign_file(path)? {
            return Err(FolderError::Foreign { path: path.into(), file });
        }
        let name = path.join(MARKER);
        let mut marker = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&name)
            .map_err(FolderError::at(&name))?;
        match try_lock(&marker) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::InUse(path.into())),
            Err(TryLockError::Error(source)) => return Err(FolderError::Io { path: name, source }),
        }
        match made_by(path) {
            Some(made_by) if made_by == command => {}
            Some(made_by) => return Err(FolderError::OtherCommand { path: path.into(), made_by }),
            // New, or left empty by a process that was killed before it wrote anything else.
            None => {
                let text = format!("{MADE_BY}{command}\n");
                let written = marker.write_all(text.as_bytes()).and_then(|()| marker.sync_all());
                written.map_err(FolderError::at(&name))?;
            }
        }
        Ok(Self { path: path.into(), _marker: marker })
    }

    /// Returns whether a command made a folder.
    pub fn is_made_by(path: &Path, command: &str) -> bool {
        made_by(path).is_some_and(|made_by| made_by == command)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the named files and folders of an earlier run; those that do not exist are skipped.
    /// Names that are not [plain](is_plain) are an error, before anything is deleted. Of a symbolic
    /// link the link itself is deleted.
    pub fn remove<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<(), FolderError> {
        remove_from(&self.path, names)
    }

    /// Deletes the named files of a subfolder like [`remove`](Self::remove), and the subfolder if
    /// it is empty then. A subfolder that is a symbolic link is an error; one that does not exist
    /// is skipped.
    pub fn remove_in<'a>(
        &self,
        subfolder: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), FolderError> {
        let Some(path) = self.subfolder(subfolder)? else { return Ok(()) };
        remove_from(&path, names)?;
        // Fails, as it should, if the folder contains other files.
        let _ = fs::remove_dir(&path);
        Ok(())
    }

    /// Returns the path of a subfolder, or `None` if there is none. A symbolic link in its place is
    /// an error.
    pub fn subfolder(&self, name: &str) -> Result<Option<PathBuf>, FolderError> {
        if !is_plain(name) {
            return Err(FolderError::NotPlain(name.into()));
        }
        let path = self.path.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => Err(FolderError::Link(path)),
            Ok(found) if found.is_dir() => Ok(Some(path)),
            _ => Ok(None),
        }
    }
}

/// Returns whether a text is the name of a file in a folder: one component, neither `.` nor `..`,
/// without separators.
pub fn is_plain(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let first = components.next();
    matches!(first, Some(Component::Normal(only)) if only == name) && components.next().is_none()
}

fn remove_from<'a>(
    folder: &Path,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), FolderError> {
    let names: Vec<&str> = names.into_iter().collect();
    if let Some(name) = names.iter().find(|name| !is_plain(name)) {
        return Err(FolderError::NotPlain((*name).into()));
    }
    for path in names.iter().map(|name| folder.join(name)) {
        // The metadata of a symbolic link are its own, so a link to a folder is not a folder.
        let gone = match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        };
        match gone {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FolderError::at(&path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the command that made a folder, or `None` if the folder has no marker of this program. A
/// symbolic link does not count as a marker.
fn made_by(path: &Path) -> Option<String> {
    fs::symlink_metadata(path.join(MARKER)).ok().filter(fs::Metadata::is_file)?;
    let text = fs::read_to_string(path.join(MARKER)).ok()?;
    Some(text.strip_prefix(MADE_BY)?.trim_end().to_owned())
}

/// Returns the first file by name that is not hidden, or a marker of another program, if this
/// program did not make the folder.
fn foreign_file(path: &Path) -> Result<Option<String>, FolderError> {
    if made_by(path).is_some() {
        return Ok(None);
    }
    let entries = fs::read_dir(path).map_err(FolderError::at(path))?;
    let names = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_empty_file = |found: fs::Metadata| found.is_file() && found.len() == 0;
    let other_marker = |name: &str| {
        name == MARKER && !fs::symlink_metadata(path.join(MARKER)).is_ok_and(is_empty_file)
    };
    let file = names.filter(|name| !name.starts_with('.') || other_marker(name)).min();
    // Another process may have taken the folder in the meantime.
    Ok(file.filter(|_| made_by(path).is_none()))
}
